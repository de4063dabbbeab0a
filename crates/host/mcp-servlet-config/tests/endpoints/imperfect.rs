//! Clients that are not perfect: ids that are used twice, batches, and messages that are not quite MCP.

use serde_json::{Value, json};
use wire::{
    Http, Pipe, Sse,
    message::{HANDSHAKE, able, cancelled, initialize, initialized, numbered, request},
};

use crate::{
    http::progressing,
    site::{OLD, PIPE, Site, WEB},
    support::Wat,
    wasm::{describe, echo},
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

/// How many requests are sent at once.
const AT_ONCE: usize = 16;

/// A session of this protocol version.
fn open(site: &Site, version: &str) -> Http {
    let web = site.http("web");
    web.with("mcp-session-id", &web.post(&initialize(version)).session())
}

/// The same on a pipe.
async fn open_pipe(site: &Site, version: &str) -> Pipe {
    let mut pipe = Pipe::new(site.pipe("pipe"));
    pipe.ask(initialize(version)).await;
    pipe
}

fn call(id: &Value, arguments: &Value) -> Value {
    let params = json!({ "name": "t", "arguments": arguments, "_meta": { "progressToken": "p" } });
    numbered(id.clone(), request("tools/call", params))
}

/// Sends calls with the same id at once and checks that each gets its own answer. Returns what each answer has of its request.
fn call_at_once(site: &Site, id: &Value) -> Vec<Value> {
    let session = open(site, HANDSHAKE);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..AT_ONCE)
            .map(|n| {
                let session = &session;
                scope.spawn(move || {
                    let mut answers = session.post(&call(id, &json!({ "n": n }))).messages();
                    assert_eq!(answers.len(), 1, "{answers:?}");
                    assert_eq!(answers[0]["id"], *id);
                    let params = answers[0]["result"]["structuredContent"]["params"].take();
                    assert_eq!(params["arguments"]["n"], n);
                    params
                })
            })
            .collect();
        let calls = calls
            .into_iter()
            .map(|call| call.join().expect("an answer"));
        calls.collect()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_the_same_id_get_their_own_answers() {
    for more in ["", "response = \"sse\"\n"] {
        let site = Site::start(&format!("{WEB}{more}{A}"), &[("a.wasm", &echo(&["t"]))]).await;
        for id in [json!(1), json!("a")] {
            for params in call_at_once(&site, &id) {
                assert_eq!(params["_meta"]["progressToken"], "p");
                let text = params.to_string();
                assert!(!text.contains("mcp-servlet-server"), "{text}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_the_same_id_get_their_own_answers_of_a_remote() {
    let far = Site::start(&format!("{WEB}{A}"), &[("a.wasm", &echo(&["t"]))]).await;
    let remote = format!(
        "[remote.far]\nurl = \"{}\"\nrequired = true\n",
        far.url("web")
    );
    for more in ["", "response = \"sse\"\n"] {
        let site = Site::start(&format!("{WEB}{more}{remote}"), &[]).await;
        call_at_once(&site, &json!(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_goes_to_the_request_that_has_the_token() {
    let config = format!("{WEB}response = \"json\"\n{A}");
    let site = Site::start(&config, &[("a.wasm", &progressing())]).await;
    let session = open(&site, HANDSHAKE);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let answer = session.post(&call(&json!(1), &json!({}))).messages();
                let [progress, answer] = &*answer else {
                    panic!("{answer:?}")
                };
                let params = json!({ "progressToken": "p", "progress": 1 });
                assert_eq!(progress["params"]["progressToken"], params["progressToken"]);
                assert_eq!(answer["id"], 1);
            });
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn on_one_stream_an_id_in_flight_is_refused() {
    let endless = "(loop $l (br $l)) (i32.const 0)";
    let wat = Wat::new().describe(&describe(&["t"]));
    let wasm = wat.export("call", "", endless).wasm();
    let config = format!("{WEB}{OLD}{PIPE}{A}");
    let site = Site::start(&config, &[("a.wasm", &wasm)]).await;
    let (running, id) = (call(&json!(5), &json!({})), json!(5));
    let ping = numbered(5, request("ping", json!({})));
    let mut pipe = open_pipe(&site, HANDSHAKE).await;
    pipe.send(&running).await;
    let refused = pipe.ask(&ping).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&id, &json!(-32600))
    );
    pipe.send(cancelled(5)).await;
    assert_eq!(pipe.ask(&ping).await["result"], json!({}));
    let mut stream = Sse::open(&site.http("old"));
    assert_eq!(stream.post(&initialize(HANDSHAKE)), 202);
    stream.next().expect("a session");
    assert_eq!(stream.post(&running), 202);
    assert_eq!(stream.post(&ping), 202);
    let refused = stream.next().expect("an error");
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&id, &json!(-32600))
    );
    assert_eq!(stream.post(&cancelled(5)), 202);
    assert_eq!(stream.post(&ping), 202);
    assert_eq!(stream.next().expect("an answer")["result"], json!({}));
}

/// The ids of the responses in an array, and whether they are errors.
fn outcomes(batch: &Value) -> Vec<(Value, bool)> {
    let responses = batch.as_array().unwrap_or_else(|| panic!("{batch}"));
    let outcome = |one: &Value| (one["id"].clone(), one.get("error").is_some());
    let mut outcomes: Vec<_> = responses.iter().map(outcome).collect();
    outcomes.sort_by_key(|(id, _)| id.to_string());
    outcomes
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_2025_03_26_have_batches() {
    let config = format!("{WEB}{PIPE}{A}");
    let site = Site::start(&config, &[("a.wasm", &echo(&["t"]))]).await;
    let (opening, ping) = (initialize(HANDSHAKE), request("ping", json!({})));
    let named = call(&json!("b"), &json!({}));
    let batch = json!([initialized(), ping, named, opening, 7]);
    let notifications = json!([initialized()]);
    let expected = [
        (json!("b"), false),
        (json!(0), true),
        (json!(1), false),
        (Value::Null, true),
    ];
    let session = open(&site, "2025-03-26");
    let [answer] = &*session.post(&batch).messages() else {
        panic!("one array")
    };
    assert_eq!(outcomes(answer), expected);
    assert_eq!(session.post(&notifications).status(), 202);
    let mut pipe = open_pipe(&site, "2025-03-26").await;
    pipe.send(&notifications).await;
    assert_eq!(outcomes(&pipe.ask(&batch).await), expected);
    let refused = open(&site, "2025-06-18").post(&batch).messages();
    assert_eq!(refused[0]["error"]["code"], -32600);
    let mut pipe = open_pipe(&site, "2025-06-18").await;
    assert_eq!(pipe.ask(&batch).await["error"]["code"], -32600);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_gets_the_form_that_it_accepts() {
    let json = ("application/json", "{\"jsonrpc\"");
    let events = ("text/event-stream", "");
    for (more, wasm, both) in [
        ("response = \"json\"\n", echo(&["t"]), json),
        ("response = \"json\"\n", progressing(), events),
        ("response = \"sse\"\n", echo(&["t"]), events),
    ] {
        let site = Site::start(&format!("{WEB}{more}{A}"), &[("a.wasm", &wasm)]).await;
        let (web, session) = (site.http("web"), open(&site, HANDSHAKE));
        for (accept, (form, begin)) in [
            ("*/*", both),
            ("application/json", json),
            ("application/*", json),
            ("text/event-stream", events),
        ] {
            for client in [&session, &web] {
                let params = json!({ "name": "t", "_meta": { "progressToken": "p" } });
                let response = client.with("accept", accept).ask("tools/call", params);
                assert_eq!(response.status(), 200, "{accept}");
                assert_eq!(response.header("content-type"), Some(form), "{accept}");
                let text = response.text();
                assert!(text.starts_with(begin), "{accept}: {text}");
                assert!(text.contains("\"result\""), "{accept}: {text}");
            }
        }
        assert_eq!(web.with("accept", "text/html").initialize().status(), 406);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_is_read_as_it_was_meant() {
    let site = Site::start(&format!("{WEB}{A}"), &[("a.wasm", &echo(&["t"]))]).await;
    let web = site.http("web");
    let opening = |capabilities: &Value| able(initialize(HANDSHAKE), capabilities.clone());
    for capabilities in [
        json!([]),
        json!({ "sampling": [], "experimental": { "x": true }, "roots": null }),
    ] {
        for client in [&web, &web.with("mcp-protocol-version", "2027-01-01")] {
            let opened = client.post(&opening(&capabilities));
            assert_eq!(opened.status(), 200, "{capabilities}");
            assert_eq!(opened.message()["result"]["protocolVersion"], "2025-11-25");
        }
    }
    let refused = &web.post(&opening(&json!({ "sampling": 7 }))).message()["error"];
    assert_eq!(refused["code"], -32602);
    let message = "invalid params of `initialize`: expected an object in `capabilities.sampling`";
    assert_eq!(refused["message"], message);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_read_as_they_were_meant() {
    let config = format!("{WEB}{PIPE}{A}");
    let site = Site::start(&config, &[("a.wasm", &echo(&["t"]))]).await;
    let session = open(&site, HANDSHAKE);
    let mut pipe = open_pipe(&site, HANDSHAKE).await;
    for (request, expected) in [
        (
            r#"{"jsonrpc":"2.0","id":1.0,"method":"ping","params":[]}"#,
            json!({}),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":[]}}"#,
            json!({ "arguments": {} }),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"x\ud83d"}}}"#,
            json!({ "arguments": { "a": "x\u{fffd}" } }),
        ),
    ] {
        for answer in [
            session.post_text(request).message(),
            pipe.ask(request).await,
        ] {
            assert_eq!(answer["id"].as_f64(), Some(1.0), "{answer}");
            let params = &answer["result"]["structuredContent"]["params"];
            assert!(answer.get("result").is_some(), "{answer}");
            assert_eq!(params["arguments"], expected["arguments"], "{answer}");
        }
    }
    pipe.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n")
        .await;
    assert_eq!(pipe.next().await["error"]["code"], -32700);
}
