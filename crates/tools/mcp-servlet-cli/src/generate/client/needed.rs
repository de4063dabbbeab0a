//! The crates that the code of a client names.

use std::{fs, path::Path};

use toml::{Table, Value};

use crate::terminal::shell_word;

/// The SDK of servlets, and of other programs.
const SDKS: [&str; 2] = ["mcp-servlet", "mcp-servlet-client"];

/// The crate that generated clients call through, in a checkout of this repository.
const CALLER: &str = "crates/client/mcp-caller";

/// The commands that add the crates which the package of this file lacks. There are none if it is in no package.
pub(super) fn commands(file: &Path) -> Vec<String> {
    let file = std::path::absolute(file).unwrap_or_default();
    let mut folders = file.ancestors();
    let package = folders.find_map(|folder| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        Some((folder, manifest.parse::<Table>().ok()?))
    });
    package.map_or_else(Vec::new, |(folder, manifest)| lacking(folder, &manifest))
}

fn lacking(folder: &Path, manifest: &Table) -> Vec<String> {
    let dependency = |name: &str| manifest.get("dependencies")?.get(name);
    let mut commands = Vec::new();
    // A workspace alone has no code.
    if !manifest.contains_key("package") {
        return commands;
    }
    if dependency("mcp-caller").is_none() {
        let sdk = SDKS.iter().find_map(|name| dependency(name));
        commands.push(format!("cargo add {}", caller(folder, sdk)));
    }
    if dependency("serde").is_none() {
        commands.push("cargo add serde --features derive".to_owned());
    }
    commands
}

/// The arguments that add `mcp-caller` from where the package has the SDK.
fn caller(folder: &Path, sdk: Option<&Value>) -> String {
    let key = |name: &str| sdk?.get(name)?.as_str();
    if let Some(path) = key("path") {
        let package = folder.join(path);
        // The SDK is three folders below the root.
        let root = package.ancestors().nth(3).unwrap_or(folder);
        return format!("--path {}", shell_word(&root.join(CALLER)));
    }
    let Some(url) = key("git") else {
        return format!("mcp-caller@{}", env!("CARGO_PKG_VERSION"));
    };
    let revisions = ["branch", "tag", "rev"]
        .into_iter()
        .filter_map(|name| Some(format!(" --{name} {}", key(name)?)));
    format!("mcp-caller --git {url}{}", revisions.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_added_from_where_the_sdk_is() {
        let version = concat!("cargo add mcp-caller@", env!("CARGO_PKG_VERSION"));
        let serde = "cargo add serde --features derive";
        let cases: [(&str, &[&str]); 6] = [
            ("", &[version, serde]),
            ("serde = \"1\"\nmcp-servlet = \"0.1.0\"", &[version]),
            ("serde = \"1\"\nmcp-caller = \"0.1.0\"", &[]),
            (
                "serde = \"1\"\nmcp-servlet = { path = \"../sdk/crates/guest/mcp-servlet\" }",
                &["cargo add --path /p/../sdk/crates/client/mcp-caller"],
            ),
            (
                "serde = \"1\"\nmcp-servlet-client = { path = \"/sdk/crates/client/mcp-servlet-client\" }",
                &["cargo add --path /sdk/crates/client/mcp-caller"],
            ),
            (
                "serde = \"1\"\nmcp-servlet = { git = \"https://host.example/sdk\", tag = \"v1\" }",
                &["cargo add mcp-caller --git https://host.example/sdk --tag v1"],
            ),
        ];
        for (dependencies, expected) in cases {
            let manifest = format!("[package]\nname = \"p\"\n[dependencies]\n{dependencies}\n")
                .parse()
                .expect("a manifest");
            assert_eq!(
                lacking(Path::new("/p"), &manifest),
                expected,
                "{dependencies}"
            );
        }
        let workspace = "[workspace]\nmembers = []\n".parse();
        let commands = lacking(Path::new("/p"), &workspace.expect("a manifest"));
        assert!(commands.is_empty(), "{commands:?}");
    }
}
