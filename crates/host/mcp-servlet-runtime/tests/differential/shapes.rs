//! Modules of unusual shapes: the order of imports, tables, several memories, functions of the
//! kernel as values and as exports.

use mcp_servlet_runtime::LoadOptions;

use crate::{
    bodies::module,
    sides::{Call, Module, Outcome, load},
};

/// A module and what its calls return.
struct Shape {
    name: &'static str,
    /// The fields of the module, without the export `describe`.
    text: &'static str,
    outputs: Outputs,
}

/// What the first and the second call return.
struct Outputs {
    in_one_instance: [&'static [u8]; 2],
    in_new_instances: [&'static [u8]; 2],
}

const OK: Outputs = same(b"ok");
const NOTHING: Outputs = same(b"");

/// The number of calls, ten times that, and the sizes of a table and of the memory, all as 64 bits.
const STATE: Outputs = Outputs {
    in_one_instance: [&numbers([1, 10, 2, 2]), &numbers([2, 20, 3, 3])],
    in_new_instances: [&numbers([1, 10, 2, 2]), &numbers([1, 10, 2, 2])],
};

/// The same output of every call.
const fn same(output: &'static [u8]) -> Outputs {
    Outputs {
        in_one_instance: [output, output],
        in_new_instances: [output, output],
    }
}

const fn numbers(numbers: [u8; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut at = 0;
    while at < numbers.len() {
        bytes[at * 8] = numbers[at];
        at += 1;
    }
    bytes
}

const fn shape(name: &'static str, text: &'static str, outputs: Outputs) -> Shape {
    Shape {
        name,
        text,
        outputs,
    }
}

const SHAPES: &[Shape] = &[
    shape(
        "no memory and no import",
        r#"(func (export "call") (result i32) i32.const 0)"#,
        NOTHING,
    ),
    shape(
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
        OK,
    ),
    shape(
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
        OK,
    ),
    shape(
        "functions of the host as exports",
        r#"(import "extism:host/env" "http_status_code" (func $code (result i32)))
        (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (export "call" (func $code))
        (export "alloc" (func $alloc))"#,
        NOTHING,
    ),
    shape(
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
        OK,
    ),
    shape(
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
        OK,
    ),
    shape(
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
        OK,
    ),
    shape(
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
        OK,
    ),
    shape(
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
        STATE,
    ),
];

/// Modules that cannot be linked: a name, the import, and the error of this runtime.
const MISFITS: &[(&str, &str, &str)] = &[
    (
        "an unknown function",
        r#"(import "extism:host/env" "brew" (func))"#,
        "`module` imports functions that this host does not provide: `extism:host/env::brew`",
    ),
    (
        "an unknown module",
        r#"(import "env" "alloc" (func))"#,
        "`module` imports functions that this host does not provide: `env::alloc`",
    ),
    (
        "a function of another type",
        r#"(import "extism:host/env" "alloc" (func (param i32) (result i32)))"#,
        "cannot compile `module`: incompatible import type for `extism:host/env::alloc`: types incompatible: expected type `(func (param i32) (result i32))`, found type `(func (param i64) (result i64))`",
    ),
    (
        "a host function of another type",
        r#"(import "extism:host/env" "config_get" (func (param i32) (result i32)))"#,
        "cannot compile `module`: incompatible import type for `extism:host/env::config_get`: types incompatible: expected type `(func (param i32) (result i32))`, found type `(func (param i64) (result i64))`",
    ),
    (
        "an unknown function of WASI",
        r#"(import "wasi_snapshot_preview1" "brew" (func))"#,
        "cannot compile `module`: unknown import: `wasi_snapshot_preview1::brew` has not been defined",
    ),
    (
        "a function of WASI of another type",
        r#"(import "wasi_snapshot_preview1" "fd_write" (func))"#,
        "cannot compile `module`: incompatible import type for `wasi_snapshot_preview1::fd_write`: types incompatible: expected type `(func)`, found type `(func (param i32 i32 i32 i32) (result i32))`",
    ),
    (
        "a function as a global",
        r#"(import "extism:host/env" "alloc" (global i32))"#,
        "cannot compile `module`: incompatible import type for `extism:host/env::alloc`: expected global, but found function",
    ),
];

#[test]
fn shapes() {
    const CALLS: [Call<'_>; 3] = [("call", b"a"), ("call", b""), ("describe", b"")];
    for shape in SHAPES {
        let describe = r#"(func (export "describe") (result i32) i32.const 0)"#;
        let text = format!("(module {} {describe})", shape.text);
        let mut module = module(&text, &LoadOptions::default());
        if ["return_call", "externref"]
            .iter()
            .any(|one| text.contains(one))
        {
            module.has_baseline = false;
        }
        let Outputs {
            in_one_instance,
            in_new_instances,
        } = shape.outputs;
        for (outcomes, [first, second]) in [
            (module.in_one_instance(&CALLS), in_one_instance),
            (module.in_new_instances(&CALLS), in_new_instances),
        ] {
            let found: Vec<_> = outcomes.iter().map(output).collect();
            assert_eq!(found, [first, second, b""], "{}", shape.name);
        }
    }
}

fn output(outcome: &Outcome) -> &[u8] {
    match outcome {
        Outcome::Output(output) => output,
        Outcome::Failed(..) => panic!("{outcome:?}"),
    }
}

#[test]
fn misfits() {
    for (name, import, expected) in MISFITS {
        let exports = r#"(func (export "describe")) (func (export "call"))"#;
        let wasm = wat::parse_str(format!("(module {import} {exports})")).expect("valid text");
        let options = LoadOptions::default();
        let extism = Module::compile(&wasm, &options, Vec::new());
        assert!(
            !extism.is_ok_and(|module| module.plugin().is_ok()),
            "{name}"
        );
        let error = load(&wasm, &options).map(drop).expect_err(name);
        assert_eq!(error.to_string(), *expected, "{name}");
    }
}
