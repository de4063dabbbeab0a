//! The number of instances, which call gets which instance, and which calls wait.

use std::{pin::Pin, sync::Arc, time::Duration};

use mcp_servlet_call::{CallError, CallErrorKind, Limit};
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{CompileCache, Instances, Isolation, LoadOptions};
use puppet::eventually_blocking;

use crate::{COUNT, SPIN, arguments, assert_works, call, faults::sleeper, tools};

fn with(instances: Instances) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.instances = instances.into();
    options.limits.timeout = Limit::Unlimited;
    options
}

fn load(options: &LoadOptions) -> Servlet {
    let wat = tools(&[(1, COUNT), (2, SPIN), (3, "unreachable")]);
    wat.load_with(options).expect("a servlet")
}

/// How many calls the instance that runs this call has had, including this one.
fn count(servlet: &Servlet) -> u32 {
    let error = call(servlet, 1).expect_err("a count").to_string();
    let count = error.strip_prefix("Returned non-zero exit code: ");
    count
        .and_then(|count| count.parse().ok())
        .expect("a number")
}

#[test]
fn one_instance_serves_all_calls_that_do_not_overlap() {
    let servlet = load(&with(Instances {
        min: 1,
        max: 4,
        idle: None,
    }));
    assert_eq!(
        [count(&servlet), count(&servlet), count(&servlet)],
        [1, 2, 3]
    );
}

#[test]
fn a_single_instance_is_shared_by_all_threads() {
    let servlet = load(&with(Instances::ONE));
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| count(&servlet));
        }
    });
    assert_eq!(count(&servlet), 9);
}

#[test]
fn isolated_calls_have_an_instance_of_their_own() {
    let mut options = with(Instances::ONE);
    options.isolation = Some(Isolation::Call);
    let servlet = load(&options);
    assert_eq!([count(&servlet), count(&servlet)], [1, 1]);
}

#[test]
fn servlets_with_our_sdk_have_fresh_instances() {
    // SDKs for JavaScript and Python import all functions of Extism, although statics last between calls there.
    let variables = r#"(import "extism:host/env" "var_get" (func (param i64) (result i64)))"#;
    let ours = || tools(&[(1, COUNT)]).after(r#"(@custom "mcp-servlet.sdk" "")"#);
    let announces = r#"(import "extism:host/user" "notify_tool_list_changed" (func))"#;
    for (wat, isolation) in [
        (tools(&[(1, COUNT)]), Isolation::Shared),
        (tools(&[(1, COUNT)]).import(variables), Isolation::Shared),
        (ours(), Isolation::Call),
        (ours().import(announces), Isolation::Shared),
    ] {
        let servlet = wat.load().expect("a servlet");
        assert_eq!(servlet.isolation(), isolation);
        let second = if isolation == Isolation::Call { 1 } else { 2 };
        assert_eq!([count(&servlet), count(&servlet)], [1, second]);
    }
}

#[test]
fn a_servlet_in_use_is_compiled_again_with_optimizations() {
    let cache = tempfile::tempdir().expect("a folder");
    let mut options = LoadOptions::default();
    options.cache = CompileCache::Directory(cache.path().to_owned());
    options.isolation = Some(Isolation::Call);
    let servlet = load(&options);
    let kinds = || {
        let files = std::fs::read_dir(cache.path().join("modules")).expect("a folder");
        let names = files.map(|file| file.expect("a file").file_name());
        let kinds = names.map(|name| {
            name.to_string_lossy()
                .rsplit_once('.')
                .map(|(_, kind)| kind.to_owned())
        });
        kinds.flatten().collect::<std::collections::BTreeSet<_>>()
    };
    let first = if cfg!(target_arch = "x86_64") {
        "baseline"
    } else {
        "quick"
    };
    assert!(kinds().contains(first), "{:?}", kinds());
    assert_works(&servlet);
    eventually_blocking("the file of the optimized code", || {
        kinds().contains("optimized")
    });
    assert_works(&servlet);
    assert_works(&load(&options));
}

#[tokio::test]
async fn instances_without_room_in_the_pool_start_outside() {
    let instances = Instances {
        min: 0,
        max: 600,
        idle: None,
    };
    let mut options = with(instances);
    options.isolation = Some(Isolation::Call);
    options.limits.timeout = Limit::Unlimited;
    let servlet = sleeper().load_with(&options).expect("a servlet");
    let arguments = arguments(1);
    let mut sleeping = Vec::new();
    for _ in 0..510 {
        let mut call = Box::pin(servlet.call("t", Some(&arguments)));
        let ended = tokio::time::timeout(Duration::ZERO, &mut call).await;
        assert!(ended.is_err(), "it sleeps: {ended:?}");
        sleeping.push(call);
    }
    assert_works(&servlet);
}

#[test]
fn an_instance_that_trapped_is_replaced_and_the_others_stay() {
    let servlet = load(&with(Instances::ONE));
    assert_eq!([count(&servlet), count(&servlet)], [1, 2]);
    assert!(matches!(
        call(&servlet, 3),
        Err(CallError {
            kind: CallErrorKind::Trap { .. },
            ..
        })
    ));
    assert_eq!(count(&servlet), 1);
}

#[test]
fn idle_instances_above_the_minimum_are_dropped() {
    // Shorter than the time between two looks at `goes`.
    let idle = Some(Duration::from_millis(1));
    let [stays, goes] = [1, 0].map(|min| load(&with(Instances { min, max: 4, idle })));
    assert_eq!([count(&stays), count(&goes)], [1, 1]);
    eventually_blocking("an instance is dropped", || count(&goes) == 1);
    // It has been idle for longer.
    assert_eq!(count(&stays), 2);
}

#[test]
fn servlets_that_keep_variables_have_one_instance() {
    let import = r#"(import "extism:host/env" "var_set" (func (param i64 i64)))"#;
    let wat = tools(&[]).import(import);
    let servlet = wat.load().expect("a servlet");
    assert_eq!(servlet.instances(), Instances::ONE);
    let mut options = LoadOptions::default();
    let idle = Duration::from_secs(7);
    options.instances.idle = idle.into();
    let servlet = wat.load_with(&options).expect("a servlet");
    let expected = Instances {
        idle: Some(idle),
        ..Instances::ONE
    };
    assert_eq!(
        servlet.instances(),
        expected,
        "setting `idle` does not change the number of instances"
    );
    assert!(load(&LoadOptions::default()).instances().max >= 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn busy_servlet_refuses_calls_beyond_the_queue() {
    let mut options = with(Instances::ONE);
    options.queue = 1;
    let servlet = load(&options);
    let running = occupy(&servlet).await;
    let arguments = arguments(0);
    let mut waiting = Box::pin(servlet.call("t", Some(&arguments)));
    let waited = tokio::time::timeout(Duration::from_millis(20), &mut waiting).await;
    assert!(waited.is_err(), "there is room in the queue");
    let refused = servlet.call("t", Some(&arguments)).await;
    let refused = refused.expect_err("the queue is full");
    assert!(
        matches!(refused.kind, CallErrorKind::Busy { waiting: 1, .. }),
        "{refused:?}"
    );
    assert_eq!(refused.to_rpc_error().code, -32000);
    drop(running);
    waiting.await.expect("its turn came");
}

fn start(
    servlet: &Arc<Servlet>,
    what: i32,
) -> tokio::task::JoinHandle<Result<mcp_servlet_host::CallToolResult, CallError>> {
    let servlet = Arc::clone(servlet);
    tokio::spawn(async move { servlet.call("t", Some(&arguments(what))).await })
}

/// Starts a call that never ends. Its first poll takes the only instance, and this function waits for that.
async fn occupy(servlet: &Servlet) -> Pin<Box<impl Future<Output = ()>>> {
    let mut running = Box::pin(async {
        let result = servlet.call("t", Some(&arguments(2))).await;
        panic!("it ended: {result:?}");
    });
    let ended = tokio::time::timeout(Duration::from_millis(1), &mut running).await;
    assert!(ended.is_err());
    running
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_wait_no_longer_than_the_options_allow() {
    let mut options = with(Instances::ONE);
    options.wait = Some(Duration::from_millis(20));
    let servlet = load(&options);
    let running = occupy(&servlet).await;
    let waited = servlet.call("t", Some(&arguments(0))).await;
    let waited = waited.expect_err("no instance became free");
    assert!(
        matches!(waited.kind, CallErrorKind::Waited { .. }),
        "{waited:?}"
    );
    drop(running);
    tokio::task::spawn_blocking(move || assert_works(&servlet))
        .await
        .expect("no panic");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_at_once_get_one_answer_each() {
    let servlet = Arc::new(load(&LoadOptions::default()));
    let calls: Vec<_> = (0..1000).map(|_| start(&servlet, 0)).collect();
    for call in calls {
        let result = call.await.expect("no panic").expect("an answer");
        assert_eq!(result.text(), "ok");
    }
}

#[tokio::test]
async fn a_servlet_that_is_busy_does_not_keep_the_thread() {
    // There is only one thread. If a call blocked it, nothing below would happen.
    let servlet = Arc::new(load(&with(Instances::ONE)));
    let running = start(&servlet, 2);
    let waiting: Vec<_> = (0..20).map(|_| start(&servlet, 0)).collect();
    // All of them have begun, and some have come to wait.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    running.abort();
    for call in waiting {
        call.await.expect("no panic").expect("its turn came");
    }
}
