//! What servlets learn about the session and the HTTP request of a call: keys of `_meta` that only
//! the server sets.

use std::sync::{Arc, LazyLock};

use axum::http::{HeaderMap, request::Parts};
use mcp_servlet_access::{Caller, Certificate};
use mcp_servlet_call::{JsonObject, RequestCaller};
use mcp_servlet_common::hex;
use mcp_servlet_types::{CALLER_KEY, CERTIFICATE_KEY, HEADERS_KEY, SESSION_KEY};
use rmcp::{RoleServer, service::RequestContext};
use serde_json::{Value, json};

use crate::{era::Era, own_id::client_id, server::ServeOptions, session_id::SessionId};

/// Keys of `_meta` that begin like this are the server's. They are removed from what clients send.
const PREFIX: &str = "mcp-servlet/";
/// Values that a client adds to a trace (W3C). They may be about its user, so they go no further than this server.
const BAGGAGE: &str = "baggage";
/// The id of the request, a number or a string, as the client wrote it.
const REQUEST: &str = "mcp-servlet/request";
/// What the client says about itself.
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// Removes the keys that only the server may set, and those that are not for servlets and remotes.
pub(super) fn strip(meta: &mut JsonObject) {
    meta.retain(|key, _| !key.starts_with(PREFIX) && key != BAGGAGE);
}

/// Replaces the keys that only the server may set.
///
/// `session` is the session of the connection. Over streamable HTTP there is none, and the request
/// names its session. `options` say what servlets may read.
pub(super) fn set(
    meta: &mut JsonObject,
    context: &RequestContext<RoleServer>,
    era: Era,
    session: Option<&SessionId>,
    options: &ServeOptions,
) {
    strip(meta);
    let parts = context.extensions.get::<Parts>();
    let session = match session {
        Some(session) => session.as_str(),
        None => session_header(context, era).unwrap_or_default(),
    };
    meta.insert(SESSION_KEY.to_owned(), session.into());
    meta.insert(REQUEST.to_owned(), json!(client_id(&context.id)));
    let Some(parts) = parts else { return };
    if !options.forward_headers.is_empty() {
        let names = options.forward_headers.iter().map(String::as_str);
        let headers = forwarded(&parts.headers, names);
        meta.insert(HEADERS_KEY.to_owned(), headers.into());
    }
    if options.forward_caller {
        let caller = parts.extensions.get::<Arc<Caller>>();
        let caller = Caller::to_json(caller.map(|caller| &**caller));
        meta.insert(CALLER_KEY.to_owned(), caller.into());
    }
    if options.forward_certificate
        && let Some(certificate) = parts.extensions.get::<Arc<Certificate>>()
    {
        let certificate = certificate.details().clone();
        meta.insert(CERTIFICATE_KEY.to_owned(), certificate.into());
    }
}

/// Who sends a request, for the headers of remotes.
pub(super) fn caller(context: &RequestContext<RoleServer>) -> Arc<RequestCaller> {
    static NOBODY: LazyLock<Arc<RequestCaller>> =
        LazyLock::new(|| Arc::new(RequestCaller::new(String::new(), || Caller::to_json(None))));
    let parts = context.extensions.get::<Parts>();
    let caller = parts.and_then(|parts| parts.extensions.get::<Arc<Caller>>());
    match caller {
        None => Arc::clone(&NOBODY),
        Some(caller) => {
            let key = hex(caller.owner().as_bytes());
            let caller = Arc::clone(caller);
            let attributes =
                move || Caller::to_json_with(Some(&caller), caller.certificate.as_deref());
            Arc::new(RequestCaller::new(key, attributes))
        }
    }
}

/// The session that an HTTP request names. Requests since 2026-07-28 have none.
pub(super) fn session_header(context: &RequestContext<RoleServer>, era: Era) -> Option<&str> {
    let parts = context.extensions.get::<Parts>();
    let header = parts?.headers.get(SessionId::HEADER);
    header?.to_str().ok().filter(|_| era == Era::Legacy)
}

/// The id of the session, which [`set`] has written. None for requests without one.
pub(super) fn session(meta: &JsonObject) -> Option<&str> {
    let id = meta.get(SESSION_KEY)?.as_str()?;
    (!id.is_empty()).then_some(id)
}

/// The headers with these names. Several values of one header are joined by commas.
pub(crate) fn forwarded<'n>(
    headers: &HeaderMap,
    names: impl Iterator<Item = &'n str>,
) -> JsonObject {
    let mut all = JsonObject::new();
    for name in names {
        let values: Vec<_> = headers
            .get_all(name)
            .into_iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        if !values.is_empty() {
            all.insert(name.to_ascii_lowercase(), Value::from(values.join(", ")));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_the_named_headers_only() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("x-a", "1"), ("x-a", "2"), ("x-b", "3")] {
            headers.append(name, value.parse().expect("a value"));
        }
        let names = ["X-A", "x-c"].into_iter();
        let expected = json!({ "x-a": "1, 2" });
        assert_eq!(Value::from(forwarded(&headers, names)), expected);
    }

    #[test]
    fn clients_cannot_set_the_servers_keys() {
        let mut meta = json!({ "mcp-servlet/session": "x", "mcp-servlet/y": 1, "mcp-servlets": 2, "baggage": "a=b" }).as_object().cloned().expect("an object");
        strip(&mut meta);
        assert_eq!(Value::from(meta), json!({ "mcp-servlets": 2 }));
    }
}
