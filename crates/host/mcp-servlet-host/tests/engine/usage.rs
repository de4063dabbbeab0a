//! What calls take, and limits of their fuel.

use std::{
    future::ready,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mcp_servlet_call::{
    CallError, CallErrorKind, Limit, Limits, Listener, Notification, RequestMeta, Sending, Usage,
};
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{Isolation, LoadOptions, block_on};

use crate::{
    SPIN, arguments,
    support::{tools, tools_named},
};

/// The variable of [`WORK`].
const LEFT: &str = "(global $left (mut i32) (i32.const 0))";

/// Counts down from a million.
const WORK: &str = "(global.set $left (i32.const 1000000))
    (loop $l
        (global.set $left (i32.sub (global.get $left) (i32.const 1)))
        (br_if $l (global.get $left)))";

fn with_fuel(fuel: u64) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.limits.fuel = Limit::At(fuel);
    options
}

/// Keeps the usage of the last call.
#[derive(Debug, Default)]
struct Last(Mutex<Usage>);

impl Listener for Last {
    fn notify(&self, _: Notification) -> Sending<'_> {
        Box::pin(ready(()))
    }

    fn ended(&self, usage: &Usage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = *usage;
    }
}

/// Calls a tool and returns what it took.
async fn usage(servlet: &Servlet, what: i32) -> Usage {
    let last = Arc::new(Last::default());
    let mut meta = RequestMeta::default();
    meta.listener = Some(Arc::clone(&last) as Arc<dyn Listener>);
    let _ = servlet.call_with("t", Some(&arguments(what)), &meta).await;
    let usage = last.0.lock().unwrap_or_else(PoisonError::into_inner);
    *usage
}

fn out_of_fuel(error: &CallError, expected: u64) {
    assert!(
        matches!(error.kind, CallErrorKind::OutOfFuel { limit } if limit == expected),
        "{error:?}"
    );
}

#[test]
fn an_infinite_loop_ends_without_fuel() {
    for isolation in [Isolation::Call, Isolation::Shared] {
        let mut options = with_fuel(1_000_000);
        options.isolation = Some(isolation);
        // Only the fuel ends the call.
        options.limits.timeout = Limit::Unlimited;
        let servlet = tools(&[(1, SPIN)]).load_with(&options).expect("a servlet");
        for _ in 0..3 {
            let error = crate::call(&servlet, 1).expect_err("it loops");
            out_of_fuel(&error, 1_000_000);
            assert_eq!(
                error.to_string(),
                "servlet `test` ran out of fuel in `call`: the limit is 1000000"
            );
            crate::assert_works(&servlet);
        }
    }
}

#[tokio::test]
async fn the_same_call_takes_the_same_fuel() {
    for isolation in [Isolation::Call, Isolation::Shared] {
        let mut options = with_fuel(100_000_000);
        options.isolation = Some(isolation);
        let servlet = tools(&[(1, WORK)]).after(LEFT);
        let servlet = servlet.load_with(&options).expect("a servlet");
        // A shared instance has started before its second call.
        usage(&servlet, 1).await;
        let first = usage(&servlet, 1).await.fuel.expect("it is counted");
        let second = usage(&servlet, 1).await.fuel.expect("it is counted");
        assert_eq!(first, second, "{isolation:?}");
        assert!((3_000_000..10_000_000).contains(&first), "{first}");
    }
}

#[tokio::test]
async fn usage_of_a_failed_call_is_its_limit() {
    let servlet = tools(&[(1, SPIN)])
        .load_with(&with_fuel(50_000))
        .expect("a servlet");
    assert_eq!(usage(&servlet, 1).await.fuel, Some(50_000));
}

#[tokio::test]
async fn fuel_is_not_counted_without_a_limit() {
    let servlet = tools(&[]).load().expect("a servlet");
    let usage = usage(&servlet, 0).await;
    assert_eq!(usage.fuel, None);
    assert!(usage.memory.is_some(), "{usage:?}");
}

#[test]
fn a_tool_can_have_fuel_of_its_own() {
    let mut limited = Limits::default();
    limited.fuel = Limit::At(1_000_000);
    let mut options = LoadOptions::default();
    options.tools.insert("u".to_owned(), limited);
    let servlet = tools_named(&["t", "u"], &[(1, WORK)]).after(LEFT);
    let servlet = servlet.load_with(&options).expect("a servlet");
    let call = |tool| block_on(servlet.call(tool, Some(&arguments(1))));
    out_of_fuel(&call("u").expect_err("too little"), 1_000_000);
    call("t").expect("no limit");

    let mut unlimited = Limits::default();
    unlimited.fuel = Limit::Unlimited;
    let mut options = with_fuel(1_000_000);
    options.tools.insert("u".to_owned(), unlimited);
    let servlet = tools_named(&["t", "u"], &[(1, WORK)]).after(LEFT);
    let servlet = servlet.load_with(&options).expect("a servlet");
    let call = |tool| block_on(servlet.call(tool, Some(&arguments(1))));
    out_of_fuel(&call("t").expect_err("too little"), 1_000_000);
    call("u").expect("no limit");
}

#[test]
fn code_before_the_first_call_takes_fuel() {
    let spin = "(func $spin (loop $l (br $l)))";
    for start in ["(start $spin)", r#"(export "_initialize" (func $spin))"#] {
        let mut options = with_fuel(1_000_000);
        options.limits.timeout = Limit::Unlimited;
        let wat = tools(&[]).import(spin).after(start);
        let error = wat.load_with(&options).expect_err("it does not start");
        assert_eq!(
            error.to_string(),
            "`test` does not start: the code that it runs before the first call ran out of fuel"
        );
    }
}

#[tokio::test]
async fn the_memory_of_a_shared_instance_includes_earlier_calls() {
    let grow = "(drop (memory.grow (i32.const 32)))";
    for isolation in [Isolation::Call, Isolation::Shared] {
        let mut options = LoadOptions::default();
        options.isolation = Some(isolation);
        let servlet = tools(&[(1, grow)]).load_with(&options).expect("a servlet");
        let [large, small] = [usage(&servlet, 1).await, usage(&servlet, 0).await];
        let is_kept = small.memory == large.memory;
        assert_eq!(
            is_kept,
            isolation == Isolation::Shared,
            "{large:?} {small:?}"
        );
    }
}

#[tokio::test]
async fn a_call_that_was_stopped_shows_its_memory() {
    let grow = format!("(drop (memory.grow (i32.const 32))) {SPIN}");
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_millis(50));
    let servlet = tools(&[(1, &grow)]).load_with(&options).expect("a servlet");
    let memory = usage(&servlet, 1).await.memory.expect("it has an instance");
    assert!(memory > 32 << 16, "{memory}");
}
