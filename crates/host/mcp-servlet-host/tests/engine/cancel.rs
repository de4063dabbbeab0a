//! Dropping a call stops this call and no other.

use std::{sync::Arc, time::Duration};

use mcp_servlet_call::{CallError, CallErrorKind, Limit};
use mcp_servlet_host::{CallToolResult, Servlet};
use mcp_servlet_runtime::{Instances, Isolation, LoadOptions};
use puppet::PATIENCE;
use tokio::{task::JoinHandle, time::timeout};

use crate::{
    COUNT, SPIN, arguments,
    faults::{POLL, SLEEP},
    gate::{CHANGED, Gate},
    tools,
};

/// How many calls can wait for an instance.
const QUEUE: usize = 10;

/// A loop that takes about ten milliseconds.
const WORK: &str = "(local.set $what (i32.const 20000000))
    (loop $l
        (local.set $what (i32.sub (local.get $what) (i32.const 1)))
        (br_if $l (local.get $what)))";

fn load(max: usize) -> Arc<Servlet> {
    let mut options = LoadOptions::default();
    options.instances = Instances {
        min: 1,
        max,
        idle: None,
    }
    .into();
    options.limits.timeout = Limit::Unlimited;
    options.wait = None;
    options.queue = QUEUE;
    let [spin, work] = [SPIN, WORK].map(|code| format!("(call $changed) {code}"));
    let wat = tools(&[(1, COUNT), (2, &spin), (3, &work)]).import(CHANGED);
    Arc::new(wat.load_with(&options).expect("a servlet"))
}

fn start(servlet: &Arc<Servlet>, what: i32) -> JoinHandle<Result<CallToolResult, CallError>> {
    start_with(servlet, what, &Gate::opened())
}

/// Starts a call whose code comes to a gate.
fn start_with(
    servlet: &Arc<Servlet>,
    what: i32,
    gate: &Arc<Gate>,
) -> JoinHandle<Result<CallToolResult, CallError>> {
    let (servlet, meta) = (Arc::clone(servlet), gate.meta());
    tokio::spawn(async move { servlet.call_with("t", Some(&arguments(what)), &meta).await })
}

/// Starts a call and waits until its code runs.
async fn run(servlet: &Arc<Servlet>, what: i32) -> JoinHandle<Result<CallToolResult, CallError>> {
    let gate = Gate::opened();
    let call = start_with(servlet, what, &gate);
    gate.arrived(1).await;
    call
}

/// The result of a call that must end.
async fn result(
    call: JoinHandle<Result<CallToolResult, CallError>>,
) -> Result<CallToolResult, CallError> {
    let call = timeout(PATIENCE, call).await;
    call.expect("an answer").expect("no panic")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_call_that_is_cancelled_frees_its_instance() {
    let servlet = load(1);
    for _ in 0..3 {
        run(&servlet, 2).await.abort();
        result(start(&servlet, 0))
            .await
            .expect("the instance is free");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_cancelled_at_once_never_runs_on() {
    let servlet = load(1);
    for _ in 0..50 {
        start(&servlet, 2).abort();
    }
    result(start(&servlet, 0))
        .await
        .expect("the instance is free");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queued_call_that_is_cancelled_does_not_run() {
    let servlet = load(1);
    let gate = Gate::closed();
    let running = start_with(&servlet, 3, &gate);
    gate.arrived(1).await;
    let arguments = arguments(0);
    let mut queued = Vec::new();
    for _ in 0..QUEUE {
        let mut call = Box::pin(servlet.call("t", Some(&arguments)));
        // Its first poll puts it in the queue.
        let waits = timeout(Duration::ZERO, &mut call).await;
        waits.expect_err("it waits for the only instance");
        queued.push(call);
    }
    let refused = servlet.call("t", Some(&arguments)).await;
    let refused = refused.expect_err("the queue is full");
    assert!(
        matches!(refused.kind, CallErrorKind::Busy { waiting: QUEUE, .. }),
        "{refused:?}"
    );
    drop(queued);
    gate.open();
    result(running).await.expect("it was not cancelled");
    let count = result(start(&servlet, 1)).await.expect_err("a count");
    assert!(count.to_string().ends_with(" 2"), "{count}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_calls_of_the_servlet_go_on() {
    let servlet = load(4);
    for _ in 0..10 {
        let victim = run(&servlet, 2).await;
        let gate = Gate::opened();
        let others: Vec<_> = (0..6).map(|_| start_with(&servlet, 3, &gate)).collect();
        // As many as there are instances.
        gate.arrived(3).await;
        victim.abort();
        for other in others {
            result(other).await.expect("it was not cancelled");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_waits_in_a_host_function_can_be_cancelled() {
    for isolation in [Isolation::Call, Isolation::Shared] {
        let mut options = LoadOptions::default();
        options.instances = Instances::ONE.into();
        options.isolation = Some(isolation);
        options.limits.timeout = Limit::Unlimited;
        options.wait = None;
        let wat = tools(&[(1, &format!("(call $changed) {SLEEP}"))]);
        let servlet = wat.import(POLL).import(CHANGED).load_with(&options);
        let servlet = Arc::new(servlet.expect("a servlet"));
        for _ in 0..3 {
            let sleeping = run(&servlet, 1).await;
            assert!(!sleeping.is_finished());
            sleeping.abort();
            result(start(&servlet, 0))
                .await
                .expect("the instance is free");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_can_be_cancelled_while_its_instance_starts() {
    for export in [r#"(export "_initialize" (func $begin))"#, "(start $begin)"] {
        cancelled_at_its_start(export).await;
    }
}

async fn cancelled_at_its_start(export: &str) {
    // Once the variable `x` is set, instances never start.
    let key = "(call $letter (i64.const 120))";
    let fields = format!(
        r"(func $letter (param i64) (result i64) (local $at i64)
            (local.set $at (call $alloc (i64.const 1)))
            (call $store_u8 (local.get $at) (i32.wrap_i64 (local.get 0)))
            (local.get $at))
        (func $begin
            (if (i64.ne (call $var_get {key}) (i64.const 0)) (then {SPIN})))
        {export}"
    );
    let imports = r#"
        (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
        (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
        (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))"#;
    let set = format!("(call $var_set {key} {key})");
    let wat = tools(&[(1, &set)]).import(imports).after(&fields);
    let mut options = LoadOptions::default();
    options.instances = Instances::ONE.into();
    options.isolation = Some(Isolation::Call);
    options.limits.timeout = Limit::At(Duration::from_millis(200));
    options.wait = Some(Duration::from_millis(50));
    let servlet = Arc::new(wat.load_with(&options).expect("a servlet"));
    result(start(&servlet, 1))
        .await
        .expect("it sets the variable");
    let (arguments, short) = (arguments(0), Duration::from_millis(5));
    let starting = timeout(short, servlet.call("t", Some(&arguments))).await;
    starting.expect_err("it is still starting");
    // It gets the only permit, and reaches its own limit.
    let error = result(start(&servlet, 0))
        .await
        .expect_err("it does not start");
    assert!(
        matches!(error.kind, CallErrorKind::Start { .. }),
        "{error:?}"
    );
}
