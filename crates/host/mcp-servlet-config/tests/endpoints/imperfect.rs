//! Clients that are not perfect: ids that are used twice, batches, and messages that are not quite MCP.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use ureq::{Body, http::Response};

use crate::{
    http::{INITIALIZE, header, post, progressing, send, stateless},
    site::{OLD, PIPE, Site, WEB},
    sse::Stream,
    support::Wat,
    wasm::{describe, echo},
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

/// How many requests are sent at once.
const AT_ONCE: usize = 16;

fn open(url: &str, version: &str) -> String {
    let opened = post(url, &[], &INITIALIZE.replace("2025-11-25", version));
    header(&opened, "mcp-session-id")
        .expect("a session")
        .to_owned()
}

fn call(id: &Value, arguments: &Value) -> Value {
    let params = json!({ "name": "t", "arguments": arguments, "_meta": { "progressToken": "p" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// The messages of a response, as JSON or as events.
fn messages(mut response: Response<Body>) -> Vec<Value> {
    let text = response.body_mut().read_to_string().expect("text");
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut events: Vec<_> = events
        .map(str::trim)
        .filter(|data| !data.is_empty())
        .collect();
    if events.is_empty() && !text.is_empty() {
        events.push(&text);
    }
    let json = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
    events.into_iter().map(json).collect()
}

/// A client on a pipe.
struct Pipe(BufReader<DuplexStream>);

impl Pipe {
    async fn open(site: &Site, version: &str) -> Self {
        let mut pipe = Self(BufReader::new(site.pipe("pipe")));
        let opening = INITIALIZE.replace("2025-11-25", version).replace('\n', "");
        pipe.ask(opening).await;
        pipe
    }

    async fn send(&mut self, line: impl AsRef<[u8]>) {
        let line = [line.as_ref(), b"\n"].concat();
        self.0.write_all(&line).await.expect("the server reads");
    }

    async fn next(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).await.expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
    }

    async fn ask(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.send(line).await;
        self.next().await
    }
}

/// Sends calls with the same id at once and checks that each gets its own answer. Returns what each answer has of its request.
fn call_at_once(site: &Site, id: &Value) -> Vec<Value> {
    let (url, session) = (site.url("web"), open(site.url("web"), "2025-11-25"));
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..AT_ONCE)
            .map(|n| {
                let session = &session;
                scope.spawn(move || {
                    let body = call(id, &json!({ "n": n })).to_string();
                    let mut answers = messages(post(url, &[("mcp-session-id", session)], &body));
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
    let (url, session) = (site.url("web"), open(site.url("web"), "2025-11-25"));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let body = call(&json!(1), &json!({})).to_string();
                let answer = messages(post(url, &[("mcp-session-id", &session)], &body));
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
    let ping = json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" }).to_string();
    let params = json!({ "requestId": 5 });
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    let mut pipe = Pipe::open(&site, "2025-11-25").await;
    pipe.send(running.to_string()).await;
    let refused = pipe.ask(&ping).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&id, &json!(-32600))
    );
    pipe.send(cancelled.to_string()).await;
    assert_eq!(pipe.ask(&ping).await["result"], json!({}));
    let mut stream = Stream::open(&site);
    assert_eq!(stream.post(INITIALIZE), 202);
    stream.next().expect("a session");
    assert_eq!(stream.post(&running.to_string()), 202);
    assert_eq!(stream.post(&ping), 202);
    let refused = stream.next().expect("an error");
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&id, &json!(-32600))
    );
    assert_eq!(stream.post(&cancelled.to_string()), 202);
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
    let url = site.url("web");
    let opening: Value = serde_json::from_str(INITIALIZE).expect("JSON");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let batch = json!([ready, ping, call(&json!("b"), &json!({})), opening, 7]).to_string();
    let expected = [
        (json!("b"), false),
        (json!(0), true),
        (json!(1), false),
        (Value::Null, true),
    ];
    let session = open(url, "2025-03-26");
    let in_session = |body: &str| post(url, &[("mcp-session-id", &session)], body);
    let [answer] = &*messages(in_session(&batch)) else {
        panic!("one array")
    };
    assert_eq!(outcomes(answer), expected);
    assert_eq!(in_session(&json!([ready]).to_string()).status(), 202);
    let mut pipe = Pipe::open(&site, "2025-03-26").await;
    pipe.send(json!([ready]).to_string()).await;
    assert_eq!(outcomes(&pipe.ask(&batch).await), expected);
    let session = open(url, "2025-06-18");
    let refused = messages(post(url, &[("mcp-session-id", &session)], &batch));
    assert_eq!(refused[0]["error"]["code"], -32600);
    let mut pipe = Pipe::open(&site, "2025-06-18").await;
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
        let (url, session) = (site.url("web"), open(site.url("web"), "2025-11-25"));
        for (accept, (form, begin)) in [
            ("*/*", both),
            ("application/json", json),
            ("application/*", json),
            ("text/event-stream", events),
        ] {
            let legacy = call(&json!(1), &json!({})).to_string();
            let headers = [("content-type", "application/json"), ("accept", accept)];
            let in_session = [&headers[..], &[("mcp-session-id", &*session)]].concat();
            let params = json!({ "name": "t", "_meta": { "progressToken": "p" } });
            let modern = stateless("tools/call", params).to_string();
            let alone = [
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", "t"),
            ];
            let alone = [&headers[..], &alone].concat();
            for (headers, body) in [(in_session, legacy), (alone, modern)] {
                let mut response = send("POST", url, &headers, &body);
                assert_eq!(response.status(), 200, "{accept}");
                assert_eq!(header(&response, "content-type"), Some(form), "{accept}");
                let text = response.body_mut().read_to_string().expect("text");
                assert!(text.starts_with(begin), "{accept}: {text}");
                assert!(text.contains("\"result\""), "{accept}: {text}");
            }
        }
        let headers = [
            ("content-type", "application/json"),
            ("accept", "text/html"),
        ];
        assert_eq!(send("POST", url, &headers, INITIALIZE).status(), 406);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_is_read_as_it_was_meant() {
    let site = Site::start(&format!("{WEB}{A}"), &[("a.wasm", &echo(&["t"]))]).await;
    let url = site.url("web");
    for capabilities in [
        "[]",
        r#"{"sampling":[],"experimental":{"x":true},"roots":null}"#,
    ] {
        let opening = INITIALIZE.replace(
            "{},\"clientInfo\"",
            &format!("{capabilities},\"clientInfo\""),
        );
        for headers in [&[][..], &[("mcp-protocol-version", "2027-01-01")]] {
            let opened = post(url, headers, &opening);
            assert_eq!(opened.status(), 200, "{capabilities}");
            assert_eq!(
                messages(opened)[0]["result"]["protocolVersion"],
                "2025-11-25"
            );
        }
    }
    let wrong = INITIALIZE.replace("{},\"clientInfo\"", "{\"sampling\":7},\"clientInfo\"");
    let refused = &messages(post(url, &[], &wrong))[0]["error"];
    assert_eq!(refused["code"], -32602);
    let message = "invalid params of `initialize`: expected an object in `capabilities.sampling`";
    assert_eq!(refused["message"], message);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_read_as_they_were_meant() {
    let config = format!("{WEB}{PIPE}{A}");
    let site = Site::start(&config, &[("a.wasm", &echo(&["t"]))]).await;
    let url = site.url("web");
    let session = open(url, "2025-11-25");
    let in_session = |body: &str| messages(post(url, &[("mcp-session-id", &session)], body));
    let mut pipe = Pipe::open(&site, "2025-11-25").await;
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
        for answer in [in_session(request).remove(0), pipe.ask(request).await] {
            assert_eq!(answer["id"].as_f64(), Some(1.0), "{answer}");
            let params = &answer["result"]["structuredContent"]["params"];
            assert!(answer.get("result").is_some(), "{answer}");
            assert_eq!(params["arguments"], expected["arguments"], "{answer}");
        }
    }
    let invalid = pipe
        .ask(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}")
        .await;
    assert_eq!(invalid["error"]["code"], -32700);
}
