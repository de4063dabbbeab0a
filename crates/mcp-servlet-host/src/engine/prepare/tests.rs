//! Modules as text, before and after.

use super::*;

const MEMORY: Option<u64> = Some(16 * 8 * 100);

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
fn all_other_modules_stay_as_they_are() {
    let prepared = assert_prepared("(module (table 3 3 funcref) (memory 1) (func))", None);
    assert!(!prepared.starts);
}
