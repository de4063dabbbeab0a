//! Files in the directories that a servlet may open.

use std::{fs, path::Path};

use mcp_servlet_runtime::{AllowedPath, LoadOptions};

use crate::tools;

/// Opens `path` in the first allowed directory with the rights and flags of WASI. Returns the error
/// code of WASI; 0 is success.
fn open(directory: &Path, read_only: bool, path: &str, flags: i32, rights: i64) -> u32 {
    let import = r#"(import "wasi_snapshot_preview1" "path_open"
        (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))"#;
    let bytes: Vec<_> = path
        .bytes()
        .enumerate()
        .map(|(at, byte)| format!("(i32.store8 (i32.const {}) (i32.const {byte}))", 60000 + at))
        .collect();
    // Follows symbolic links. The code is one too large, because an exit code of 0 would not be an error.
    let body = format!(
        "{} (return (i32.add (i32.const 1) (call $open (i32.const 3) (i32.const 1) (i32.const 60000) (i32.const {})
            (i32.const {flags}) (i64.const {rights}) (i64.const {rights}) (i32.const 0) (i32.const 61000))))",
        bytes.concat(),
        path.len()
    );
    let mut options = LoadOptions::default();
    options.allowed_paths = vec![AllowedPath {
        host: directory.to_owned(),
        guest: "/data".into(),
        read_only,
    }];
    let servlet = tools(&[(1, &body)])
        .import(import)
        .load_with(&options)
        .expect("a servlet");
    let error = crate::call(&servlet, 1).expect_err("a number").to_string();
    let code: Option<u32> = error.rsplit(' ').next().and_then(|code| code.parse().ok());
    code.expect("a number") - 1
}

const READ: i64 = 1 << 1;
const WRITE: i64 = 1 << 6;
const CREATE: i32 = 1;

#[test]
fn files_outside_cannot_be_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).expect("a folder");
    fs::write(folder.path().join("secret"), "s").expect("a file");
    fs::write(inside.join("file"), "f").expect("a file");
    assert_eq!(
        open(&inside, false, "file", 0, READ),
        0,
        "what is inside can be opened"
    );
    for path in [
        "../secret",
        "/secret",
        "../inside/../secret",
        "./../secret",
        "..",
    ] {
        assert_ne!(open(&inside, false, path, 0, READ), 0, "{path}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("secret"), inside.join("link"))
            .expect("a link");
        std::os::unix::fs::symlink("..", inside.join("up")).expect("a link");
        for path in ["link", "up/secret"] {
            assert_ne!(open(&inside, false, path, 0, READ), 0, "{path}");
        }
    }
}

#[test]
fn does_not_write_to_a_read_only_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "f").expect("a file");
    assert_eq!(open(folder.path(), true, "file", 0, READ), 0);
    assert_ne!(open(folder.path(), true, "file", 0, WRITE), 0);
    assert_ne!(open(folder.path(), true, "new", CREATE, WRITE), 0);
    assert!(!folder.path().join("new").exists());
    assert_eq!(open(folder.path(), false, "new", CREATE, WRITE), 0);
}
