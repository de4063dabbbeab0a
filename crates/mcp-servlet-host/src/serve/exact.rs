//! Sends what servlets wrote, not what rmcp's types keep of it.
//!
//! rmcp's types drop fields that they do not know. Its handlers and transports still decide everything about the
//! protocol: the servlet's JSON travels through them as one entry of a typed result's `_meta`, and takes that
//! result's place at the edge, under the fields that the protocol has added on the way.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer, Service,
    model::{
        CallToolResult, ClientNotification, ClientRequest, CompleteResult, CustomResult,
        GetPromptResult, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, MetaObject, ProtocolVersion, ReadResourceResult,
        ServerConfig, ServerResult,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;

use super::Server;
use crate::JsonObject;

/// The entry of `_meta` that holds the JSON, inside this process only.
const CARRIED: &str = "mcp-servlet-host/exact";

/// A typed result that can carry JSON which its type cannot say.
pub(super) trait Carrier {
    /// A result of nothing else.
    fn empty() -> Self;

    /// Where `_meta` is.
    fn meta(&mut self) -> &mut Option<MetaObject>;
}

macro_rules! carriers {
    ($($result:ty = $empty:expr),+ $(,)?) => {$(
        impl Carrier for $result {
            fn empty() -> Self {
                $empty
            }

            fn meta(&mut self) -> &mut Option<MetaObject> {
                &mut self.meta
            }
        }
    )+};
}

carriers! {
    CallToolResult = Self::default(),
    CompleteResult = Self::default(),
    GetPromptResult = Self::default(),
    InputRequiredResult = Self::new(None, None),
    ListPromptsResult = Self::default(),
    ListResourceTemplatesResult = Self::default(),
    ListResourcesResult = Self::default(),
    ListToolsResult = Self::default(),
    ReadResourceResult = Self::new(Vec::new()),
}

/// A typed result that reaches the client as this JSON.
pub(super) fn carry<T: Carrier>(json: JsonObject) -> T {
    let mut result = T::empty();
    let carried = JsonObject::from_iter([(CARRIED.to_owned(), Value::Object(json))]);
    *result.meta() = Some(MetaObject(carried));
    result
}

/// Puts the carried JSON in place of the result that carried it. False if there is none.
fn unload(result: &mut JsonObject) -> bool {
    let Some(Value::Object(meta)) = result.get_mut("_meta") else {
        return false;
    };
    let Some(Value::Object(carried)) = meta.shift_remove(CARRIED) else {
        return false;
    };
    result.shift_remove("_meta");
    let typed = std::mem::replace(result, carried);
    for (key, value) in typed {
        result.entry(key).or_insert(value);
    }
    true
}

/// The same for a whole message of JSON-RPC as text. None if it carries nothing.
pub(super) fn unload_text(message: &str) -> Option<String> {
    if !message.contains(CARRIED) {
        return None;
    }
    let mut message: JsonObject = serde_json::from_str(message).ok()?;
    let Some(Value::Object(result)) = message.get_mut("result") else {
        return None;
    };
    unload(result).then(|| Value::Object(message).to_string())
}

/// A service whose results are unloaded before they reach the transport.
pub(super) struct Exact<H> {
    server: Server,
    inner: H,
}

impl<H: Service<RoleServer>> Exact<H> {
    pub(super) fn new(server: Server, inner: H) -> Self {
        Self { server, inner }
    }
}

impl<H: Service<RoleServer>> Service<RoleServer> for Exact<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let _active = self.server.0.active.begin();
        let result = self.inner.handle_request(request, context).await?;
        exact(result)
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        self.inner.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }
}

fn exact(result: ServerResult) -> Result<ServerResult, ErrorData> {
    let json = serde_json::to_value(&result);
    let json = json.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    if let Value::Object(mut json) = json
        && unload(&mut json)
    {
        let exact = CustomResult::new(Value::Object(json));
        return Ok(ServerResult::CustomResult(exact));
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_takes_the_place_of_what_carried_it() {
        let json = json!({ "content": [{ "type": "hologram" }], "vendor": 1, "_meta": { "k": 1 } });
        let Value::Object(object) = json.clone() else {
            unreachable!("it is written as one")
        };
        let typed: CallToolResult = carry(object);
        let message = json!({ "jsonrpc": "2.0", "id": "a", "result": typed });
        let text = unload_text(&message.to_string()).expect("a message with something in it");
        let unloaded: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(unloaded["id"], "a");
        for field in ["content", "vendor", "_meta"] {
            assert_eq!(unloaded["result"][field], json[field]);
        }
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        let quoted = json!({ "result": { "content": [{ "text": CARRIED }] } });
        let wrong = json!({ "result": { "_meta": { CARRIED: 1 } } });
        for message in [quoted, wrong, json!({ "result": CARRIED }), json!({})] {
            assert_eq!(unload_text(&message.to_string()), None);
        }
    }
}
