//! Modules of unusual shapes: the order of imports, tables, several memories, functions of the
//! kernel as values and as exports.

use mcp_servlet_runtime::LoadOptions;

use crate::{
    bodies::module,
    sides::{Call, Module, Outcome, load},
};

/// Modules that return the text `ok`, or nothing.
const SHAPES: &[(&str, &str)] = &[
    (
        "no memory and no import",
        r#"(func (export "call") (result i32) i32.const 0)"#,
    ),
    (
        "one function under two names",
        r#"(import "extism:host/env" "alloc" (func $one (param i64) (result i64)))
        (import "extism:host/env" "alloc" (func $two (param i64) (result i64)))
        (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
        (import "extism:host/env" "output_set" (func $set (param i64 i64)))
        (func (export "call") (result i32) (local $a i64)
          (drop (call $one (i64.const 1)))
          (local.set $a (call $two (i64.const 2)))
          (call $store (local.get $a) (i32.const 111))
          (call $store (i64.add (local.get $a) (i64.const 1)) (i32.const 107))
          (call $set (local.get $a) (i64.const 2))
          (i32.const 0))"#,
    ),
    (
        "functions of the kernel in a table and as a value",
        r#"(type $unary (func (param i64) (result i64)))
        (import "extism:host/env" "length" (func $length (type $unary)))
        (import "extism:host/env" "output_set" (func $set (param i64 i64)))
        (import "extism:host/env" "alloc" (func $alloc (type $unary)))
        (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
        (table $t 4 8 funcref)
        (table $u 1 externref)
        (elem (table $t) (i32.const 1) func $length $alloc)
        (elem declare func $alloc)
        (global $f (mut funcref) (ref.null func))
        (global $held funcref (ref.func $alloc))
        (func (export "call") (result i32) (local $a i64)
          (global.set $f (ref.func $alloc))
          (table.set $t (i32.const 3) (global.get $held))
          (local.set $a (call_indirect $t (type $unary) (i64.const 2) (i32.const 3)))
          (call $store (local.get $a) (i32.const 111))
          (call $store (i64.add (local.get $a) (i64.const 1)) (i32.const 107))
          (call $set (local.get $a) (call_indirect $t (type $unary) (local.get $a) (i32.const 1)))
          (i32.const 0))"#,
    ),
    (
        "functions of the host as exports",
        r#"(import "extism:host/env" "http_status_code" (func $code (result i32)))
        (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (export "call" (func $code))
        (export "alloc" (func $alloc))"#,
    ),
    (
        "two memories",
        r#"(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
        (import "extism:host/env" "output_set" (func $set (param i64 i64)))
        (memory $one (export "memory") 1)
        (memory $two 1 2)
        (data (memory $two) (i32.const 8) "ok")
        (func (export "call") (result i32) (local $a i64)
          (memory.copy $one $two (i32.const 0) (i32.const 8) (i32.const 2))
          (local.set $a (call $alloc (i64.const 2)))
          (call $store (local.get $a) (i32.load8_u $one (i32.const 0)))
          (call $store (i64.add (local.get $a) (i64.const 1)) (i32.load8_u $two (i32.const 9)))
          (call $set (local.get $a) (i64.const 2))
          (i32.const 0))"#,
    ),
    (
        "a memory of 64 bits",
        r#"(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
        (import "extism:host/env" "output_set" (func $set (param i64 i64)))
        (memory (export "memory") i64 1)
        (data (i64.const 8) "ok")
        (func (export "call") (result i32) (local $a i64)
          (local.set $a (call $alloc (i64.const 2)))
          (call $store (local.get $a) (i32.load8_u (i64.const 8)))
          (call $store (i64.add (local.get $a) (i64.const 1)) (i32.load8_u (i64.const 9)))
          (call $set (local.get $a) (i64.const 2))
          (i32.const 0))"#,
    ),
    (
        "passive segments and bulk operations",
        r#"(import "extism:host/env" "output_set" (func $set (param i64 i64)))
        (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
        (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (memory 1)
        (table $t 2 funcref)
        (elem $e func $ok $ok)
        (elem $gone func $ok)
        (data $d "..ok..")
        (data $e "gone")
        (func $ok (result i32) (i32.load16_u (i32.const 0)))
        (func (export "call") (result i32) (local $a i64) (local $ok i32)
          (memory.init $d (i32.const 0) (i32.const 2) (i32.const 2))
          (data.drop $e)
          (table.init $t $e (i32.const 0) (i32.const 1) (i32.const 1))
          (elem.drop $gone)
          (local.set $ok (call_indirect $t (result i32) (i32.const 0)))
          (local.set $a (call $alloc (i64.const 2)))
          (call $store (local.get $a) (local.get $ok))
          (call $store (i64.add (local.get $a) (i64.const 1)) (i32.shr_u (local.get $ok) (i32.const 8)))
          (call $set (local.get $a) (i64.const 2))
          (i32.const 0))"#,
    ),
    (
        "tail calls and SIMD",
        r#"(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (import "extism:host/env" "store_u64" (func $store (param i64 i64)))
        (import "extism:host/env" "output_set" (func $set (param i64 i64)))
        (func $block (param i64) (result i64) (return_call $alloc (local.get 0)))
        (func (export "call") (result i32) (local $a i64) (local $v v128)
          (local.set $v (i8x16.splat (i32.const 0x20)))
          (local.set $v (v128.or (local.get $v) (i64x2.splat (i64.const 0x4b4f))))
          (local.set $a (call $block (i64.const 8)))
          (call $store (local.get $a) (i64x2.extract_lane 0 (local.get $v)))
          (call $set (local.get $a) (i64.const 2))
          (i32.const 0))"#,
    ),
    (
        "state in globals, memory and tables",
        r#"(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (import "extism:host/env" "store_u64" (func $store (param i64 i64)))
        (import "extism:host/env" "output_set" (func $set (param i64 i64)))
        (memory 1)
        (table $t 1 100 funcref)
        (global $calls (mut i64) (i64.const 0))
        (func (export "call") (result i32) (local $a i64)
          (global.set $calls (i64.add (global.get $calls) (i64.const 1)))
          (i64.store (i32.const 8) (i64.add (i64.load (i32.const 8)) (i64.const 10)))
          (drop (table.grow $t (ref.null func) (i32.const 1)))
          (drop (memory.grow (i32.const 1)))
          (local.set $a (call $alloc (i64.const 32)))
          (call $store (local.get $a) (global.get $calls))
          (call $store (i64.add (local.get $a) (i64.const 8)) (i64.load (i32.const 8)))
          (call $store (i64.add (local.get $a) (i64.const 16)) (i64.extend_i32_u (table.size $t)))
          (call $store (i64.add (local.get $a) (i64.const 24)) (i64.extend_i32_u (memory.size)))
          (call $set (local.get $a) (i64.const 32))
          (i32.const 0))"#,
    ),
];

/// Modules that cannot be linked.
const MISFITS: &[(&str, &str)] = &[
    (
        "an unknown function",
        r#"(import "extism:host/env" "brew" (func))"#,
    ),
    ("an unknown module", r#"(import "env" "alloc" (func))"#),
    (
        "a function of another type",
        r#"(import "extism:host/env" "alloc" (func (param i32) (result i32)))"#,
    ),
    (
        "a host function of another type",
        r#"(import "extism:host/env" "config_get" (func (param i32) (result i32)))"#,
    ),
    (
        "an unknown function of WASI",
        r#"(import "wasi_snapshot_preview1" "brew" (func))"#,
    ),
    (
        "a function of WASI of another type",
        r#"(import "wasi_snapshot_preview1" "fd_write" (func))"#,
    ),
    (
        "a function as a global",
        r#"(import "extism:host/env" "alloc" (global i32))"#,
    ),
];

#[test]
fn shapes() {
    const CALLS: [Call<'_>; 3] = [("call", b"a"), ("call", b""), ("describe", b"")];
    for (name, text) in SHAPES {
        let describe = r#"(func (export "describe") (result i32) i32.const 0)"#;
        let module = module(
            &format!("(module {text} {describe})"),
            &LoadOptions::default(),
        );
        for outcomes in [
            module.in_one_instance(&CALLS),
            module.in_new_instances(&CALLS),
        ] {
            let is_well = outcomes
                .iter()
                .all(|outcome| matches!(outcome, Outcome::Output(_)));
            assert!(is_well, "{name}: {outcomes:?}");
        }
    }
}

#[test]
fn misfits() {
    for (name, import) in MISFITS {
        let exports = r#"(func (export "describe")) (func (export "call"))"#;
        let wasm = wat::parse_str(format!("(module {import} {exports})")).expect("valid text");
        let options = LoadOptions::default();
        let extism = Module::compile(&wasm, &options, Vec::new());
        assert!(
            !extism.is_ok_and(|module| module.plugin().is_ok()),
            "{name}"
        );
        assert!(load(&wasm, &options).is_err(), "{name}");
    }
}
