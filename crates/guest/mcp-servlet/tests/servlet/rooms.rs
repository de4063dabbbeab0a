//! The modules of the crate are layers: each one only uses those before it.

use std::path::{Path, PathBuf};

/// From the bottom to the top, as in `CONTRIBUTING.md`.
const LAYERS: [&str; 7] = [
    "schema",
    "answer",
    "arguments",
    "host",
    "returns",
    "describe",
    "dispatch",
];

#[test]
fn no_module_uses_one_of_a_higher_layer() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (layer, room) in LAYERS.iter().enumerate() {
        let mut files = vec![source.join(room).with_extension("rs")];
        files_in(&source.join(room), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            // A group of imports would hide what it imports from this test.
            assert!(!text.contains("use crate::{"), "{}", file.display());
            for higher in &LAYERS[layer + 1..] {
                if text.contains(&format!("crate::{higher}::")) {
                    wrong.push(format!("{} uses `{higher}`", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn files_in(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_in(&path, files);
        } else {
            files.push(path);
        }
    }
}
