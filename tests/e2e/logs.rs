//! The crate `log` in a servlet: its imports, and its lines in the operator's log.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use e2e::servlet;
use serde_json::Value;

use crate::exports::imports;
use crate::projects::{add_features, command, run, start};

/// Replaces a part of a file.
fn edit(file: &Path, part: &str, other: &str) {
    let text = fs::read_to_string(file).expect("text");
    assert!(text.contains(part), "{text}");
    fs::write(file, text.replace(part, other)).expect("a file");
}

fn build(project: &Path) -> PathBuf {
    let built = run(command(servlet(), project).args(["build", "--format", "json"]));
    let built: Value = serde_json::from_slice(&built.stdout).expect("a list");
    built[0]["path"].as_str().expect("a path").into()
}

/// The functions for the log that a project's wasm imports.
fn log_imports(project: &Path) -> BTreeSet<String> {
    let all = imports(&build(project)).into_iter();
    all.filter(|name| name.starts_with("log_")).collect()
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn the_crate_log_takes_imports_only_where_something_is_logged() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "hello", &[]);
    let (manifest, source) = (project.join("Cargo.toml"), project.join("src/lib.rs"));
    edit(
        &manifest,
        "[dependencies]\n",
        "[dependencies]\nlog = \"0.4\"\n",
    );
    add_features(&project, &["log"]);
    assert_eq!(log_imports(&project), names([]), "nothing is logged");

    let logging = "-> String {\n    log::warn!(\"greets {name}\");";
    edit(&source, "-> String {", logging);
    let all = [
        "log_debug",
        "log_error",
        "log_info",
        "log_trace",
        "log_warn",
    ];
    assert_eq!(log_imports(&project), names(all), "each level is on");

    let fewer = "log = { version = \"0.4\", features = [\"release_max_level_warn\"] }";
    edit(&manifest, "log = \"0.4\"", fewer);
    assert_eq!(log_imports(&project), names(["log_error", "log_warn"]));

    let wasm = build(&project);
    let call = ["greet", "name=Ada"];
    let messages = run(command(servlet(), &project)
        .arg("call")
        .arg(wasm)
        .args(call));
    let messages = String::from_utf8_lossy(&messages.stderr);
    assert!(messages.contains("WARN servlet: greets Ada "), "{messages}");
}
