//! A small workspace, and rules about it.

use tempfile::TempDir;

use super::*;

/// The problems of a workspace in which `app` depends on `core`, with more of `app`'s manifest and a cell
/// of the table.
fn problems(manifest: &str, must_not_need: &str) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let write = |file: &str, text: &str| {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    let members = r#"workspace = { members = ["crates/*"], resolver = "3" }"#;
    write("Cargo.toml", members);
    for name in ["app", "core", "extra"] {
        let core = r#"core = { path = "../core" }"#;
        let rest = if name == "app" { manifest } else { "" };
        let core = if name == "app" { core } else { "" };
        let package = format!("package = {{ name = \"{name}\", edition = \"2024\" }}");
        let text = format!("{package}\n[dependencies]\n{core}\n{rest}\n");
        write(&format!("crates/{name}/Cargo.toml"), &text);
        write(&format!("crates/{name}/src/lib.rs"), "");
    }
    let metadata = metadata(folder.path(), "--offline").unwrap();
    let table =
        format!("{TABLE}| `app` | `core` | {must_not_need} |\n| `core`, `extra` | none | |\n");
    let rules = rules(&table).unwrap();
    let mut problems = wrong_uses(&metadata, &rules);
    problems.extend(forbidden(&metadata, &rules));
    problems
}

#[test]
fn accepts_what_the_table_says() {
    assert!(problems("", "extra").is_empty());
    let for_tests = "[dev-dependencies]\nextra = { path = \"../extra\" }";
    assert!(problems(for_tests, "extra").is_empty());
}

#[test]
fn finds_dependencies_of_all_platforms_and_features() {
    let extra = "extra = { path = \"../extra\" }";
    for manifest in [
        "extra = { path = \"../extra\", optional = true }",
        &format!("[target.'cfg(windows)'.dependencies]\n{extra}"),
        &format!("[target.'cfg(unix)'.dependencies]\n{extra}"),
        &format!("[build-dependencies]\n{extra}"),
    ] {
        let problems = problems(manifest, "extra");
        let forbidden = "app depends on extra, through app".to_owned();
        assert!(problems.contains(&forbidden), "{manifest}: {problems:?}");
    }
}

#[test]
fn names_in_the_table_must_exist() {
    assert_eq!(
        problems("", "extra, exrta"),
        ["the table in ARCHITECTURE.md names `exrta`, and Cargo.lock has no such package"]
    );
}
