//! Code that runs before the first call: start functions and the initialisers of toolchains.

use mcp_servlet_runtime::LoadOptions;

use crate::bodies::module;
use crate::sides::{Call, Class::Trap, Module, Outcome};

/// Functions for the texts below. `$trace` appends a digit to a number, and `call` returns the number.
const PRELUDE: &str = r#"
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))
    (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
    (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (import "extism:host/env" "input_length" (func $input_length (result i64)))
    (memory (export "memory") 1)
    (global $trace (mut i64) (i64.const 0))
    (func $trace (param $digit i64)
      (global.set $trace (i64.add (i64.mul (global.get $trace) (i64.const 10)) (local.get $digit))))
    (func $show (param $number i64) (local $block i64)
      (local.set $block (call $alloc (i64.const 8)))
      (call $store_u64 (local.get $block) (local.get $number))
      (call $output_set (local.get $block) (i64.const 8)))
    (func (export "describe") (result i32) (i32.const 0))
    (func (export "call") (result i32)
      (call $trace (i64.const 9)) (call $show (global.get $trace)) (i32.const 0))"#;

/// The code before the calls, and the numbers that two calls of one instance return.
const STARTS: &[(&str, [u64; 2])] = &[
    ("", [9, 99]),
    (
        "(func $s (call $trace (i64.const 1))) (start $s)",
        [19, 199],
    ),
    (
        r#"(func (export "_initialize") (call $trace (i64.const 2)))"#,
        [29, 299],
    ),
    (
        r#"(func (export "__wasm_call_ctors") (call $trace (i64.const 3)))"#,
        [39, 399],
    ),
    (
        r#"(func (export "_initialize") (call $trace (i64.const 2)))
        (func (export "__wasm_call_ctors") (call $trace (i64.const 3)))"#,
        [39, 399],
    ),
    (
        r#"(func $s (call $trace (i64.const 1))) (start $s)
        (func (export "_initialize") (call $trace (i64.const 2)))"#,
        [129, 1299],
    ),
    (
        r#"(func (export "hs_init") (param i32 i32)
          (call $trace (i64.add (i64.const 4) (i64.extend_i32_u (i32.add (local.get 0) (local.get 1))))))"#,
        [49, 499],
    ),
    (
        r#"(func (export "hs_init") (param i32 i32) (call $trace (i64.const 4)))
        (func (export "_initialize") (call $trace (i64.const 2)))
        (func (export "__wasm_call_ctors") (call $trace (i64.const 3)))"#,
        [249, 2499],
    ),
    // Extism looks for `_initialize` only if there is no `__wasm_call_ctors` of any type.
    (
        r#"(func (export "__wasm_call_ctors") (result i32) (i32.const 5))
        (func (export "_initialize") (call $trace (i64.const 2)))"#,
        [9, 99],
    ),
    // There is no input yet.
    (
        "(func $s (call $trace (i64.add (i64.const 1) (call $input_length)))) (start $s)",
        [19, 199],
    ),
    // Blocks of the start are gone in the call.
    (
        r#"(func (export "__wasm_call_ctors") (local $block i64)
          (local.set $block (call $alloc (i64.const 1)))
          (call $store_u8 (local.get $block) (i32.const 97))
          (call $trace (call $length (local.get $block)))
          (call $show (i64.const 77)))"#,
        [19, 199],
    ),
];

/// Code that fails before the first call, and why.
const FAILURES: &[(&str, &str)] = &[
    (
        "(func $s unreachable) (start $s)",
        "wasm trap: wasm `unreachable` instruction executed",
    ),
    (
        r#"(func (export "_initialize") unreachable)"#,
        "wasm trap: wasm `unreachable` instruction executed",
    ),
    (
        r#"(func (export "hs_init") (param i32 i32) (drop (i32.div_u (i32.const 1) (local.get 0))))"#,
        "wasm trap: integer divide by zero",
    ),
    (
        r#"(func (export "__wasm_call_ctors") (drop (i32.load8_u (i32.const -1))))"#,
        "wasm trap: out of bounds memory access",
    ),
    (
        "(data (i32.const 65535) \"too long\")",
        "wasm trap: out of bounds memory access",
    ),
    (
        "(table 1 funcref) (elem (i32.const 1) $show)",
        "wasm trap: undefined element: out of bounds table access",
    ),
];

fn starting(start: &str) -> Module {
    module(
        &format!("(module {PRELUDE} {start})"),
        &LoadOptions::default(),
    )
}

#[test]
fn starts_run_once_in_each_instance() {
    const CALLS: [Call<'_>; 2] = [("call", b"input"), ("call", b"input")];
    for (start, [first, second]) in STARTS {
        let module = starting(start);
        let shared = module.in_one_instance(&CALLS);
        let fresh = module.in_new_instances(&CALLS);
        for (outcomes, expected) in [(shared, [first, second]), (fresh, [first, first])] {
            for (outcome, number) in outcomes.iter().zip(expected) {
                let expected = Outcome::Output(number.to_le_bytes().to_vec());
                assert!(expected.is(outcome), "{start}: {outcome:?}");
            }
        }
    }
}

#[test]
fn a_start_that_fails_is_an_error_of_each_call() {
    for (start, expected) in FAILURES {
        let outcomes = starting(start).in_new_instances(&[("call", b""), ("call", b"")]);
        for outcome in outcomes {
            let expected = Outcome::Failed(Trap, (*expected).to_owned());
            assert!(expected.is(&outcome), "{start}: {outcome:?}");
        }
    }
}

#[test]
fn the_export_start_ends_an_instance() {
    let start =
        r#"(func (export "_start") (call $trace (i64.const 7)) (call $show (global.get $trace)))"#;
    let calls: [Call<'_>; 4] = [("call", b""), ("_start", b""), ("call", b""), ("call", b"")];
    let outcomes = starting(start).in_one_instance(&calls);
    for (outcome, number) in outcomes.iter().zip([9u64, 97, 9, 99]) {
        let expected = Outcome::Output(number.to_le_bytes().to_vec());
        assert!(expected.is(outcome), "{outcome:?}");
    }
}
