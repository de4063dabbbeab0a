//! Sends the JSON of servlets unchanged.
//!
//! rmcp's types drop fields that they do not know, but its handlers and transports still run the
//! protocol. So the servlet's JSON travels through them as one entry of `_meta` in a typed result.
//! At the transport, that JSON replaces the result; fields that the protocol has added on the way
//! are kept.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use mcp_servlet_call::JsonObject;
use rmcp::model::{
    CallToolResult, CompleteResult, CreateTaskResult, DetailedTask, GetPromptResult, GetTaskResult,
    InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, MetaObject, ReadResourceResult, Task, TaskPayload,
};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use crate::own_id;

/// The `_meta` key of that JSON. It never leaves this process.
const RAW_JSON: &str = "mcp-servlet-host/passthrough";

/// A typed result that can contain JSON that its type cannot represent.
pub(crate) trait Passthrough {
    /// A result without any content.
    fn empty() -> Self;

    /// The `_meta` of the result.
    fn meta(&mut self) -> &mut Option<MetaObject>;
}

macro_rules! impl_passthrough {
    ($($result:ty = $empty:expr),+ $(,)?) => {$(
        impl Passthrough for $result {
            fn empty() -> Self {
                $empty
            }

            fn meta(&mut self) -> &mut Option<MetaObject> {
                &mut self.meta
            }
        }
    )+};
}

impl_passthrough! {
    CallToolResult = Self::default(),
    CompleteResult = Self::default(),
    CreateTaskResult = Self::new(Task::default()),
    GetPromptResult = Self::default(),
    GetTaskResult = Self::new(DetailedTask::new(Task::default(), TaskPayload::Working)),
    InputRequiredResult = Self::new(None, None),
    ListPromptsResult = Self::default(),
    ListResourceTemplatesResult = Self::default(),
    ListResourcesResult = Self::default(),
    ListToolsResult = Self::default(),
    ReadResourceResult = Self::new(Vec::new()),
}

/// A typed result that reaches the client as this JSON.
pub(crate) fn passthrough<T: Passthrough>(json: JsonObject) -> T {
    let mut result = T::empty();
    let raw = JsonObject::from_iter([(RAW_JSON.to_owned(), Value::Object(json))]);
    *result.meta() = Some(MetaObject(raw));
    result
}

/// A JSON-RPC response whose result contains JSON.
#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    jsonrpc: &'a RawValue,
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    result: RawResult<'a>,
}

/// A typed result that contains JSON.
struct RawResult<'a> {
    json: &'a RawValue,
    /// Its members other than `_meta`.
    others: Members<'a>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "mcp-servlet-host/passthrough")]
    json: &'a RawValue,
}

/// The members of an object, as raw JSON.
type Members<'a> = BTreeMap<String, &'a RawValue>;

impl<'de: 'a, 'a> Deserialize<'de> for RawResult<'a> {
    fn deserialize<D: Deserializer<'de>>(result: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = RawResult<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a result that contains JSON")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawResult<'de>, A::Error> {
                let mut json = None;
                let mut others = Members::new();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "_meta" {
                        json = Some(map.next_value::<Meta<'_>>()?.json);
                    } else {
                        others.insert(key, map.next_value()?);
                    }
                }
                let json = json.ok_or_else(|| A::Error::missing_field("_meta"))?;
                Ok(RawResult { json, others })
            }
        }

        result.deserialize_map(Reader)
    }
}

/// A message in the form in which the client gets it: with the JSON that a result contains, and with the client's ids. None if it
/// stays as it is.
pub(crate) fn outgoing(message: &str) -> Option<String> {
    splice_raw_result(message).or_else(|| with_client_ids(message))
}

/// Replaces a result with the JSON that it contains, in a whole message. None if it contains none.
///
/// Members are copied as raw text and not parsed, because the JSON may be large.
fn splice_raw_result(message: &str) -> Option<String> {
    if !message.contains(RAW_JSON) {
        return None;
    }
    let response: Response<'_> = serde_json::from_str(message).ok()?;
    let Response {
        jsonrpc,
        id,
        result,
    } = response;
    let result = merge(result.json.get(), &result.others)?;
    let id = own_id::client_json(id.get()).map_or(Cow::Borrowed(id.get()), Cow::Owned);
    Some(format!(
        r#"{{"jsonrpc":{jsonrpc},"id":{id},"result":{result}}}"#
    ))
}

/// Replaces our id of a response, or our token of a progress notification. None if it has none.
fn with_client_ids(message: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
        #[serde(borrow)]
        params: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Progress<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
    }
    if !message.contains(own_id::MARK) {
        return None;
    }
    let Message { id, params } = serde_json::from_str(message).ok()?;
    let token = || {
        let progress: Progress<'_> = serde_json::from_str(params?.get()).ok()?;
        Some(progress.progress_token)
    };
    let own = id.or_else(token)?.get();
    let client = own_id::client_json(own)?;
    let start = own.as_ptr().addr() - message.as_ptr().addr();
    Some([&message[..start], &client, &message[start + own.len()..]].concat())
}

/// A response in the form in which the client gets it. Returns `None` for requests and notifications.
pub(crate) fn response(message: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        method: Option<IgnoredAny>,
    }
    if let Some(spliced) = splice_raw_result(message) {
        return Some(spliced);
    }
    let head: Head = serde_json::from_str(message).ok()?;
    let is_response = head.method.is_none();
    is_response.then(|| with_client_ids(message).unwrap_or_else(|| message.to_owned()))
}

/// Adds members of `others` that the object does not have.
fn merge(object: &str, others: &Members<'_>) -> Option<String> {
    let own: Members<'_> = serde_json::from_str(object).ok()?;
    let mut merged = object.strip_suffix('}')?.to_owned();
    let mut is_empty = own.is_empty();
    for (key, value) in others.iter().filter(|(key, _)| !own.contains_key(*key)) {
        if !std::mem::take(&mut is_empty) {
            merged.push(',');
        }
        merged.push_str(&Value::from(key.as_str()).to_string());
        merged.push(':');
        merged.push_str(value.get());
    }
    merged.push('}');
    Some(merged)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_replaces_the_typed_result() {
        let json = json!({ "content": [{ "type": "hologram" }], "vendor": 1, "_meta": { "k": 1 } });
        let Value::Object(object) = json.clone() else {
            unreachable!("it is written as one")
        };
        let typed: CallToolResult = passthrough(object);
        let message = json!({ "jsonrpc": "2.0", "id": "a", "result": typed });
        let text = splice_raw_result(&message.to_string()).expect("a message with something in it");
        let spliced: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(spliced["id"], "a");
        for field in ["content", "vendor", "_meta"] {
            assert_eq!(spliced["result"][field], json[field]);
        }
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        let quoted = json!({ "content": [{ "text": RAW_JSON }] });
        let wrong = json!({ "_meta": { RAW_JSON: 1 } });
        for result in [
            quoted,
            wrong,
            json!(RAW_JSON),
            json!({ "_meta": RAW_JSON }),
            json!({}),
        ] {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
            assert_eq!(splice_raw_result(&message.to_string()), None, "{result}");
        }
        assert_eq!(splice_raw_result(&json!([RAW_JSON]).to_string()), None);
    }

    #[test]
    fn appends_protocol_fields_after_the_servlets_fields() {
        for (raw, merged) in [
            ("{}", r#"{"b":[1],"c":"d"}"#),
            (r#"{"c":0.10}"#, r#"{"c":0.10,"b":[1]}"#),
            (r#"{"\u0063":1}"#, r#"{"\u0063":1,"b":[1]}"#),
        ] {
            let result = format!(r#"{{"b":[1],"c":"d","_meta":{{"{RAW_JSON}":{raw}}}}}"#);
            let message = format!(r#"{{"jsonrpc":"2.0","id":"a","result":{result}}}"#);
            let expected = format!(r#"{{"jsonrpc":"2.0","id":"a","result":{merged}}}"#);
            assert_eq!(splice_raw_result(&message), Some(expected));
        }
    }

    #[test]
    fn clients_get_their_own_ids_back() {
        let number = own_id::Number::next();
        for id in ["7", "1.0", r#""a\"""#] {
            let own = number.own_json(id);
            let raw = format!(r#"{{"_meta":{{"{RAW_JSON}":{{"a":1}}}}}}"#);
            for (before, after) in [
                (r#""result":RAW"#, r#""result":{"a":1}"#),
                (r#""result":{}"#, r#""result":{}"#),
                (
                    r#""error":{"code":1,"message":""}"#,
                    r#""error":{"code":1,"message":""}"#,
                ),
            ] {
                let message =
                    format!(r#"{{"jsonrpc":"2.0","id":{own},{before}}}"#).replace("RAW", &raw);
                let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},{after}}}"#);
                assert_eq!(outgoing(&message).as_ref(), Some(&expected));
                assert_eq!(response(&message), Some(expected));
            }
            let progress = |token: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
                )
            };
            assert_eq!(outgoing(&progress(&own)), Some(progress(id)));
            assert_eq!(outgoing(&progress(id)), None);
        }
    }

    #[test]
    fn requests_and_notifications_are_no_responses() {
        let read = |message: &str| response(message);
        for message in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"method":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        ] {
            assert_eq!(read(message).as_deref(), Some(message));
        }
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"_meta":{{"{RAW_JSON}":{{"a":1}}}}}}}}"#
        );
        let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#;
        assert_eq!(read(&message).as_deref(), Some(expected));
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#),
            None
        );
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), None);
    }
}
