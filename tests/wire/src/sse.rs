//! A client for HTTP+SSE: it reads an event stream from one URL and posts messages to another.

use serde_json::Value;

use crate::{
    http::{Answer, Http},
    message::event,
};

/// A client with an open stream. It iterates over the messages of the stream until that ends.
pub struct Sse {
    /// The client that posts the messages.
    pub http: Http,
    events: Box<dyn Iterator<Item = Value>>,
}

impl Sse {
    /// Opens a stream.
    pub fn open(http: &Http) -> Self {
        Self::of(http.get(), http)
    }

    /// The same with a stream that this client has opened.
    pub fn of(stream: Answer, http: &Http) -> Self {
        assert_eq!(stream.status(), 200);
        let mut lines = stream.into_lines();
        assert_eq!(lines.next().as_deref(), Some("event: endpoint"));
        let path = lines.next().expect("a line");
        let path = path.strip_prefix("data: ").expect("a path");
        Self {
            http: http.at(path),
            events: Box::new(lines.filter_map(|line| event(&line))),
        }
    }

    /// Posts a message, and returns the status of the response.
    pub fn post(&self, message: &Value) -> u16 {
        self.http.post(message).status()
    }
}

impl Iterator for Sse {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        self.events.next()
    }
}
