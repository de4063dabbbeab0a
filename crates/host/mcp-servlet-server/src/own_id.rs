//! Ids of our own for the requests of a session, and for their progress tokens over HTTP.
//!
//! rmcp routes an answer by the id of its request alone. Some clients send the same id, or the same progress token, in several
//! requests at once: <https://github.com/modelcontextprotocol/python-sdk/issues/3137>. Others use the id of a cancelled request
//! again, which rmcp would answer with the error of the cancelled one. Each request therefore gets an id of its own before rmcp
//! reads it. It contains what the client sent, so the way back needs no table.

use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::RequestId;
use serde_json::Value;

/// The beginning of each of these ids. They never leave this process.
pub(crate) const MARK: &str = "mcp-servlet-server/request/";

/// The number of a request. No two requests of the process have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(u64);

impl Number {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The id of this request for the JSON of a client's id or token, as JSON.
    pub(crate) fn own_json(self, client: &str) -> String {
        Value::from(self.own(client)).to_string()
    }

    /// The id of this request for a client's id.
    pub(crate) fn own_id(self, client: &RequestId) -> RequestId {
        let client = client.clone().into_json_value().to_string();
        RequestId::String(self.own(&client).into())
    }

    fn own(self, client: &str) -> String {
        format!("{MARK}{}/{client}", self.0)
    }
}

/// The JSON of the client's id or token in one of ours. None if it is not ours.
fn unmarked(own: &str) -> Option<&str> {
    let (_, client) = own.strip_prefix(MARK)?.split_once('/')?;
    Some(client)
}

/// The same for the JSON of an id or token.
pub(crate) fn client_json(own: &str) -> Option<String> {
    if !own.get(1..)?.starts_with(MARK) {
        return None;
    }
    let own: String = serde_json::from_str(own).ok()?;
    unmarked(&own).map(str::to_owned)
}

/// The client's value of an id or a token.
pub(crate) fn client_value(value: &Value) -> Value {
    value
        .as_str()
        .and_then(unmarked)
        .and_then(|client| serde_json::from_str(client).ok())
        .unwrap_or_else(|| value.clone())
}

/// The client's id of a request.
pub(crate) fn client_id(id: &RequestId) -> RequestId {
    match id {
        RequestId::String(own) => unmarked(own),
        RequestId::Number(_) => None,
    }
    .and_then(|client| serde_json::from_str(client).ok())
    .unwrap_or_else(|| id.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_clients_id_comes_back_as_it_was_written() {
        for client in ["1", "-7", "1.0", r#""a""#, r#""""#, r#""a/b\"\u00e9""#] {
            let (one, other) = (
                Number::next().own_json(client),
                Number::next().own_json(client),
            );
            assert_ne!(one, other);
            assert_eq!(client_json(&one).as_deref(), Some(client));
            let own: Value = serde_json::from_str(&one).expect("JSON");
            let sent: Value = serde_json::from_str(client).expect("JSON");
            assert_eq!(client_value(&own), sent);
            let id: RequestId = serde_json::from_str(client).expect("an id");
            assert_eq!(client_id(&Number::next().own_id(&id)), id);
        }
    }

    #[test]
    fn other_ids_are_not_ours() {
        for id in ["1", r#""""#, r#""x""#, r#""mcp-servlet-server/request/""#] {
            assert_eq!(client_json(id), None, "{id}");
        }
        assert_eq!(client_value(&json!("x")), json!("x"));
        let id = RequestId::String("x".into());
        assert_eq!(client_id(&id), id);
    }
}
