//! Modules that would keep the command busy or exhaust its memory.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A servlet with these imports and parts. `describe` is code that runs when the host asks for the tools.
fn servlet(folder: &Path, imports: &str, parts: &str, describe: &str) -> PathBuf {
    let text = format!(
        r#"(module
            (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
            (import "extism:host/env" "store_u64" (func $store (param i64 i64)))
            (import "extism:host/env" "output_set" (func $output (param i64 i64)))
            {imports}
            (memory (export "memory") 1)
            (func (export "describe") (result i32) (local $at i64)
                {describe}
                (local.set $at (call $alloc (i64.const 16)))
                ;; {{"tools": []}} and spaces.
                (call $store (local.get $at) (i64.const 0x22736c6f6f74227b))
                (call $store (i64.add (local.get $at) (i64.const 8)) (i64.const 0x202020207d5d5b3a))
                (call $output (local.get $at) (i64.const 16))
                (i32.const 0))
            (func (export "call") (result i32) (i32.const 0))
            {parts})"#
    );
    let path = folder.join("hostile.wasm");
    std::fs::write(&path, wat::parse_str(text).expect("valid text")).expect("a file");
    path
}

/// Runs the command and returns its output.
#[track_caller]
fn run(arguments: &[&str], path: &Path, tool: Option<&str>) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_servlet"))
        .args(arguments)
        .arg(path)
        .args(tool)
        .output()
        .expect("the command runs");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("text")
}

#[test]
fn modules_that_take_the_compiler_long_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (parts, expected) in [
        (
            "(func)".repeat(100_000),
            "too many functions: expected at most 80000, found 100002",
        ),
        (
            format!("(func (local {}))", "i32 ".repeat(50_000)),
            "too many locals: expected at most 10000, found 50000",
        ),
        (
            format!(
                "(func {} {})",
                "block ".repeat(200_000),
                "end ".repeat(200_000)
            ),
            "too many nested blocks",
        ),
    ] {
        let path = servlet(folder.path(), "", &parts, "");
        let text = run(&["describe"], &path, None);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn time_limit_applies_at_every_stage() {
    let folder = tempfile::tempdir().expect("a folder");
    let poll = r#"(import "wasi_snapshot_preview1" "poll_oneoff"
        (func $poll (param i32 i32 i32 i32) (result i32)))"#;
    // A subscription to clock 1 for an hour.
    let sleep = "(i32.store (i32.const 16) (i32.const 1))
        (i64.store (i32.const 24) (i64.const 3600000000000))
        (drop (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200)))";
    let starts = format!(r#"(func (export "_initialize") {sleep})"#);
    let spins = "(func $spin (loop $l (br $l))) (start $spin)";
    for (parts, describe) in [("", sleep), (&*starts, ""), (spins, "")] {
        let path = servlet(folder.path(), poll, parts, describe);
        for (command, tool) in [
            ("describe", None),
            ("call", Some("t")),
            ("check", None),
            ("inspect", None),
        ] {
            let arguments = [command, "--timeout", "1s"];
            let text = run(&arguments, &path, tool);
            assert!(text.contains("1s"), "{text}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_limited_address_space_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let servlet = servlet(folder.path(), "", "", "");
    let command = format!(
        "ulimit -v 4000000; exec {} describe {}",
        env!("CARGO_BIN_EXE_servlet"),
        servlet.display()
    );
    let output = Command::new("sh").args(["-c", &command]).output();
    let text = String::from_utf8(output.expect("a shell").stderr).expect("text");
    let expected = "an instance reserves 8 GiB of address space, and this process may have 3906 MiB; \
        raise the limit (`ulimit -v unlimited`)";
    assert!(text.contains(expected), "{text}");
}
