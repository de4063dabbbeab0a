//! A folder with what `servlet serve` needs.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::support::{DESCRIPTION, Wat};

/// A folder with a servlet whose tool is `t`, and a configuration.
pub(crate) fn folder(config: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = json!({ "content": [{ "type": "text", "text": "answer" }] });
    let wat = Wat::new().describe(DESCRIPTION).answer(&answer.to_string());
    fs::write(folder.path().join("a.wasm"), wat.wasm()).expect("a file");
    fs::write(folder.path().join("servlet.toml"), config).expect("a file");
    folder
}
