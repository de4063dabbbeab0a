//! Lines of JSON to and from a test.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::TcpStream,
    sync::Mutex,
};

use mcp_servlet_common::lock;
use serde::{Serialize, de::DeserializeOwned};

/// A connection. Its user is either the thread of the client or a call that this thread waits for.
#[derive(Debug)]
pub(super) struct Wire(Mutex<BufReader<TcpStream>>);

impl Wire {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(Mutex::new(BufReader::new(stream)))
    }

    /// The next line; `None` at the end of the connection. The inner result is an error if the line
    /// has the wrong form.
    pub(super) fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<serde_json::Result<T>>> {
        let mut line = String::new();
        let mut stream = lock(&self.0);
        match stream.read_line(&mut line)? {
            0 => Ok(None),
            _ => Ok(Some(serde_json::from_str(&line))),
        }
    }

    pub(super) fn send(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(message)?;
        line.push('\n');
        let mut stream = lock(&self.0);
        stream.get_mut().write_all(line.as_bytes())
    }
}
