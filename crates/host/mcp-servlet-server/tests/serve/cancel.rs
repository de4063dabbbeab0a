//! Cancelled requests: the call stops, and the next request is answered.

use mcp_servlet_call::Limit;
use mcp_servlet_host::Host;
use mcp_servlet_runtime::{Instances, LoadOptions};
use mcp_servlet_server::ServeOptions;
use puppet::{PATIENCE, eventually_blocking};
use serde_json::{Value, json};
use wire::message::{notification, numbered, request, stateless};

use crate::{
    attached::attach,
    client::{Served, start},
    support::{DESCRIPTION, Wat},
};

/// A servlet with one instance and no timeout; requests with long arguments never end.
fn host() -> Host {
    host_with(1)
}

fn host_with(instances: usize) -> Host {
    let body = "(if (i64.gt_u (call $input_length) (i64.const 2000)) (then (loop $l (br $l))))
        (call $output {}) (i32.const 0)";
    let mut options = LoadOptions::default();
    options.instances = Instances {
        min: 1,
        max: instances,
        idle: None,
    }
    .into();
    options.limits.timeout = Limit::Unlimited;
    options.wait = Some(PATIENCE);
    let wat = Wat::new().describe(DESCRIPTION);
    let wat = wat.export("call", r#"{"content":[]}"#, body);
    let servlet = wat.load_with(&options).expect("a servlet");
    Host::new(vec![servlet])
}

/// The parameters of a call that never ends.
fn endless() -> Value {
    json!({"name": "t", "arguments": {"long": "x".repeat(2000)}})
}

fn cancelled(id: u64) -> Value {
    let params = json!({"requestId": id, "reason": "the user left"});
    notification("notifications/cancelled", params)
}

#[tokio::test]
async fn a_call_that_is_cancelled_over_a_pipe_stops_and_gets_no_answer() {
    let service = start(host(), ServeOptions::default()).await;
    let (mut client, serving) = attach(&service);
    client.send(stateless("tools/call", endless())).await;
    client.send(cancelled(1)).await;
    let next = numbered(2, stateless("tools/call", json!({"name": "t"})));
    // It has the only instance once the first call is stopped.
    let answer = client.ask(next).await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"]),
        (&json!(2), &json!([]))
    );
    client.close().await;
    serving.await.expect("no panic").expect("a graceful end");
}

/// Waits until a call is running.
fn running(served: &Served) {
    running_are(served, 1);
}

/// Waits until this many calls are running.
fn running_are(served: &Served, calls: usize) {
    let metric = format!("servlet_calls_running {calls}\n");
    eventually_blocking(&metric, || served.service.metrics().contains(&metric));
}

#[test]
fn a_call_that_is_cancelled_in_a_session_stops() {
    let served = Served::start(host());
    let session = served.open();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| session.ask("tools/call", endless()));
        running(&served);
        assert_eq!(session.post(&cancelled(1)).status(), 202);
        let next = numbered(2, request("tools/call", json!({"name": "t"})));
        let next = session.post(&next);
        assert_eq!(next.message()["result"]["content"], json!([]));
        let answer = waiting.join().expect("an end of the stream");
        assert_eq!(answer.messages(), [] as [Value; 0]);
    });
}

#[test]
fn a_client_that_hangs_up_stops_its_call() {
    let served = Served::start(host());
    let stream = served.http.begin(&stateless("tools/call", endless()));
    running(&served);
    drop(stream);
    let next = served.ask("tools/call", json!({"name": "t"}));
    assert_eq!(next.message()["result"]["content"], json!([]));
}

#[test]
fn calls_with_the_same_id_stop_one_by_one() {
    let served = Served::start(host_with(3));
    let session = served.open();
    let call = |id: u64, params| numbered(id, request("tools/call", params));
    let begin = |id| session.begin(&call(id, endless()));
    let first = begin(1);
    let _second = begin(1);
    let _other = begin(2);
    running_are(&served, 3);
    // The server cannot know which one is meant.
    assert_eq!(session.post(&cancelled(1)).status(), 202);
    // A later cancellation stops its call, and the next call has run, before this is known to have stopped none.
    assert_eq!(session.post(&cancelled(2)).status(), 202);
    running_are(&served, 2);
    let next = session.post(&call(3, json!({"name": "t"})));
    assert_eq!(next.message()["result"]["content"], json!([]));
    running_are(&served, 2);
    drop(first);
    running_are(&served, 1);
    eventually_blocking("the call stops", || {
        assert_eq!(session.post(&cancelled(1)).status(), 202);
        let metrics = served.service.metrics();
        metrics.contains("servlet_calls_running 0\n")
    });
}
