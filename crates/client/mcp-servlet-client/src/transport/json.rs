//! Messages as JSON.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomRequest, GetMeta as _, JsonObject, RequestId,
};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// A message as JSON.
///
/// rmcp copies the parameters of a message several times while it writes them. Those of a call can be large, so requests of
/// this crate, which are custom ones to rmcp, are written without copies. Other messages become a `Value` first: rmcp's HTTP
/// transport contains that code anyway, so it is not compiled for another serializer.
pub(super) fn to_json(message: &ClientJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    if let ClientJsonRpcMessage::Request(request) = message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && let Some(params) = Params::of(custom)
    {
        return serde_json::to_vec(&Request {
            jsonrpc: "2.0",
            id: &request.id,
            method: &custom.method,
            params,
        });
    }
    serde_json::to_vec(&serde_json::to_value(message)?)
}

#[derive(serde::Serialize)]
struct Request<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    method: &'a str,
    params: Params<'a>,
}

/// The parameters of a request, with the `_meta` of rmcp, which at least has a progress token.
struct Params<'a> {
    members: &'a JsonObject,
    meta: &'a JsonObject,
}

impl<'a> Params<'a> {
    /// None if they have a `_meta` of their own, which would have to be merged.
    fn of(request: &'a CustomRequest) -> Option<Self> {
        let members = request.params.as_ref()?.as_object()?;
        let meta = request.get_meta();
        (!members.contains_key("_meta")).then_some(Self { members, meta })
    }
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.meta.is_empty() {
            map.serialize_entry("_meta", self.meta)?;
        }
        for (name, value) in self.members {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ClientNotification, ClientResult, GetMeta as _, ProgressToken};
    use serde_json::{Value, json};

    use super::*;

    /// A request with a progress token, which rmcp adds to each.
    fn request(params: Option<Value>) -> ClientJsonRpcMessage {
        let mut request = CustomRequest::new("tools/call", params);
        let token = ProgressToken(RequestId::Number(3));
        request.get_meta_mut().set_progress_token(token);
        ClientJsonRpcMessage::request(request.into(), RequestId::Number(7))
    }

    #[test]
    fn messages_are_what_rmcp_writes() {
        let initialized: ClientNotification = serde_json::from_value(json!({
            "method": "notifications/initialized",
        }))
        .expect("a notification");
        for message in [
            request(Some(
                json!({ "name": "greet", "arguments": { "z": 1, "a": [0.1, "ü"] } }),
            )),
            request(Some(json!({}))),
            request(Some(
                json!({ "name": "greet", "_meta": { "own": true, "progressToken": 1 } }),
            )),
            request(None),
            ClientJsonRpcMessage::notification(initialized),
            ClientJsonRpcMessage::response(ClientResult::empty(()), RequestId::Number(1)),
        ] {
            let written = to_json(&message).expect("JSON");
            let expected = serde_json::to_vec(&message).expect("JSON");
            let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
            assert_eq!(text(written), text(expected));
        }
    }
}
