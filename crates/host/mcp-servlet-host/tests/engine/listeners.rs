//! Listeners that do not finish with a notification.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use mcp_servlet_call::{CallErrorKind, Limit, Listener, Notification, RequestMeta, Sending};
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{Instances, Isolation, LoadOptions};
use puppet::{PATIENCE, eventually};
use tokio::time::timeout;

use crate::{arguments, support::Wat, tools};

/// Counts the notifications that it has begun with and those that were taken from it. It finishes with none.
#[derive(Debug, Default)]
struct Stuck {
    begun: AtomicUsize,
    dropped: AtomicUsize,
}

impl Listener for Stuck {
    fn notify(&self, _: Notification) -> Sending<'_> {
        struct Dropped<'a>(&'a AtomicUsize);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, SeqCst);
            }
        }
        Box::pin(async {
            self.begun.fetch_add(1, SeqCst);
            let _dropped = Dropped(&self.dropped);
            pending::<()>().await;
        })
    }
}

/// Sends a notification in action 1.
fn notifier() -> Wat {
    let import = r#"(import "extism:host/user" "notify_tool_list_changed" (func $changed))"#;
    tools(&[(1, "(call $changed)")]).import(import)
}

fn load(isolation: Isolation, timeout: Limit<Duration>) -> Servlet {
    let mut options = LoadOptions::default();
    options.instances = Instances::ONE.into();
    options.isolation = Some(isolation);
    options.limits.timeout = timeout;
    notifier().load_with(&options).expect("a servlet")
}

fn listening(stuck: &Arc<Stuck>) -> RequestMeta {
    let mut meta = RequestMeta::default();
    meta.listener = Some(Arc::clone(stuck) as Arc<dyn Listener>);
    meta
}

/// Asserts that the only instance is free, and that the listener is no longer asked to do anything.
async fn assert_over(servlet: &Servlet, stuck: &Stuck) {
    let arguments = arguments(0);
    // A call that ended on another thread may still be about to leave its instance.
    let next = timeout(PATIENCE, servlet.call("t", Some(&arguments))).await;
    next.expect("an instance").expect("an answer");
    let [begun, dropped] = [&stuck.begun, &stuck.dropped].map(|count| count.load(SeqCst));
    assert_eq!([begun, dropped], [1, 1]);
}

#[tokio::test]
async fn a_listener_that_never_finishes_costs_no_more_than_the_time_limit() {
    for isolation in [Isolation::Call, Isolation::Shared] {
        let servlet = load(isolation, Limit::At(Duration::from_millis(500)));
        let stuck = Arc::<Stuck>::default();
        let (arguments, meta) = (arguments(1), listening(&stuck));
        let call = servlet.call_with("t", Some(&arguments), &meta);
        let error = timeout(PATIENCE, call).await.expect("the time limit");
        let error = error.expect_err("the listener never finishes");
        assert!(
            matches!(error.kind, CallErrorKind::Timeout { .. }),
            "{error:?}"
        );
        assert_over(&servlet, &stuck).await;
    }
}

#[tokio::test]
async fn a_call_can_be_cancelled_while_a_listener_holds_it() {
    for isolation in [Isolation::Call, Isolation::Shared] {
        let servlet = load(isolation, Limit::Unlimited);
        let stuck = Arc::<Stuck>::default();
        let (arguments, meta) = (arguments(1), listening(&stuck));
        let call = servlet.call_with("t", Some(&arguments), &meta);
        let begun = eventually("the listener", async || stuck.begun.load(SeqCst) == 1);
        tokio::select! {
            ended = call => panic!("{ended:?}"),
            () = begun => {}
        }
        assert_over(&servlet, &stuck).await;
    }
}
