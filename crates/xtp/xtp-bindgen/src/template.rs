//! The template of this repository, which [`render`](crate::render) renders.

/// `config.yaml` of the bundle.
pub const CONFIG: &str = include_str!("../config.yaml");

macro_rules! files {
    ($($path:literal,)*) => {
        &[$(($path, include_str!(concat!("../template/", $path)))),*]
    };
}

/// The path and the text of each file of the template, in the order of the paths.
pub const FILES: &[(&str, &str)] = files![
    ".cargo/config.toml.jinja",
    ".github/workflows/ci.yml.jinja",
    ".gitignore",
    "Cargo.toml.jinja",
    "README.md.jinja",
    "clippy.toml.jinja",
    "schema.yaml.jinja",
    "src/lib.rs.jinja",
    "src/pdk.rs.jinja",
    "tests/servlet.rs.jinja",
    "xtp.toml.jinja",
];

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::FILES;

    #[test]
    fn files_of_the_folder_are_all_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("template");
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let inner = path.strip_prefix(&root).expect("a path in the folder");
                    let names: Vec<_> = inner.iter().map(|name| name.to_string_lossy()).collect();
                    found.push(names.join("/"));
                }
            }
        }
        found.sort();
        let listed: Vec<_> = FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(listed, found);
    }
}
