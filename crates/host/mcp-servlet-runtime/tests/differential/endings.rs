//! How calls end: return values, errors, traps, and exports that cannot be called.

use std::time::Duration;

use mcp_servlet_call::Limit;
use mcp_servlet_runtime::LoadOptions;

use crate::{
    bodies::{
        Case,
        Expected::{self, Failed, Output},
        Table, case, module, table,
    },
    sides::Class::{Error, Panic, Timeout, Trap},
};

const UNREACHABLE: &str = "wasm trap: wasm `unreachable` instruction executed";

/// `(i32.const 48)` is a text of 12 bytes: `it is broken`.
const ERRORS: &[Case] = &[
    case(
        "returns 1",
        "(i32.const 1)",
        Failed(Error, "Returned non-zero exit code: 1"),
    ),
    case(
        "returns -1",
        "(i32.const -1)",
        Failed(Error, "Returned non-zero exit code: -1"),
    ),
    case(
        "returns 1 with an output",
        "(drop (call $output (call $copy (i32.const 16) (i32.const 5)))) (i32.const 1)",
        Failed(Error, "Returned non-zero exit code: 1"),
    ),
    case(
        "returns 0 with an error",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12))) (i32.const 0)",
        Failed(Error, "it is broken"),
    ),
    case(
        "returns 1 with an error",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12))) (i32.const 1)",
        Failed(Error, "it is broken"),
    ),
    case(
        "returns 0 with an output and an error",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12)))
        (call $output (call $copy (i32.const 16) (i32.const 5)))",
        Failed(Error, "it is broken"),
    ),
    case(
        "errors of earlier calls are forgotten",
        "(call $output (call $copy (i32.const 16) (i32.const 5)))",
        Output("value"),
    ),
    case(
        "the last error counts",
        "(call $error_set (call $copy (i32.const 16) (i32.const 5)))
        (call $error_set (call $copy (i32.const 48) (i32.const 12)))
        (i32.const 0)",
        Failed(Error, "it is broken"),
    ),
    case(
        "null takes an error back",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12)))
        (call $error_set (i64.const 0))
        (call $output (call $copy (i32.const 16) (i32.const 5)))",
        Output("value"),
    ),
    case(
        "an error outside of the memory is ignored",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12)))
        (call $error_set (i64.const 8))
        (call $error_set (i64.const 0x80000000))
        (call $error_set (i64.const 0x100000000))
        (call $error_set (i64.const -1))
        (i32.const 0)",
        Failed(Error, "it is broken"),
    ),
    case(
        "an offset within a block is not an error",
        "(call $error_set (i64.add (call $copy (i32.const 48) (i32.const 12)) (i64.const 1)))
        (call $output (call $copy (i32.const 16) (i32.const 5)))",
        Output("value"),
    ),
    case(
        "a freed error is not an error",
        "(local.set $a (call $copy (i32.const 48) (i32.const 12)))
        (local.set $b (call $copy (i32.const 16) (i32.const 5)))
        (call $error_set (local.get $a))
        (call $free (local.get $a))
        (call $output (local.get $b))",
        Output("value"),
    ),
    case(
        "an error that is not UTF-8",
        "(call $error_set (call $copy (i32.const 32) (i32.const 2))) (i32.const 0)",
        Failed(
            Error,
            "unable to load error message from memory: invalid utf-8 sequence of 1 bytes from index 0",
        ),
    ),
];

const TRAPS: &[Case] = &[
    case("traps", "(unreachable)", Failed(Trap, UNREACHABLE)),
    case(
        "traps with an output",
        "(drop (call $output (call $copy (i32.const 16) (i32.const 5)))) (unreachable)",
        Failed(Trap, UNREACHABLE),
    ),
    case(
        "traps with an error",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12))) (unreachable)",
        Failed(Panic, "it is broken"),
    ),
    case(
        "traps with an error that is not UTF-8",
        "(call $error_set (call $copy (i32.const 32) (i32.const 2))) (unreachable)",
        Failed(
            Error,
            "unable to load error message from memory: invalid utf-8 sequence of 1 bytes from index 0",
        ),
    ),
    case(
        "traps with an error that was taken back",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12)))
        (call $error_set (i64.const 0))
        (unreachable)",
        Failed(Trap, UNREACHABLE),
    ),
    case(
        "divides by zero",
        "(i32.div_u (i32.const 1) (local.get $n))",
        Failed(Trap, "wasm trap: integer divide by zero"),
    ),
    case(
        "reads outside of its memory",
        "(i32.load (i32.const -4))",
        Failed(Trap, "wasm trap: out of bounds memory access"),
    ),
    case(
        "calls itself",
        "(call $recurse) (i32.const 0)",
        Failed(Trap, "wasm trap: call stack exhausted"),
    ),
    case(
        "calls an empty entry of a table",
        "(i32.wrap_i64 (call_indirect (param i64) (result i64) (i64.const 0) (i32.const 1)))",
        Failed(Trap, "wasm trap: uninitialized element"),
    ),
    case(
        "calls a function of another type",
        "(call_indirect (result i32) (i32.const 0))",
        Failed(Trap, "wasm trap: indirect call type mismatch"),
    ),
    case(
        "calls a function of the kernel by a table",
        "(call $emit (call_indirect (param i64) (result i64) (call $alloc (i64.const 3)) (i32.const 0))) (call $numbers)",
        Expected::Numbers(&[3]),
    ),
    case(
        "the next call has a new instance",
        "(call $output (call $copy (i32.const 16) (i32.const 5)))",
        Output("value"),
    ),
];

const ENDLESS: &[Case] = &[case(
    "does not end",
    "(loop $forever (br $forever)) (unreachable)",
    Failed(Timeout, "timeout"),
)];

/// Exports of other types, with what calling them results in.
const EXPORTS: &[(&str, &str, Expected)] = &[
    ("nothing", "(func (export \"nothing\"))", Output("")),
    (
        "no function",
        "(global (export \"no function\") i32 (i32.const 0))",
        Failed(Error, "Function not found: no function"),
    ),
    ("nobody", "", Failed(Error, "Function not found: nobody")),
    (
        "two results",
        "(func (export \"two results\") (result i32 i32) i32.const 0 i32.const 0)",
        Failed(Error, "Function two results has 2 results, expected 0 or 1"),
    ),
    (
        "i64",
        "(func (export \"i64\") (result i64) i64.const 0)",
        Failed(Error, "Returned non-zero exit code: -1"),
    ),
    (
        "f32",
        "(func (export \"f32\") (result f32) f32.const 0)",
        Failed(Error, "Returned non-zero exit code: -1"),
    ),
    (
        "a parameter",
        "(func (export \"a parameter\") (param i32) (result i32) i32.const 0)",
        Failed(Error, "expected 1 arguments, got 0"),
    ),
];

#[test]
fn errors() {
    table(ERRORS).check(b"");
}

#[test]
fn traps() {
    table(TRAPS).check(b"");
}

#[test]
fn exports() {
    let text: String = EXPORTS.iter().map(|(_, text, _)| *text).collect();
    let text = format!(
        "(module {text} (func (export \"describe\") (result i32) i32.const 0) (func (export \"call\")))"
    );
    let module = module(&text, &LoadOptions::default());
    let calls: Vec<_> = EXPORTS
        .iter()
        .map(|(name, ..)| (*name, &b"input"[..]))
        .collect();
    for outcomes in [
        module.in_one_instance(&calls),
        module.in_new_instances(&calls),
    ] {
        for ((name, _, expected), outcome) in EXPORTS.iter().zip(outcomes) {
            assert!(expected.is(&outcome), "{name}: {outcome:?}");
        }
    }
}

#[test]
fn a_time_limit() {
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_millis(200));
    let table = Table {
        options,
        ..table(ENDLESS)
    };
    table.check(b"");
}
