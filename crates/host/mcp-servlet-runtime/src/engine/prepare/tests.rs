//! Modules in the text format, before and after.

use super::*;

const MEMORY: Option<u64> = Some(16 * 8 * 100);

/// `poll_oneoff`, with WASI's function at index 0 and the host's function at index 1.
const POLL: &str = "
    block
        local.get 2 i32.const 1 i32.ne br_if 0
        local.get 0 i32.load8_u offset=8 br_if 0
        local.get 0 i32.load16_u offset=40 align=1 br_if 0
        local.get 0 i64.load offset=24 align=1 call 1
        local.get 1 local.get 0 i64.load align=1 i64.store align=1
        local.get 1 i64.const 0 i64.store offset=8 align=1
        local.get 1 i64.const 0 i64.store offset=16 align=1
        local.get 1 i64.const 0 i64.store offset=24 align=1
        local.get 3 i32.const 1 i32.store align=1
        i32.const 0 return
    end
    local.get 0 local.get 1 local.get 2 local.get 3 call 0";

#[track_caller]
fn assert_prepared(text: &str, expected: Option<&str>) -> Prepared {
    let module = |text: &str| wat::parse_str(text).expect("valid text");
    let prepared = prepare(&module(text), MEMORY).expect("a module");
    assert_eq!(prepared.wasm, expected.map(module));
    prepared
}

#[test]
fn the_start_becomes_an_export() {
    let prepared = assert_prepared(
        r#"(module (type (func)) (func $f) (func (export "call")) (export "f" (func $f)) (start $f)
            (@custom "note" "kept"))"#,
        Some(
            r#"(module (type (func)) (type (func)) (func $f (type 0)) (func (type 0)) (func (type 1) call $f)
                (export "call" (func 1)) (export "f" (func $f)) (export "mcp-servlet:start" (func 2))
                (@custom "note" "kept"))"#,
        ),
    );
    assert!(prepared.starts);
}

#[test]
fn what_extism_would_call_is_called_in_its_order() {
    let both = r#"(func $i (export "_initialize")) (func $c (export "__wasm_call_ctors"))"#;
    let calls =
        |calls: &str| format!("(func $i (type 0)) (func $c (type 0)) (func (type 1) {calls})");
    assert_prepared(
        &format!("(module (type (func)) {both})"),
        Some(&format!(
            r#"(module (type (func)) (type (func)) {} (export "mcp-servlet:start" (func 2)))"#,
            calls("call $c")
        )),
    );
    assert_prepared(
        r#"(module (type (func)) (type (func (param i32 i32) (result i32)))
            (func (export "hs_init") (type 1) i32.const 7) (func (export "_initialize")))"#,
        Some(
            r#"(module (type (func)) (type (func (param i32 i32) (result i32))) (type (func))
                (func (type 1) i32.const 7) (func (type 0))
                (func (type 2) call 1 i32.const 0 i32.const 0 call 0 drop)
                (export "mcp-servlet:start" (func 2)))"#,
        ),
    );
}

#[test]
fn tables_that_may_grow_get_a_maximum() {
    let prepared = assert_prepared(
        "(module (table 1 funcref) (table 2 7 externref) (table 3 3 funcref) (table i64 4 1000 funcref))",
        Some(
            "(module (table 1 34 funcref) (table 2 7 externref) (table 3 3 funcref) (table i64 4 37 funcref))",
        ),
    );
    assert_eq!(prepared.tables_initial, 80);
    assert_eq!(prepared.tables_maximum, (34 + 7 + 3 + 37) * 8);
    assert_prepared(
        "(module (table 1 (ref null func) (ref.func $f)) (func $f))",
        Some("(module (table 1 101 (ref null func) (ref.func $f)) (func $f))"),
    );
}

#[test]
fn functions_in_tables_are_those_that_they_were() {
    assert_prepared(
        r#"(module (type (func)) (type (func (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (type 1)))
            (table 1 1 (ref null func) (ref.func $f)) (table 1 (ref null func) (ref.func $poll))
            (memory 1) (func $f (type 0)))"#,
        Some(&format!(
            r#"(module (type (func)) (type (func (param i32 i32 i32 i32) (result i32))) (type (func (param i64)))
                (import "wasi_snapshot_preview1" "poll_oneoff" (func (type 1)))
                (import "mcp-servlet:wasi" "sleep" (func (type 2)))
                (table 1 1 (ref null func) (ref.func 2)) (table 1 101 (ref null func) (ref.func 3))
                (memory 1) (func (type 0)) (func (type 1) {POLL}))"#
        )),
    );
}

#[test]
fn all_other_modules_stay_as_they_are() {
    let prepared = assert_prepared("(module (table 3 3 funcref) (memory 1) (func))", None);
    assert!(!prepared.starts);
}
