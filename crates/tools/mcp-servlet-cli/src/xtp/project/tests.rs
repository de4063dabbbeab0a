//! A bundle from another vendor: a minimal plugin, another suffix, and none of our keys.

use std::path::Path;

use serde_json::json;
use xtp_bundle::{Bundle, Entry};

use super::*;

/// Renders to the context, followed by the template.
const PLUGIN: &str = r#"(module
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
    (import "extism:host/env" "load_u8" (func $load (param i64) (result i32)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))
    (import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
    (import "extism:host/env" "input_length" (func $input_length (result i64)))
    (import "extism:host/env" "input_load_u8" (func $input (param i64) (result i32)))
    (import "extism:host/env" "output_set" (func $output (param i64 i64)))
    (memory (export "memory") 1)
    (func $key (result i64) (local $at i64)
        (local.set $at (call $alloc (i64.const 3)))
        (call $store (local.get $at) (i32.const 99))
        (call $store (i64.add (local.get $at) (i64.const 1)) (i32.const 116))
        (call $store (i64.add (local.get $at) (i64.const 2)) (i32.const 120))
        (local.get $at))
    (func (export "render") (result i32)
        (local $context i64) (local $first i64) (local $all i64) (local $to i64) (local $i i64)
        (local.set $context (call $config (call $key)))
        (local.set $first (call $length (local.get $context)))
        (local.set $all (i64.add (local.get $first) (call $input_length)))
        (local.set $to (call $alloc (local.get $all)))
        (block $done (loop $next
            (br_if $done (i64.ge_u (local.get $i) (local.get $all)))
            (call $store (i64.add (local.get $to) (local.get $i))
                (if (result i32) (i64.lt_u (local.get $i) (local.get $first))
                    (then (call $load (i64.add (local.get $context) (local.get $i))))
                    (else (call $input (i64.sub (local.get $i) (local.get $first))))))
            (local.set $i (i64.add (local.get $i) (i64.const 1)))
            (br $next)))
        (call $output (local.get $to) (local.get $all))
        (i32.const 0)))"#;

fn entry(path: &str, contents: Option<&str>) -> Entry {
    Entry {
        path: path.to_owned(),
        contents: contents.map(|text| text.as_bytes().to_vec()),
        is_executable: Path::new(path)
            .extension()
            .is_some_and(|extension| extension == "sh"),
    }
}

fn bundle(config: &str, entries: Vec<Entry>) -> Bundle {
    let plugin = wat::parse_str(PLUGIN).expect("valid WebAssembly text");
    Bundle::new(config.to_owned(), plugin, entries).expect("a bundle")
}

#[test]
fn files_with_the_suffix_are_rendered_and_all_others_copied() {
    let bundle = bundle(
        "template-suffix: ejs\n",
        vec![
            entry(".gitignore", Some("dist\n")),
            entry(".ejs", Some("a name of its own")),
            entry("dist", None),
            entry("dist/.ignore.ejs", Some("!")),
            entry("run.sh", Some("#!/bin/sh\n")),
        ],
    );
    let context = json!({ "project": { "name": "x" } });
    let mut expected = bundle.entries.clone();
    let entries = Template::of_bundle(bundle)
        .render(&context)
        .expect("a project");
    let rendered = entry("dist/.ignore", Some(r#"{"project":{"name":"x"}}!"#));
    let place = expected
        .iter()
        .position(|entry| entry.path == "dist/.ignore.ejs");
    expected[place.expect("it is there")] = rendered;
    expected.sort();
    assert_eq!(entries, expected);

    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("x");
    write(&entries, &project).expect("a project");
    let ignore = std::fs::read_to_string(project.join("dist/.ignore"));
    assert_eq!(ignore.expect("a file"), r#"{"project":{"name":"x"}}!"#);
    let error = write(&entries, &project).expect_err("it exists");
    assert!(matches!(error, Error::Exists { .. }), "{error}");
}

#[test]
fn two_files_of_one_name_are_refused_before_anything_is_written() {
    let files = vec![entry("a", Some("")), entry("a.ejs", Some(""))];
    let template = Template::of_bundle(bundle("template-suffix: .ejs\n", files));
    let entries = template.render(&json!({}));
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("x");
    let error = write(&entries.expect("files"), &project).expect_err("two names");
    assert_eq!(error.to_string(), "the template has two files `a`");
    assert!(!project.exists());
}

#[test]
fn reports_the_file_that_a_plugin_cannot_render() {
    let wasm = wat::parse_str("(module (func (export \"render\") (result i32) (i32.const 7)))");
    let files = vec![entry("a.ejs", Some(""))];
    let bundle = Bundle::new(
        "template-suffix: ejs\n".to_owned(),
        wasm.expect("wasm"),
        files,
    );
    let template = Template::of_bundle(bundle.expect("a bundle"));
    let error = template.render(&json!({})).expect_err("it returns 7");
    assert!(
        error.to_string().starts_with("cannot render `a.ejs`: "),
        "{error}"
    );
}

#[test]
fn scripts_run_in_the_folder_of_the_project() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        Manifest::read(folder.path()).expect("none"),
        Manifest::default()
    );
    let text = "bin = \"x.wasm\"\n[scripts]\nprepare = \"echo ready> done\"\n\
                [[test]]\nname = \"basic\"\nwith = \"t.wasm\"\nmock_input = { data = \"d\" }\n";
    std::fs::write(folder.path().join("xtp.toml"), text).expect("a file");
    let manifest = Manifest::read(folder.path()).expect("a manifest");
    assert_eq!(manifest.tests[0].mock_input.data.as_deref(), Some("d"));
    run_script(&manifest.scripts["prepare"], folder.path()).expect("it runs");
    assert!(folder.path().join("done").exists());
    let problem = run_script("exit 3", folder.path()).expect_err("it fails");
    assert!(problem.starts_with("it ended with "), "{problem}");
}
