//! The connection to the host of `servlet test`: lines of JSON over a local socket.
//!
//! The first line identifies the client and its servlet:
//! `{"token":…,"servlet":…,"config":{…},"http":…,"tools":…}`, where `http` says that this side answers HTTP
//! requests, and `tools` that it answers calls of tools of other servers. Each further line is a request,
//! `{"export":…,"input":…}`. Its response is `{"output":…}` or `{"fault":{"code":…,"message":…,"data":…}}`. Before the
//! response may come messages of the servlet:
//!
//! - `{"progress":{…}}` and `{"message":{…}}`, the parameters of notifications;
//! - `{"http":{"method":…,"url":…,"headers":{…},"body":[…]}}`, which wants a line `{"status":…,"headers":{…},"body":[…]}`
//!   or, for a request that fails, `{"failure":{"code":…,"message":…}}`;
//! - `{"call":{"method":…,"params":{…}}}`, a request to another server, which wants a line `{"result":{…}}` or
//!   `{"error":{"kind":…,"message":…}}`.

#[cfg(feature = "http")]
mod http;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use mcp_servlet_json::{RawJson, from_str, to_string};
use serde::{Deserialize, Serialize};

use crate::answer::error::Fault;
use crate::host::context::Context;

/// The environment variable that `servlet test` sets to `ADDRESS/TOKEN`.
pub(super) const ADDRESS: &str = "MCP_SERVLET_TEST";

/// A connection to one instance of the servlet.
#[derive(Debug)]
pub(super) struct Remote {
    stream: BufReader<TcpStream>,
}

#[derive(Serialize)]
struct Hello<'a> {
    token: &'a str,
    servlet: &'a str,
    config: &'a BTreeMap<String, String>,
    http: bool,
    tools: bool,
}

#[derive(Serialize)]
struct Request<'a> {
    export: &'a str,
    input: &'a str,
}

/// A message of the host: exactly one of these.
#[derive(Deserialize)]
struct Line {
    output: Option<String>,
    fault: Option<WireFault>,
    progress: Option<RawJson>,
    message: Option<RawJson>,
    call: Option<RawJson>,
    #[cfg(feature = "http")]
    http: Option<http::Request>,
}

#[derive(Deserialize)]
struct WireFault {
    code: i64,
    message: String,
    data: Option<RawJson>,
}

impl Remote {
    /// # Panics
    ///
    /// If there is no host at the address: the test cannot continue.
    pub(super) fn connect(address: &str, servlet: &str, context: &Context) -> Self {
        let (socket, token) = address.split_once('/').unwrap_or((address, ""));
        let stream = TcpStream::connect(socket).unwrap_or_else(|error| {
            panic!("no host at {ADDRESS}={address}: {error}; run `servlet test`")
        });
        let mut remote = Self {
            stream: BufReader::new(stream),
        };
        let host = context.host.state();
        remote.send(&Hello {
            token,
            servlet,
            config: &host.config,
            #[cfg(feature = "http")]
            http: host.http.is_some(),
            #[cfg(not(feature = "http"))]
            http: false,
            tools: host.tools.is_prepared(),
        });
        remote
    }

    /// Runs an export. Its notifications and requests go to the context.
    pub(super) fn request(
        &mut self,
        export: &str,
        input: &[u8],
        context: &Context,
    ) -> Result<String, Fault> {
        let input =
            std::str::from_utf8(input).expect("the host of `servlet test` takes UTF-8 text");
        self.send(&Request { export, input });
        loop {
            match self.receive() {
                #[cfg(feature = "http")]
                Line {
                    http: Some(request),
                    ..
                } => self.send(&request.answered_by(context)),
                Line {
                    call: Some(call), ..
                } => {
                    let answer = context.host.call_tool(call.get());
                    // JSON has line breaks between values only.
                    self.send_line(answer.replace('\n', " "));
                }
                Line {
                    progress: Some(params),
                    ..
                } => context.host.notify_progress(params.into_string()),
                Line {
                    message: Some(params),
                    ..
                } => context.host.notify_logging_message(params.into_string()),
                Line {
                    fault: Some(fault), ..
                } => return Err(fault.into()),
                Line { output, .. } => return Ok(output.unwrap_or_default()),
            }
        }
    }

    fn receive(&mut self) -> Line {
        let mut line = String::new();
        if let Err(error) = self.stream.read_line(&mut line) {
            panic!("the host of `servlet test` is gone: {error}");
        }
        from_str(&line)
            .unwrap_or_else(|error| panic!("the host of `servlet test` answered `{line}`: {error}"))
    }

    fn send(&mut self, message: &impl Serialize) {
        self.send_line(to_string(message).expect("texts are JSON"));
    }

    fn send_line(&mut self, mut line: String) {
        line.push('\n');
        if let Err(error) = self.stream.get_mut().write_all(line.as_bytes()) {
            panic!("the host of `servlet test` is gone: {error}");
        }
    }
}

impl From<WireFault> for Fault {
    fn from(wire: WireFault) -> Self {
        let fault = Self::new(wire.code, wire.message);
        match wire.data {
            Some(data) => fault.with_data(data),
            None => fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use self::servlet::SERVLET;
    use super::Remote;
    use crate::testing::Client;

    #[allow(clippy::redundant_locals, reason = "the macro is one of this crate")]
    mod servlet {
        crate::export!(pub(super) static SERVLET = {});
    }

    /// The lines that a test sends to a host, which first sends these lines after the request.
    fn conversation(client: &Client, lines: &'static [&str]) -> (Vec<String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{}/secret", listener.local_addr().unwrap());
        let host = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            let mut stream = BufReader::new(stream);
            let mut receive = |send: Option<&str>| {
                if let Some(line) = send {
                    writeln!(stream.get_mut(), "{line}").unwrap();
                }
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                line.trim_end().to_owned()
            };
            let mut received = vec![receive(None), receive(None)];
            received.extend(lines.iter().map(|line| receive(Some(line))));
            writeln!(stream.get_mut(), r#"{{"output":"done"}}"#).unwrap();
            received
        });
        let mut remote = Remote::connect(&address, "planner", client.context());
        let output = remote.request("call", b"{}", client.context()).unwrap();
        (host.join().unwrap(), output)
    }

    #[test]
    fn the_test_answers_calls_of_other_tools_in_one_line_each() {
        let client = SERVLET
            .client()
            .with_recorded_tools("tests/servlet/calls/recorded.json")
            .with_resource("docs", "file:///a.md", "one\ntwo");
        let (received, output) = conversation(
            &client,
            &[
                r#"{"call":{"method":"tools/call","params":{"name":"air:search","arguments":{"city":"Rome"}}}}"#,
                r#"{"call":{"method":"tools/call","params":{"name":"air:book","arguments":{"seats":2,"id":"a1"}}}}"#,
                r#"{"call":{"method":"resources/read","params":{"member":"docs","uri":"file:///a.md"}}}"#,
            ],
        );
        let expected = [
            r#"{"token":"secret","servlet":"planner","config":{},"http":false,"tools":true}"#,
            r#"{"export":"call","input":"{}"}"#,
            r#"{"result":{       "content": [],       "structuredContent": ["a1"]     }}"#,
            r#"{"error":{ "kind": "not_allowed", "message": "ask the operator", "code": -32603 }}"#,
            r#"{"result":{"contents":[{"uri":"file:///a.md","text":"one\ntwo"}]}}"#,
        ];
        assert_eq!(received, expected);
        assert_eq!(output, "done");
        assert_eq!(client.calls().len(), 2);
    }

    #[test]
    fn a_test_without_tools_says_so() {
        let (received, _) = conversation(&SERVLET.client(), &[]);
        assert!(received[0].ends_with(r#""tools":false}"#), "{received:?}");
    }
}
