//! Expressions of virtual tools, and the threads that they run on.

mod support;

use std::{future::poll_fn, pin::pin, task::Poll};

use mcp_servlet_bundle::{Spec, VirtualTool};
use mcp_servlet_call::{JsonObject, RequestMeta};
use mcp_servlet_host::{Host, PlacedTool, Servlet};
use mcp_servlet_runtime::block_on;
use serde_json::{Value, json};
use support::{DESCRIPTION, Wat};

fn object(json: &Value) -> JsonObject {
    json.as_object().cloned().expect("an object")
}

/// A host with a virtual tool `v` whose result is this expression.
fn host(expression: &str) -> Host {
    let servlet = Wat::new()
        .describe(DESCRIPTION)
        .answer(r#"{"content":[{"type":"text","text":"hi"}]}"#);
    let servlet: Servlet = servlet.load().expect("a servlet");
    let result = json!({ "content": [], "structuredContent": { "made": format!("${{{{ {expression} }}}}") } });
    let spec = Spec {
        bundle: "b".to_owned(),
        name: "v".to_owned(),
        handler: Some(format!("{}:t", servlet.name())),
        arguments: Some(json!({})),
        inputs: Some(JsonObject::new()),
        result: Some(object(&result)),
        ..Spec::default()
    };
    let tool = VirtualTool::compile(&spec, &mut |text| Ok(text.to_owned())).expect("a tool");
    let tool = PlacedTool { tool, after: 0 };
    let host = Host::new(vec![servlet]).with_virtual_tools(vec![tool], Vec::new());
    assert_eq!(host.virtual_tool_errors(), []);
    host
}

#[tokio::test(flavor = "current_thread")]
async fn expressions_that_take_long_do_not_block_the_thread_of_the_call() {
    let list: Vec<_> = (0..40).collect();
    let arguments = object(&json!({ "l": list }));
    for (expression, is_quick) in [
        ("request.arguments.l.map(a, a * 2).size()", true),
        (
            "request.arguments.l.map(a, request.arguments.l.map(b, a * b)).size()",
            false,
        ),
    ] {
        let host = host(expression);
        let request_meta = RequestMeta::default();
        let expected = json!({ "made": 40 });
        // On a busy machine, the other thread may be done before the first poll ends.
        let mut has_waited = false;
        for _ in 0..20 {
            let mut call = pin!(host.call_with("v", Some(&arguments), &request_meta));
            let first = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
            has_waited |= first.is_pending();
            let result = match first {
                Poll::Ready(result) => result,
                Poll::Pending => call.await,
            };
            let result = result.unwrap_or_else(|error| panic!("{expression}: {error}"));
            assert_eq!(result.json()["structuredContent"], expected);
        }
        assert!(is_quick || has_waited, "{expression}");
        let blocking = block_on(host.call("v", Some(&arguments))).expect("a result");
        assert_eq!(blocking.json()["structuredContent"], expected);
    }
}
