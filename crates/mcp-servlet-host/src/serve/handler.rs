//! What rmcp asks of a server, answered by a [`Host`].

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
        ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;

use super::exact::Json;
use crate::{CallError, Fault, Host};

/// The server side of one connection.
pub(super) struct Handler {
    host: Arc<Host>,
}

impl Handler {
    pub(super) fn new(host: Arc<Host>) -> Self {
        Self { host }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(rmcp::model::ToolsCapability::default());
        let config = ServerConfig::new(capabilities).with_server_info(implementation(&self.host));
        match instructions(&self.host) {
            Some(text) => config.with_instructions(text),
            None => config,
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self
            .host
            .tools()
            .map(|tool| Value::Object(tool.json().clone()));
        Json::put(
            &context,
            [("tools".to_owned(), tools.collect())]
                .into_iter()
                .collect(),
        );
        Ok(ListToolsResult::default())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let host = Arc::clone(&self.host);
        let call = move || host.call(&request.name, request.arguments.as_ref());
        let result = tokio::task::spawn_blocking(call).await;
        let result = result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let result = result.map_err(|error| {
            tracing::warn!(%error, "call");
            protocol_error(&error)
        })?;
        if result.result_type() != "complete" {
            let message = format!(
                "this host does not pass on results of type `{}`",
                result.result_type()
            );
            return Err(ErrorData::internal_error(message, None));
        }
        let mut json = result.into_json();
        // Whether the client is told, its protocol decides.
        json.shift_remove("resultType");
        Json::put(&context, json);
        let mut typed = CallToolResult::success(Vec::new());
        typed.is_error = None;
        Ok(typed.into())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let json = self.host.tool(name)?.json().clone();
        serde_json::from_value(json.into()).ok()
    }

    /// What rmcp could not read as a request it knows, `tools/call` without a name among them.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            let message = format!("unknown method `{}`", request.method);
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
        let params = request.params.unwrap_or_default();
        let problem = serde_json::from_value::<CallToolRequestParams>(params).err();
        let problem =
            problem.map_or_else(|| "they cannot be read".into(), |error| error.to_string());
        Err(ErrorData::invalid_params(
            format!("wrong params of `tools/call`: {problem}"),
            None,
        ))
    }
}

fn protocol_error(error: &CallError) -> ErrorData {
    let Fault {
        code,
        message,
        data,
    } = error.to_fault();
    ErrorData::new(ErrorCode(code), message, data)
}

/// A single servlet speaks for itself; several are introduced by the host.
fn implementation(host: &Host) -> Implementation {
    if let [servlet] = host.servlets() {
        let info = servlet.server_info().cloned().map(Value::from);
        return info
            .and_then(|info| serde_json::from_value(info).ok())
            .unwrap_or_else(|| Implementation::new(servlet.name(), "0.0.0"));
    }
    Implementation::new("mcp-servlet", env!("CARGO_PKG_VERSION"))
}

fn instructions(host: &Host) -> Option<String> {
    let texts: Vec<_> = host
        .servlets()
        .iter()
        .filter_map(|servlet| servlet.instructions())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
