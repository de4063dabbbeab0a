//! Timeouts, cancellation and progress of requests, and that nothing is left behind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_servlet_client::{CallOptions, CancellationToken, ErrorKind, Event, Options, Session};
use puppet::{Puppet, eventually};
use serde_json::{Value, json};

use crate::support::{ERAS, arrived, attach, attach_with};

#[tokio::test]
async fn a_request_that_timed_out_is_cancelled_at_the_server() {
    for era in ERAS {
        let (session, puppet) = attach_with("slow", &Options::new().era(era)).await;
        let options = CallOptions::new().timeout(Duration::from_millis(20));
        let error = session.call_with("any", Value::Null, &options).await;
        let error = error.expect_err("a timeout");
        assert_eq!(error.kind(), ErrorKind::RequestTimeout);
        let call = arrived(&puppet, "tools/call").await;
        let cancelled = arrived(&puppet, "notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        assert_eq!(session.waiting(), 0);
        session.lists().await.expect("the session goes on");
    }
}

#[tokio::test]
async fn a_dropped_request_is_cancelled_at_the_server() {
    let (session, puppet) = attach("slow").await;
    tokio::select! {
        _ = session.call("any", Value::Null) => panic!("it never answers"),
        _ = arrived(&puppet, "tools/call") => {}
    }
    arrived(&puppet, "notifications/cancelled").await;
    assert_eq!(session.waiting(), 0);
}

#[tokio::test]
async fn a_request_can_be_cancelled_by_a_token() {
    let (session, puppet) = attach("slow").await;
    let token = CancellationToken::new();
    let options = CallOptions::new().cancel_with(token.clone());
    let (result, ()) = tokio::join!(session.call_with("any", Value::Null, &options), async {
        arrived(&puppet, "tools/call").await;
        token.cancel();
    });
    assert_eq!(result.expect_err("cancelled").kind(), ErrorKind::Cancelled);
    arrived(&puppet, "notifications/cancelled").await;
}

#[tokio::test]
async fn the_request_timeout_of_the_session_counts() {
    let options = Options::new().request_timeout(Duration::from_millis(20));
    let (session, _) = attach_with("slow", &options).await;
    let error = session
        .call("any", Value::Null)
        .await
        .expect_err("a timeout");
    assert_eq!(error.kind(), ErrorKind::RequestTimeout);
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_result() {
    for era in ERAS {
        let (session, _) = attach_with("progress", &Options::new().era(era)).await;
        let mut events = session.events();
        let reports = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&reports);
        let options = CallOptions::new()
            .on_progress(move |progress| seen.lock().expect("a list").push(progress.to_string()));
        let result = session.call_with("any", Value::Null, &options).await;
        assert_eq!(result.expect("a result").text(), "done");
        assert_eq!(*reports.lock().expect("a list"), ["1/2 half", "2/2"]);
        let first = events
            .next()
            .await
            .expect("an event")
            .expect("a log message");
        let data = json!({ "at": 1 });
        let logger = Some("puppet".to_owned());
        assert_eq!(
            first,
            Event::Log {
                level: "info".to_owned(),
                logger,
                data
            }
        );
        let second = events.next().await.expect("an event");
        assert_eq!(second.expect("a change"), Event::ToolsChanged);
    }
}

#[tokio::test]
async fn progress_extends_the_timeout_up_to_a_total() {
    let call = async |options: CallOptions| {
        let (session, _) = attach("slow-progress").await;
        session.call_with("any", Value::Null, &options).await
    };
    let options = CallOptions::new().timeout(Duration::from_secs(1));
    let short = call(options.clone()).await.expect_err("a timeout");
    let extended = options.clone().extend_on_progress(Duration::from_mins(1));
    assert_eq!(call(extended).await.expect("a result").text(), "done");
    let bounded = options.extend_on_progress(Duration::from_millis(1200));
    let bounded = call(bounded).await.expect_err("a timeout");
    for error in [short, bounded] {
        assert_eq!(error.kind(), ErrorKind::RequestTimeout);
    }
}

#[tokio::test]
async fn a_time_without_end_is_no_limit() {
    let options = Options::new()
        .connect_timeout(Duration::MAX)
        .request_timeout(Duration::MAX);
    for script in ["plain", "slow-progress"] {
        let (session, _) = attach_with(script, &options).await;
        let options = CallOptions::new()
            .timeout(Duration::MAX)
            .extend_on_progress(Duration::MAX);
        let result = session.call_with("any", json!({ "city": "done" }), &options);
        assert_eq!(result.await.expect("a result").text(), "done");
    }
    let (session, _) = attach_with("listen", &options).await;
    session.watch(["file:///log"]).await.expect("events");
}

#[tokio::test]
async fn progress_does_not_put_off_the_deadline() {
    const REPORTS: usize = 1000;
    let report = json!({
        "method": "notifications/progress",
        "params": { "progressToken": "$params/_meta/progressToken", "progress": 1 },
    });
    let script = json!({ "replies": { "tools/call": [{ "before": vec![report; REPORTS] }] } });
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let (reader, writer) = puppet.pipe();
    let session = Session::attach(reader, writer, &Options::new()).await;
    let session = session.expect("a session");
    let reports = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reports);
    let options = CallOptions::new()
        .timeout(Duration::from_millis(50))
        .on_progress(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(10));
        });
    let error = session.call_with("any", Value::Null, &options).await;
    assert_eq!(
        error.expect_err("a timeout").kind(),
        ErrorKind::RequestTimeout
    );
    // All of them would take ten seconds.
    let reports = reports.load(Ordering::Relaxed);
    assert!(reports < REPORTS, "{reports}");
}

/// Polls a future at most this often, and drops it. Everything else runs between two polls, and nothing after the last one.
async fn poll(future: impl Future, times: usize) {
    let mut future = Box::pin(future);
    for time in 0..times {
        if time > 0 {
            tokio::task::yield_now().await;
        }
        if futures_util::poll!(&mut future).is_ready() {
            return;
        }
    }
}

#[tokio::test]
async fn nothing_is_left_of_requests_however_they_ended() {
    let (session, puppet) = attach("plain").await;
    let mut dropped = 0;
    for number in 0..10_000 {
        let call = session.call("weather", json!({ "city": "Oslo" }));
        if number % 3 == 0 {
            // Never polled, before it was sent, before the response, and after it.
            poll(call, number / 3 % 12).await;
            dropped += 1;
        } else {
            call.await.expect("a result");
        }
    }
    session.ping().await.expect("an answer");
    let (calls, cancelled) = (
        puppet.received("tools/call"),
        puppet.received("notifications/cancelled"),
    );
    assert!(calls > 10_000 - dropped && calls < 10_000, "{calls} calls");
    assert!(
        cancelled > 0 && cancelled < dropped,
        "{cancelled} cancelled"
    );
    eventually("no request is left", async || session.waiting() == 0).await;
}
