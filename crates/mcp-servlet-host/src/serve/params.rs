//! Requests that rmcp could not read as what they say they are.

#![expect(deprecated, reason = "clients still set log levels")]

use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CancelledNotificationParam, CompleteRequestParams, CustomRequest,
        ErrorCode, GetPromptRequestParams, InitializeRequestParams, PaginatedRequestParams,
        ReadResourceRequestParams, SetLevelRequestParams, SubscribeRequestParams,
        SubscriptionsListenRequestParams, UnsubscribeRequestParams,
    },
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::era::Era;

/// What MCP has no more since 2026-07-28.
const REMOVED: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// What is wrong with a request that has fallen through: its method, or its params.
pub(super) fn refuse(request: CustomRequest, era: Era) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    if era == Era::Modern && REMOVED.contains(&&*method) {
        return unknown_method(&method);
    }
    let params = params.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let problem = match &*method {
        "initialize" => problem::<InitializeRequestParams>(params),
        "tools/call" => problem::<CallToolRequestParams>(params),
        "prompts/get" => problem::<GetPromptRequestParams>(params),
        "resources/read" => problem::<ReadResourceRequestParams>(params),
        "resources/subscribe" => problem::<SubscribeRequestParams>(params),
        "resources/unsubscribe" => problem::<UnsubscribeRequestParams>(params),
        "subscriptions/listen" => problem::<SubscriptionsListenRequestParams>(params),
        "completion/complete" => problem::<CompleteRequestParams>(params),
        "logging/setLevel" => problem::<SetLevelRequestParams>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            problem::<PaginatedRequestParams>(params)
        }
        "notifications/cancelled" => problem::<CancelledNotificationParam>(params),
        "ping" | "server/discover" => "they are no object".to_owned(),
        _ => return unknown_method(&method),
    };
    ErrorData::invalid_params(format!("wrong params of `{method}`: {problem}"), None)
}

pub(super) fn unknown_method(method: &str) -> ErrorData {
    let message = format!("unknown method `{method}`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn problem<T: DeserializeOwned>(params: Value) -> String {
    if !params.is_object() {
        return "they are no object".to_owned();
    }
    let error = serde_json::from_value::<T>(params).err();
    error.map_or_else(|| "they cannot be read".into(), |error| error.to_string())
}
