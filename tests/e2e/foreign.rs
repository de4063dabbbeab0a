//! Types of other crates in a servlet. The project is a separate workspace, because Cargo unifies features in a
//! workspace.

use std::fs;

use e2e::servlet;

use crate::projects::{add_features, command, run, start, stdout};

const DEPENDENCIES: &str = r#"
chrono = { version = "0.4", default-features = false, features = ["std"] }
schemars = "1"
serde_json = "1"
url = "2"
uuid = "1"
"#;

#[test]
fn types_of_other_crates_are_arguments_and_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "foreign", &[]);
    let sources = [
        ("src/lib.rs", include_str!("foreign/lib.rs")),
        ("tests/servlet.rs", include_str!("foreign/servlet.rs")),
    ];
    for (path, text) in sources {
        fs::write(project.join(path), text).expect("a file");
    }
    let manifest = project.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let text = text
        .replace("[dev-dependencies]\nserde_json = \"1\"\n", "")
        .replace("[dependencies]\n", &format!("[dependencies]{DEPENDENCIES}"));
    fs::write(&manifest, text).expect("a manifest");
    add_features(
        &project,
        &["chrono", "schemars", "serde_json", "url", "uuid"],
    );
    let tests = stdout(&run(command("cargo", &project).arg("test")));
    assert!(tests.contains("test result: ok. 6 passed"), "{tests}");
    let tested = run(command(servlet(), &project).arg("test"));
    let messages = String::from_utf8_lossy(&tested.stderr);
    assert!(
        messages.contains("6 clients tested the wasm of foreign"),
        "{messages}"
    );
}
