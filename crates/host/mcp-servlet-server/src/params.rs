//! Requests whose method or parameters rmcp cannot read.

#![expect(deprecated, reason = "clients still set log levels")]

use std::{collections::HashSet, fmt};

use mcp_servlet_call::RpcError;
use mcp_servlet_common::json_problem;
use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, CancelledNotificationParam, CompleteRequestParams,
    CustomRequest, GetPromptRequestParams, GetTaskParams, InitializeRequestParams,
    PaginatedRequestParams, ReadResourceRequestParams, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
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

/// The parameters that the server reads before rmcp does.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'a> {
    #[serde(rename = "_meta", borrow)]
    pub(crate) meta: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    /// The id in a cancellation.
    #[serde(borrow)]
    pub(crate) request_id: Option<&'a RawValue>,
}

/// The members of `_meta` that the server reads before rmcp does.
#[derive(Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(rename = "progressToken", borrow)]
    pub(crate) token: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow)]
    version: Option<&'a RawValue>,
}

impl<'a> Meta<'a> {
    /// Reads an object. One with members twice counts as empty.
    pub(crate) fn read(meta: &'a str) -> Self {
        serde_json::from_str(meta).unwrap_or_default()
    }

    /// Whether it names a protocol version. rmcp then answers the request outside of any session.
    pub(crate) fn names_version(&self) -> bool {
        self.version.is_some()
    }

    /// Whether this is the `_meta` of a request since 2026-07-28.
    pub(crate) fn is_modern(&self) -> bool {
        let version: Option<String> = self
            .version
            .map(RawValue::get)
            .and_then(|json| serde_json::from_str(json).ok());
        version.is_some_and(|version| Era::of_version(&version) == Era::Modern)
    }
}

/// Checks that rmcp omits. It ignores params that are not an object, ignores invalid params of
/// lists, and accepts requests of either era until it knows the client's.
pub(crate) fn check_params<'a>(method: &str, params: &'a str) -> Result<Params<'a>, RpcError> {
    let wrong = |problem: &str| Err(wrong(method, problem));
    if !params.starts_with('{') {
        return wrong("expected an object");
    }
    let Ok(read) = serde_json::from_str::<Params<'_>>(params) else {
        return wrong(&problem_in::<Params<'_>>(params).unwrap_or_default());
    };
    let arguments = read.arguments.map_or("{}", RawValue::get);
    if let Some(name) = duplicate_name(arguments) {
        return wrong(&format!("`arguments` has `{name}` twice"));
    }
    let meta = read.meta.map_or("{}", RawValue::get);
    if is_empty_array(meta) {
        return Ok(read);
    }
    if !meta.starts_with('{') {
        return wrong("expected an object in `_meta`");
    }
    if let Some(name) = duplicate_name(meta) {
        return wrong(&format!("`_meta` has `{name}` twice"));
    }
    let problem = match method {
        _ if REMOVED.contains(&method) && Meta::read(meta).is_modern() => {
            return Err(unknown_method(method));
        }
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            problem_in::<PaginatedRequestParams>(params)
        }
        _ => None,
    };
    match problem {
        Some(problem) => wrong(&problem),
        None => Ok(read),
    }
}

/// The name that occurs twice in an object of this JSON. Rules, schemas, rmcp and servlets could read different ones of its values.
fn duplicate_name(json: &str) -> Option<String> {
    let mut found = None;
    // Reading the arguments reports other errors.
    let _ = DuplicateNames(&mut found).deserialize(&mut serde_json::Deserializer::from_str(json));
    found
}

/// Stores the first name that occurs twice.
struct DuplicateNames<'f>(&'f mut Option<String>);

impl<'de> DeserializeSeed<'de> for DuplicateNames<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DuplicateNames<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if names.contains(&name) {
                *self.0 = Some(name);
                return Err(A::Error::custom("a name is there twice"));
            }
            names.insert(name);
            members.next_value_seed(DuplicateNames(self.0))?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(DuplicateNames(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Whether this JSON is `[]`, as PHP writes an empty object.
pub(crate) fn is_empty_array(json: &str) -> bool {
    json.strip_prefix('[')
        .is_some_and(|rest| rest.trim_ascii_start() == "]")
}

/// What is wrong with a text that should be a `T`.
pub(crate) fn problem_in<'de, T: Deserialize<'de>>(text: &'de str) -> Option<String> {
    json_problem::<T, _>(&mut serde_json::Deserializer::from_str(text))
}

pub(crate) fn wrong(method: &str, problem: &str) -> RpcError {
    let message = format!("invalid params of `{method}`: {problem}");
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

/// Explains why rmcp could not read a request: the method is unknown, or its params are invalid.
pub(crate) fn refuse(request: CustomRequest, era: Era) -> RpcError {
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

pub(crate) fn unknown_method(method: &str) -> RpcError {
    let message = format!("unknown method `{method}`");
    RpcError::new(RpcError::METHOD_NOT_FOUND, message)
}

fn problem<T: DeserializeOwned>(params: Value) -> String {
    if !params.is_object() {
        return "expected an object".to_owned();
    }
    json_problem::<T, _>(params).unwrap_or_else(|| "invalid value".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_problem<T: for<'de> Deserialize<'de>>(json: Value, expected: &str) {
        assert_eq!(json_problem::<T, _>(json).as_deref(), Some(expected));
    }

    type Complete = CompleteRequestParams;

    #[test]
    fn problems_name_the_member_and_no_type_of_rust() {
        let complete =
            |reference: Value, argument: Value| json!({ "ref": reference, "argument": argument });
        let prompt = || json!({ "type": "ref/prompt", "name": "p" });
        check_problem::<Complete>(json!({}), "`ref` is missing");
        check_problem::<Complete>(
            complete(json!(5), json!({})),
            "expected an object in `ref`, found a number",
        );
        check_problem::<Complete>(
            complete(json!({ "type": "ref/x" }), json!({})),
            "expected `ref/resource` or `ref/prompt` in `ref.type`, found `ref/x`",
        );
        check_problem::<Complete>(
            complete(json!({ "type": "ref/resource" }), json!({})),
            "`ref.uri` is missing",
        );
        check_problem::<Complete>(
            complete(prompt(), json!("a")),
            "expected an object in `argument`, found a string",
        );
        check_problem::<Complete>(
            complete(prompt(), json!({ "name": "a", "value": null })),
            "expected a string in `argument.value`, found null",
        );
        check_problem::<SubscriptionsListenRequestParams>(
            json!({ "notifications": true }),
            "expected an object in `notifications`, found a boolean",
        );
        let info = json!({ "name": "c", "version": "1", "icons": [{ "src": "a" }, 5] });
        check_problem::<InitializeRequestParams>(
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
            "expected an object in `clientInfo.icons[1]`, found a number",
        );
    }
}
