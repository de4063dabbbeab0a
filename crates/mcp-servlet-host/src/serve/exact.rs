//! Sends what servlets wrote, not what rmcp's types keep of it.
//!
//! rmcp's types drop fields that they do not know. Its handler still decides everything about the protocol; at the
//! end the servlet's JSON takes the place of the typed result, under the fields that the protocol adds.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use rmcp::{
    ErrorData, RoleServer, Service,
    model::{
        ClientNotification, ClientRequest, CustomResult, ProtocolVersion, ServerConfig,
        ServerResult,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;

use crate::JsonObject;

/// Where a handler leaves the JSON of its result.
#[derive(Clone, Default)]
pub(super) struct Json(Arc<OnceLock<JsonObject>>);

impl Json {
    /// Leaves the JSON that the client shall get.
    pub(super) fn put(context: &RequestContext<RoleServer>, json: JsonObject) {
        if let Some(Self(slot)) = context.extensions.get() {
            // A request has one result; were there two, the first would stay.
            let _ = slot.set(json);
        }
    }
}

/// A service whose results carry JSON that its types cannot.
pub(super) struct Exact<H> {
    inner: H,
}

impl<H: Service<RoleServer>> Exact<H> {
    pub(super) fn new(inner: H) -> Self {
        Self { inner }
    }
}

impl<H: Service<RoleServer>> Service<RoleServer> for Exact<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let slot = Json::default();
        context.extensions.insert(slot.clone());
        let result = self.inner.handle_request(request, context).await?;
        match slot.0.get() {
            Some(json) => exact(&result, json),
            None => Ok(result),
        }
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

/// The servlet's JSON, and what only the typed result has.
fn exact(typed: &ServerResult, json: &JsonObject) -> Result<ServerResult, ErrorData> {
    let typed = serde_json::to_value(typed)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let mut result = json.clone();
    if let Value::Object(typed) = typed {
        for (key, value) in typed {
            result.entry(key).or_insert(value);
        }
    }
    Ok(ServerResult::CustomResult(CustomResult::new(
        Value::Object(result),
    )))
}
