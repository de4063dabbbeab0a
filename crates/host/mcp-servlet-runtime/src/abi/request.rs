//! The parts of a request other than its parameters, as servlets get them.

use mcp_servlet_call::{JsonObject, RequestMeta};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::json;

/// The key in `_meta` under which servlets for hyper-mcp get their state back.
const STATE: &str = "mcp-servlet/requestState";

/// The context that servlets for hyper-mcp get with a request. `_meta` is its only part with
/// room for answers. Their key also tells a servlet that its result may contain input requests.
/// Servlets that use `mcp-servlet` read it; others call a function.
pub(super) fn context(request_meta: &RequestMeta) -> JsonObject {
    let mut meta = request_meta.meta.clone().unwrap_or_default();
    let responses = request_meta.input_responses.clone().unwrap_or_default();
    meta.insert("mcp-servlet/inputResponses".to_owned(), responses.into());
    // A client could write anything here, so only state that the host has opened is passed on.
    meta.shift_remove(STATE);
    if let Some(state) = &request_meta.request_state {
        meta.insert(STATE.to_owned(), state.clone().into());
    }
    let id = request_meta.id.clone().unwrap_or_else(|| json!(0));
    JsonObject::from_iter([("id".to_owned(), id), ("_meta".to_owned(), meta.into())])
}

/// The parameters of a request with its other parts, serialized without building a new object.
pub(super) struct WithMeta<'a>(pub(super) &'a JsonObject, pub(super) &'a RequestMeta);

impl Serialize for WithMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(params, request_meta) = self;
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in *params {
            map.serialize_entry(name, value)?;
        }
        if let Some(responses) = &request_meta.input_responses {
            map.serialize_entry("inputResponses", responses)?;
        }
        if let Some(state) = &request_meta.request_state {
            map.serialize_entry("requestState", state)?;
        }
        if let Some(meta) = &request_meta.meta {
            map.serialize_entry("_meta", meta)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_no_state_from_the_meta_of_a_client() {
        let mut request_meta = RequestMeta::default();
        request_meta.meta = json!({ STATE: "forged", "other": 1 }).as_object().cloned();
        assert_eq!(context(&request_meta)["_meta"].get(STATE), None);
        assert_eq!(context(&request_meta)["_meta"]["other"], 1);
        request_meta.request_state = Some("opened".to_owned());
        assert_eq!(context(&request_meta)["_meta"][STATE], "opened");
    }
}
