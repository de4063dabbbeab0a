//! What instances find in memory that others have used.
//!
//! Only some code runs in the pool, which uses the memory of an instance again for another one. So these tests choose
//! their code.

use std::{sync::Arc, time::Duration};

use mcp_servlet_call::{CallErrorKind, Limit};
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{Instances, Isolation, LoadOptions, Quality};
use tokio::task::JoinSet;

use crate::{SPIN, arguments, call, gate::Gate, support::Wat, tools};

/// A pattern that no module contains.
const SECRET: i32 = 0x5ec2_e75a;

/// How many instances run at the same time. The pool has room for 250, so at least 150 instances of a second servlet get memory
/// that the first one has used.
const AT_ONCE: usize = 200;

/// Optimized code runs in the pool, and the code that runs first does not.
const QUALITIES: [Option<Quality>; 2] = [None, Some(Quality::Optimized)];

fn isolated(quality: Option<Quality>) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.isolation = Some(Isolation::Call);
    options.quality = quality;
    options
}

/// Code for each 64th offset in a part of the memory, which is `$what`.
fn each(body: &str) -> String {
    format!(
        "(local.set $what (i32.const 40000))
        (loop $l
            {body}
            (local.set $what (i32.add (local.get $what) (i32.const 64)))
            (br_if $l (i32.lt_u (local.get $what) (i32.const 130000))))"
    )
}

/// Writes the pattern to the memory of the servlet and to messages.
fn write() -> String {
    each(&format!(
        "(i32.store (local.get $what) (i32.const {SECRET}))
        (call $store_u64 (i64.extend_i32_u (local.get $what)) (i64.const {SECRET}))"
    ))
}

/// Looks for the pattern. Adds 1 to `$found` if it is in the memory of the servlet, and 2 if it is in messages.
fn find() -> String {
    let found = |bit: i32| {
        format!("(then (global.set $found (i32.or (global.get $found) (i32.const {bit}))))")
    };
    each(&format!(
        "(if (i32.eq (i32.load (local.get $what)) (i32.const {SECRET})) {})
        (if (i64.eq (call $load_u64 (i64.extend_i32_u (local.get $what))) (i64.const {SECRET})) {})",
        found(1),
        found(2)
    ))
}

/// Makes room for the pattern.
const GROW: &str = "(drop (memory.grow (i32.const 1))) (drop (call $alloc (i64.const 200000)))";

const RETURN: &str = "(return (global.get $found))";

/// A servlet with these actions, which can use `$found` and `$changed`. Modules with different texts are different.
fn searcher(text: &str, actions: &[(i32, String)]) -> Wat {
    let actions: Vec<_> = actions
        .iter()
        .map(|(what, body)| (*what, body.as_str()))
        .collect();
    let imports = r#"
        (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
        (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
        (import "extism:host/user" "notify_tool_list_changed" (func $changed))"#;
    tools(&actions)
        .import(imports)
        .text(text)
        .after("(global $found (mut i32) (i32.const 0))")
}

#[test]
fn a_fresh_instance_holds_no_byte_of_earlier_calls() {
    let (write, find) = (write(), find());
    let actions = [
        (1, format!("{GROW} {write} {find} {RETURN}")),
        (
            2,
            format!("{GROW} {find} (if (global.get $found) (then {RETURN}))"),
        ),
        (3, format!("{GROW} {write} (unreachable)")),
        (4, format!("{GROW} {write} {SPIN}")),
    ];
    for quality in QUALITIES {
        let mut options = isolated(quality);
        options.instances = Instances::ONE.into();
        options.limits.timeout = Limit::At(Duration::from_millis(500));
        let servlet = searcher("", &actions).load_with(&options);
        let servlet = servlet.expect("a servlet");
        for _ in 0..2 {
            let found = call(&servlet, 1).expect_err("its own pattern").to_string();
            assert!(found.ends_with(": 3"), "{found}");
            call(&servlet, 2).expect("no pattern");
            let error = call(&servlet, 3).expect_err("a trap");
            assert!(
                matches!(error.kind, CallErrorKind::Trap { .. }),
                "{error:?}"
            );
            call(&servlet, 2).expect("no pattern after a trap");
            let error = call(&servlet, 4).expect_err("a timeout");
            assert!(
                matches!(error.kind, CallErrorKind::Timeout { .. }),
                "{error:?}"
            );
            call(&servlet, 2).expect("no pattern after a timeout");
        }
    }
}

/// Makes calls that all run at the same time. Returns which of their texts there are.
async fn at_once(servlet: &Arc<Servlet>, what: i32) -> Vec<String> {
    let gate = Gate::closed();
    let mut calls = JoinSet::new();
    for _ in 0..AT_ONCE {
        let meta = gate.meta();
        let servlet = Arc::clone(servlet);
        calls.spawn(async move {
            let result = servlet.call_with("t", Some(&arguments(what)), &meta).await;
            result.map_or_else(|error| error.to_string(), |result| result.text())
        });
    }
    gate.arrived(AT_ONCE).await;
    gate.open();
    let mut texts = calls.join_all().await;
    texts.sort();
    texts.dedup();
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_holds_no_byte_of_another_servlet() {
    let (write, find) = (write(), find());
    let actions = [
        (1, format!("{GROW} {write} {find} (call $changed) {RETURN}")),
        (
            2,
            format!("{GROW} {find} (call $changed) (if (global.get $found) (then {RETURN}))"),
        ),
    ];
    let mut options = isolated(Some(Quality::Optimized));
    options.limits.timeout = Limit::Unlimited;
    options.instances = Instances {
        min: 0,
        max: AT_ONCE,
        idle: None,
    }
    .into();
    let [first, second] = ["first", "second"].map(|text| {
        let servlet = searcher(text, &actions).load_with(&options);
        Arc::new(servlet.expect("a servlet"))
    });
    for (writer, reader) in [(&first, &second), (&second, &first)] {
        let own = at_once(writer, 1).await;
        assert_eq!(own, ["Returned non-zero exit code: 3"]);
        assert_eq!(at_once(reader, 2).await, ["ok"]);
    }
}

#[test]
fn tables_of_a_fresh_instance_are_as_the_module_declares_them() {
    let fill = "(table.set $t (i32.const 1) (ref.func $f))
        (drop (table.grow $t (ref.func $f) (i32.const 3)))";
    let fails = format!("{fill} (unreachable)");
    let loops = format!("{fill} (loop $l (br $l))");
    let look = "(if (i32.ne (table.size $t) (i32.const 2)) (then (return (i32.const 1))))
        (if (i32.eqz (ref.is_null (table.get $t (i32.const 1)))) (then (return (i32.const 2))))";
    let wat = tools(&[(1, fill), (2, &fails), (3, &loops), (4, look)]);
    let wat = wat.after("(table $t 2 funcref) (elem declare func $f) (func $f)");
    for quality in QUALITIES {
        let mut options = isolated(quality);
        options.instances = Instances::ONE.into();
        options.limits.timeout = Limit::At(Duration::from_millis(500));
        // Another servlet takes the place of an instance of the first one.
        let servlets =
            [&options, &options].map(|options| wat.load_with(options).expect("a servlet"));
        for what in [1, 2, 3] {
            for servlet in &servlets {
                assert_eq!(call(servlet, what).is_ok(), what == 1);
                for servlet in &servlets {
                    call(servlet, 4).expect("an empty table");
                }
            }
        }
    }
}
