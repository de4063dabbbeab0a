//! The name of a cargo package, from the name of a project.

/// Names that a new package must not have: other packages have them, or rustc does not accept them.
const TAKEN: [&str; 11] = [
    "alloc",
    "core",
    "extism-pdk",
    // A keyword since edition 2024. syn does not know it.
    "gen",
    "mcp-servlet",
    "proc-macro",
    "serde",
    "serde-json",
    "std",
    "test",
    "xtp-codegen",
];

/// The characters between the words of a name.
const SIGNS: [char; 2] = ['-', '_'];

/// The name of a package: lower-case letters and digits, joined by `-` or `_`, neither a keyword nor reserved. Rust
/// warns about crates with other names.
pub(crate) fn package(project: &str) -> String {
    let parts: Vec<_> = project
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .filter(|part| !part.is_empty())
        .collect();
    let mut name = String::new();
    for c in parts.join("-").trim_matches(SIGNS).chars() {
        if !(SIGNS.contains(&c) && name.ends_with(SIGNS)) {
            name.push(c.to_ascii_lowercase());
        }
    }
    let as_crate = name.replace('-', "_");
    let is_taken = TAKEN.contains(&name.replace('_', "-").as_str());
    if name.is_empty() {
        "servlet".to_owned()
    } else if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("servlet-{name}")
    } else if is_taken || syn::parse_str::<syn::Ident>(&as_crate).is_err() {
        format!("{name}-servlet")
    } else {
        name
    }
}

/// A type name that the code does not use yet: the wanted one, or `My` and the wanted one.
pub(crate) fn unused(wanted: &str, code: &str) -> String {
    let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    if words.any(|word| word == wanted) {
        return unused(&format!("My{wanted}"), code);
    }
    wanted.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn avoids_the_types_of_the_schema() {
        assert_eq!(unused("Plugin", "struct Plugins;"), "Plugin");
        assert_eq!(
            unused("Plugin", "struct Plugin; struct MyPlugin;"),
            "MyMyPlugin"
        );
    }

    #[test]
    fn gives_every_project_a_name_that_cargo_takes() {
        for (project, expected) in [
            ("hello", "hello"),
            ("My first servlet!", "my-first-servlet"),
            ("Hello", "hello"),
            ("Serde", "serde-servlet"),
            ("a -b__c", "a-b_c"),
            ("snake_case", "snake_case"),
            ("", "servlet"),
            ("3d", "servlet-3d"),
            ("serde_json", "serde_json-servlet"),
            ("match", "match-servlet"),
            ("gen", "gen-servlet"),
            ("-x-", "x"),
            ("日本", "servlet"),
        ] {
            assert_eq!(package(project), expected);
        }
    }
}
