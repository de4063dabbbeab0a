//! Configuration, variables, logs and HTTP.

use mcp_servlet_runtime::LoadOptions;

use crate::{
    bodies::{
        Case,
        Expected::{Failed, Numbers, Output},
        Table, case, table,
    },
    sides::{
        Call,
        Class::{Denied, Panic, Trap},
    },
};

const CONFIG: &[Case] = &[
    case(
        "a value",
        "(call $output (call $config_get (call $copy (i32.const 0) (i32.const 3))))",
        Output("the value of the key"),
    ),
    case(
        "the key is freed, the value is a block",
        "(local.set $a (call $copy (i32.const 0) (i32.const 3)))
        (local.set $b (call $config_get (local.get $a)))
        (call $emit (call $length (local.get $b)))
        (local.set $b (call $alloc (i64.const 20)))
        (call $emit (call $length (local.get $b)))
        (call $numbers)",
        Numbers(&[20, 20]),
    ),
    case(
        "a freed key has no length",
        "(local.set $a (call $copy (i32.const 64) (i32.const 7)))
        (drop (call $config_get (local.get $a)))
        (call $emit (call $length (local.get $a)))
        (call $numbers)",
        Numbers(&[0]),
    ),
    case(
        "an unknown key is null",
        "(call $emit (call $config_get (call $copy (i32.const 64) (i32.const 7)))) (call $numbers)",
        Numbers(&[0]),
    ),
    case(
        "an empty value is null",
        "(call $emit (call $config_get (call $copy (i32.const 80) (i32.const 5)))) (call $numbers)",
        Numbers(&[0]),
    ),
    case(
        "null is the empty key",
        "(call $output (call $config_get (i64.const 0)))",
        Output("the value of the empty key"),
    ),
    case(
        "a key that is not UTF-8",
        "(call $emit (call $config_get (call $copy (i32.const 32) (i32.const 2)))) (call $numbers)",
        Failed(Trap, "invalid utf-8 sequence of 1 bytes from index 0"),
    ),
    case(
        "a key without a block",
        "(call $emit (call $config_get (i64.const 7))) (call $numbers)",
        Failed(Trap, "invalid handle offset for config key: 7"),
    ),
    case(
        "a key far away",
        "(call $emit (call $config_get (i64.const -1))) (call $numbers)",
        Failed(
            Trap,
            "invalid handle offset for config key: 18446744073709551615",
        ),
    ),
];

/// These run one after another. Each one that reads a variable sets it as well, because a new
/// instance may have none.
const VARIABLES: &[Case] = &[
    case(
        "an unknown variable is null",
        "(call $emit (call $var_get (call $copy (i32.const 64) (i32.const 7)))) (call $numbers)",
        Numbers(&[0]),
    ),
    case(
        "a variable that was set",
        "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $copy (i32.const 16) (i32.const 5)))
        (call $output (call $var_get (call $copy (i32.const 0) (i32.const 3))))",
        Output("value"),
    ),
    case(
        "a variable that was set again",
        "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $copy (i32.const 16) (i32.const 5)))
        (call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $copy (i32.const 48) (i32.const 12)))
        (call $output (call $var_get (call $copy (i32.const 0) (i32.const 3))))",
        Output("it is broken"),
    ),
    case(
        "null removes a variable",
        "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $copy (i32.const 16) (i32.const 5)))
        (call $var_set (call $copy (i32.const 0) (i32.const 3)) (i64.const 0))
        (call $var_set (call $copy (i32.const 0) (i32.const 3)) (i64.const 0))
        (call $emit (call $var_get (call $copy (i32.const 0) (i32.const 3))))
        (call $numbers)",
        Numbers(&[0]),
    ),
    case(
        "null is the empty name",
        "(call $var_set (i64.const 0) (call $copy (i32.const 16) (i32.const 5)))
        (call $output (call $var_get (i64.const 0)))",
        Output("value"),
    ),
    case(
        "a block is both name and value",
        "(local.set $a (call $copy (i32.const 0) (i32.const 3)))
        (call $var_set (local.get $a) (local.get $a))
        (call $emit (call $length (local.get $a)))
        (local.set $a (call $var_get (call $copy (i32.const 0) (i32.const 3))))
        (call $emit (call $length (local.get $a)))
        (call $numbers)",
        Numbers(&[0, 3]),
    ),
    case(
        "name and value are freed",
        "(local.set $a (call $copy (i32.const 0) (i32.const 3)))
        (local.set $b (call $copy (i32.const 16) (i32.const 5)))
        (call $var_set (local.get $a) (local.get $b))
        (call $emit (call $length (local.get $a)))
        (call $emit (call $length (local.get $b)))
        (call $numbers)",
        Numbers(&[0, 0]),
    ),
    case(
        "a value that is not UTF-8",
        "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $copy (i32.const 32) (i32.const 2)))
        (call $emit_u32 (call $load_u8 (call $var_get (call $copy (i32.const 0) (i32.const 3)))))
        (call $numbers)",
        Numbers(&[255]),
    ),
];

const WRONG_VARIABLES: &[Case] = &[
    case(
        "a name that is not UTF-8",
        "(call $var_set (call $copy (i32.const 32) (i32.const 2)) (i64.const 0)) (i32.const 0)",
        Failed(Trap, "invalid utf-8 sequence of 1 bytes from index 0"),
    ),
    case(
        "a name without a block",
        "(call $var_set (i64.const 7) (i64.const 0)) (i32.const 0)",
        Failed(Trap, "invalid handle offset for var key: 7"),
    ),
    case(
        "a name to read, without a block",
        "(drop (call $var_get (i64.const 7))) (i32.const 0)",
        Failed(Trap, "invalid handle offset for var key: 7"),
    ),
    case(
        "a value without a block",
        "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (i64.const 7)) (i32.const 0)",
        Failed(Trap, "invalid handle offset for var value: 7"),
    ),
    case(
        "the variables are full",
        "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $alloc (i64.const 1048576))) (i32.const 0)",
        Failed(Trap, "Variable store is full"),
    ),
    case(
        "an error before a host function fails",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12)))
        (call $var_set (i64.const 7) (i64.const 0))
        (i32.const 0)",
        Failed(Panic, "it is broken"),
    ),
];

/// 48 bytes count for each variable next to its name and value, and the limit is 100 bytes.
const FEW_VARIABLES: &[Case] = &[
    case(
        "100 bytes",
        "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $alloc (i64.const 49)))
        (call $output (call $copy (i32.const 0) (i32.const 3)))",
        Output("key"),
    ),
    case(
        "101 bytes",
        "(call $var_set (call $copy (i32.const 64) (i32.const 3)) (call $alloc (i64.const 50))) (i32.const 0)",
        Failed(Trap, "Variable store is full"),
    ),
];

const NO_VARIABLES: &[Case] = &[
    case(
        "setting fails",
        "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $copy (i32.const 16) (i32.const 5))) (i32.const 0)",
        Failed(Trap, "Vars are disabled by this host"),
    ),
    case(
        "reading works",
        "(call $emit (call $var_get (call $copy (i32.const 0) (i32.const 3)))) (call $numbers)",
        Numbers(&[0]),
    ),
];

/// The test has no subscriber for logs.
const OTHERS: &[Case] = &[
    case(
        "logged blocks are freed",
        "(local.set $a (call $copy (i32.const 16) (i32.const 5)))
        (call $log_info (local.get $a))
        (call $emit (call $length (local.get $a)))
        (call $log_trace (call $copy (i32.const 16) (i32.const 5)))
        (call $log_debug (call $copy (i32.const 32) (i32.const 2)))
        (call $log_warn (call $copy (i32.const 16) (i32.const 5)))
        (call $log_error (call $copy (i32.const 16) (i32.const 5)))
        (call $log_info (i64.const 0))
        (call $numbers)",
        Numbers(&[0]),
    ),
    case(
        "logs are off",
        "(call $emit_u32 (call $get_log_level)) (call $numbers)",
        Numbers(&[i32::MAX as u64]),
    ),
    case(
        "no request was sent",
        "(call $emit_u32 (call $http_status_code)) (call $numbers)",
        Numbers(&[0]),
    ),
    case(
        "no response has headers",
        "(call $output (call $http_headers))",
        Output("{}"),
    ),
    case(
        "a request is not allowed",
        "(drop (call $http_request (call $copy (i32.const 96) (i32.const 29)) (i64.const 0))) (i32.const 0)",
        Failed(Denied, "HTTP request to http://api.example/ is not allowed"),
    ),
];

fn config() -> LoadOptions {
    let values = [
        ("key", "the value of the key"),
        ("empty", ""),
        ("", "the value of the empty key"),
    ];
    let mut options = LoadOptions::default();
    options.config = values
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    options
}

fn variables(bytes: u64) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.vars = bytes;
    options
}

fn with(options: LoadOptions, cases: &[Case]) -> Table<'_> {
    Table {
        options,
        ..table(cases)
    }
}

#[test]
fn configuration() {
    with(config(), CONFIG).check(b"");
}

#[test]
fn variables_work() {
    table(VARIABLES).check(b"");
}

#[test]
fn variables_are_checked() {
    table(WRONG_VARIABLES).check(b"");
    with(variables(100), FEW_VARIABLES).check(b"");
    with(variables(0), NO_VARIABLES).check(b"");
}

#[test]
fn variables_last_in_an_instance() {
    let cases = [
        case(
            "set",
            "(call $var_set (call $copy (i32.const 0) (i32.const 3)) (call $input_offset))
            (call $output (call $copy (i32.const 0) (i32.const 3)))",
            Output("key"),
        ),
        case(
            "get",
            "(call $output (call $var_get (call $copy (i32.const 0) (i32.const 3))))",
            Output(""),
        ),
    ];
    let calls: [Call<'_>; 4] = [
        ("set", b"one"),
        ("get", b""),
        ("set", b"two"),
        ("get", b"input"),
    ];
    let outcomes = table(&cases).module().in_one_instance(&calls);
    for (outcome, expected) in outcomes.iter().zip(["key", "one", "key", "two"]) {
        assert!(Output(expected).is(outcome), "{outcome:?}");
    }
}

#[test]
fn logs_and_http() {
    table(OTHERS).check(b"");
}
