//! Requests whose method or parameters rmcp cannot read.

#![expect(deprecated, reason = "clients still set log levels")]

use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CancelTaskParams, CancelledNotificationParam, CompleteRequestParams,
        CustomRequest, ErrorCode, GetPromptRequestParams, GetTaskParams, InitializeRequestParams,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, RequestMetaObject,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionsListenRequestParams,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::era::Era;

/// Methods that 2026-07-28 removed.
const REMOVED: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// Checks that rmcp omits. It ignores params that are not an object, ignores invalid params of
/// lists, and accepts requests of either era until it knows the client's.
pub(crate) fn check(method: &str, params: Option<&str>) -> Option<ErrorData> {
    let params = params.unwrap_or("{}");
    let wrong = |problem: &str| Some(wrong(method, problem));
    if !params.starts_with('{') {
        return wrong("expected an object");
    }
    let meta = match serde_json::from_str(params) {
        Ok(Params { meta }) => meta.map_or("{}", RawValue::get),
        Err(error) => return wrong(&error.to_string()),
    };
    if !meta.starts_with('{') {
        return wrong("expected an object in `_meta`");
    }
    let problem = match method {
        _ if REMOVED.contains(&method) && is_modern(meta) => return Some(unknown_method(method)),
        "initialize" => error::<InitializeRequestParams>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            error::<PaginatedRequestParams>(params)
        }
        _ => None,
    };
    problem.and_then(|problem| wrong(&problem))
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(rename = "_meta", borrow)]
    meta: Option<&'a RawValue>,
}

/// Whether this is the `_meta` of a request since 2026-07-28.
fn is_modern(meta: &str) -> bool {
    let meta: Result<RequestMetaObject, _> = serde_json::from_str(meta);
    let version = meta.ok().and_then(|meta| meta.protocol_version());
    // Protocol versions are dates, so they compare as strings.
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn error<T: DeserializeOwned>(params: &str) -> Option<String> {
    let read: Result<T, _> = serde_json::from_str::<Value>(params).and_then(serde_json::from_value);
    read.err().map(|error| error.to_string())
}

fn wrong(method: &str, problem: &str) -> ErrorData {
    ErrorData::invalid_params(format!("invalid params of `{method}`: {problem}"), None)
}

/// Explains why rmcp could not read a request: the method is unknown, or its params are invalid.
pub(crate) fn refuse(request: CustomRequest, era: Era) -> ErrorData {
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
        "tasks/get" => problem::<GetTaskParams>(params),
        "tasks/update" => problem::<UpdateTaskParams>(params),
        "tasks/cancel" => problem::<CancelTaskParams>(params),
        "notifications/cancelled" => problem::<CancelledNotificationParam>(params),
        "ping" | "server/discover" => "expected an object".to_owned(),
        _ => return unknown_method(&method),
    };
    wrong(&method, &problem)
}

pub(crate) fn unknown_method(method: &str) -> ErrorData {
    let message = format!("unknown method `{method}`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn problem<T: DeserializeOwned>(params: Value) -> String {
    if !params.is_object() {
        return "expected an object".to_owned();
    }
    let error = serde_json::from_value::<T>(params).err();
    error.map_or_else(|| "invalid value".into(), |error| error.to_string())
}
