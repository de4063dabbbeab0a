//! The connection to the host of `servlet test`: lines of JSON over a local socket.
//!
//! The first line identifies the client and its servlet:
//! `{"token":…,"servlet":…,"config":{…},"http":…}`, where `http` says that this side answers HTTP
//! requests. Each further line is a request, `{"export":…,"input":…}`. Its response is `{"output":…}`
//! or `{"fault":{"code":…,"message":…,"data":…}}`. Before the response may come messages of the
//! servlet:
//!
//! - `{"progress":{…}}` and `{"message":{…}}`, the parameters of notifications;
//! - `{"http":{"method":…,"url":…,"headers":{…},"body":[…]}}`, which wants a line `{"status":…,"headers":{…},"body":[…]}`
//!   or, for a request that fails, `{"failure":{"code":…,"message":…}}`.

#[cfg(feature = "http")]
mod http;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use mcp_servlet_json::{RawJson, from_str, to_string};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::Fault;

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
        let mut line = to_string(message).expect("texts are JSON");
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
