//! Where MCP's objects and lists are in a message.
//!
//! A member that is null counts as absent only where these tables say so. Everything else stays as the server or the servlet
//! wrote it: arguments, values in `_meta`, and `default`, `const` and `enum` in schemas.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::JsonObject;

/// What MCP has at a place of a message.
#[derive(Debug)]
pub enum Shape {
    /// Any JSON.
    Value,
    /// An object whose members MCP defines.
    Object(Object),
    /// A list of such values.
    List(&'static Self),
    /// One value, or a list of such values.
    OneOrMore(&'static Self),
    /// An object with names that MCP does not know.
    Map(&'static Self),
    /// What a server can do: an object, or `true` in messages of some servers.
    Capability(Object),
    /// A time in milliseconds.
    Milliseconds,
    /// `public` or `private`.
    CacheScope,
    /// The cursor of the next page.
    Cursor,
}

/// The members of an object that are not just kept.
#[derive(Debug)]
pub struct Object {
    /// Optional members, without anything to mend in them.
    pub optional: &'static [&'static str],
    /// Optional members.
    pub nested: &'static [(&'static str, &'static Shape)],
    /// Members without which the object has no meaning.
    pub required: &'static [(&'static str, &'static Shape)],
    /// Strings without which the object has no meaning, where they are checked by [`Shape::drop_wrong`].
    pub texts: &'static [&'static str],
    /// Lists that are empty if they are null and, only for servers, also if they are missing.
    pub lists: &'static [(&'static str, &'static Shape)],
}

const NONE: Object = Object {
    optional: &[],
    nested: &[],
    required: &[],
    texts: &[],
    lists: &[],
};

static VALUE: Shape = Shape::Value;
static VALUES: Shape = Shape::Map(&VALUE);
static LIST: Shape = Shape::List(&VALUE);
/// A result, a request or a notification without members of its own.
pub static ANY: Shape = object(Object {
    nested: &[("_meta", &VALUES)],
    ..NONE
});

const fn object(object: Object) -> Shape {
    Shape::Object(object)
}

impl Shape {
    /// Drops the optional members that are null. A null list becomes an empty one.
    pub fn drop_nulls(&self, members: &mut JsonObject) {
        match self {
            Self::Object(object) | Self::Capability(object) => object.drop_nulls(members),
            Self::OneOrMore(shape) => shape.drop_nulls(members),
            Self::Map(shape) => {
                for value in members.values_mut() {
                    shape.drop_nulls_in(value);
                }
            }
            _ => {}
        }
    }

    /// Drops the optional members of an entry of a list that have another type than MCP says, and adds their JSON pointers to
    /// `dropped`. Strict clients refuse a whole list because of one of them. Schemas are not checked.
    ///
    /// # Errors
    /// If a string is missing without which the entry has no meaning.
    pub fn drop_wrong(
        &self,
        members: &mut JsonObject,
        dropped: &mut Vec<String>,
    ) -> Result<(), WrongMember> {
        match self {
            Self::Object(object) => object.drop_wrong("", members, dropped),
            _ => Ok(()),
        }
    }

    /// Whether a value has this shape. Drops what is wrong in it.
    fn keep(
        &'static self,
        at: &str,
        value: &mut Value,
        dropped: &mut Vec<String>,
    ) -> Result<bool, WrongMember> {
        match (self, value) {
            _ if std::ptr::eq(self, &raw const SCHEMA) => Ok(true),
            (Self::Object(object), Value::Object(members)) => {
                object.drop_wrong(at, members, dropped)?;
                Ok(true)
            }
            (Self::List(shape), Value::Array(items)) => {
                let is_optional = std::ptr::eq(*shape, &raw const ICON);
                let mut result = Ok(true);
                let mut index = 0;
                items.retain_mut(|item| {
                    let at = format!("{at}/{index}");
                    index += 1;
                    match shape.keep(&at, item, dropped) {
                        Ok(true) => return true,
                        Err(wrong) if !is_optional => result = Err(wrong),
                        Ok(false) if !is_optional => result = Err(WrongMember::new(at)),
                        _ => dropped.push(at),
                    }
                    false
                });
                result
            }
            (Self::Map(_), Value::Object(_)) | (Self::Value, _) => Ok(true),
            _ => Ok(false),
        }
    }

    fn drop_nulls_in(&self, value: &mut Value) {
        match (self, value) {
            (_, Value::Object(members)) => self.drop_nulls(members),
            (Self::List(shape) | Self::OneOrMore(shape), Value::Array(items)) => {
                for item in items {
                    shape.drop_nulls_in(item);
                }
            }
            _ => {}
        }
    }
}

/// A member without which an entry has no meaning is missing, or has another type.
#[derive(Debug, PartialEq, Eq)]
pub struct WrongMember {
    /// The JSON pointer to it.
    pub at: String,
}

impl WrongMember {
    fn new(at: String) -> Self {
        Self { at }
    }
}

/// Whether an optional member without anything to mend in it has the type that MCP says.
fn has_type(name: &str, value: &Value) -> bool {
    let is_one_of =
        |value: &Value, known: &[&str]| value.as_str().is_some_and(|text| known.contains(&text));
    let all = |is_right: &dyn Fn(&Value) -> bool| {
        let items = value.as_array();
        items.is_some_and(|items| items.iter().all(is_right))
    };
    match name {
        "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint" | "required" => {
            value.is_boolean()
        }
        // In JSON Schema, `1e10` is an integer, too.
        "size" => value.as_f64().is_some_and(|size| size.fract() == 0.0),
        "priority" => value
            .as_f64()
            .is_some_and(|part| (0.0..=1.0).contains(&part)),
        "audience" => all(&|item| is_one_of(item, &["assistant", "user"])),
        "sizes" => all(&Value::is_string),
        "taskSupport" => is_one_of(value, &["forbidden", "optional", "required"]),
        "theme" => is_one_of(value, &["dark", "light"]),
        _ => value.is_string(),
    }
}

impl Object {
    fn drop_wrong(
        &self,
        at: &str,
        members: &mut JsonObject,
        dropped: &mut Vec<String>,
    ) -> Result<(), WrongMember> {
        for name in self.texts {
            if !members.get(*name).is_some_and(Value::is_string) {
                return Err(WrongMember::new(format!("{at}/{name}")));
            }
        }
        let mut result = Ok(());
        members.retain(|name, value| {
            let at = format!("{at}/{name}");
            let nested = self.nested.iter().find(|(known, _)| known == name);
            let is_right = match nested {
                Some((_, shape)) => shape.keep(&at, value, dropped),
                None => Ok(!self.optional.contains(&name.as_str()) || has_type(name, value)),
            };
            match is_right {
                Ok(true) => return true,
                Ok(false) => dropped.push(at),
                Err(wrong) => result = Err(wrong),
            }
            false
        });
        result
    }

    fn drop_nulls(&self, members: &mut JsonObject) {
        members.retain(|name, value| {
            let find = |members: &[(&str, &'static Shape)]| {
                let found = members.iter().find(|(known, _)| known == name);
                found.map(|(_, shape)| *shape)
            };
            let (nested, list) = (find(self.nested), find(self.lists));
            if value.is_null() {
                if list.is_some() {
                    *value = json!([]);
                }
                return nested.is_none() && !self.optional.contains(&name.as_str());
            }
            if let Some(shape) = nested.or(list).or_else(|| find(self.required)) {
                shape.drop_nulls_in(value);
            }
            true
        });
    }
}

/// Drops the optional members of a result that are null, as [`Shape::drop_nulls`] does. It keeps null as structured content.
pub fn drop_nulls(method: &str, result: &mut JsonObject) {
    let result_type = result.get("resultType").and_then(Value::as_str);
    of_type(method, true, result_type).drop_nulls(result);
}

/// What the result of a request has, by the method of the request. `stateless` says whether the session is one since
/// 2026-07-28, where structured content may be null.
pub fn of_result(method: &str, stateless: bool, result: &str) -> &'static Shape {
    of_type(method, stateless, result_type(result).as_deref())
}

fn of_type(method: &str, stateless: bool, result_type: Option<&str>) -> &'static Shape {
    match result_type {
        None | Some("complete") => {}
        _ if !stateless => {}
        Some("input_required") => return &INPUT_REQUIRED,
        Some(_) => return &ANY,
    }
    match method {
        "initialize" => &INITIALIZE,
        "server/discover" => &DISCOVER,
        "tools/list" => &TOOLS,
        "resources/list" => &RESOURCES,
        "resources/templates/list" => &TEMPLATES,
        "prompts/list" => &PROMPTS,
        "tools/call" if stateless => &STATELESS_CALL,
        "tools/call" => &CALL,
        "resources/read" => &READ,
        "prompts/get" => &PROMPT_MESSAGES,
        "completion/complete" => &COMPLETE,
        _ => &ANY,
    }
}

/// The `resultType` of a result.
fn result_type(result: &str) -> Option<Cow<'_, str>> {
    const NAME: &str = "\"resultType\"";
    const COMPLETE: &str = "\"resultType\":\"complete\"";
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed<'a> {
        #[serde(borrow)]
        result_type: Option<Cow<'a, str>>,
    }
    // Most results are not read once more. A second name may be a member of another value.
    let mut names = result.matches(NAME);
    names.next()?;
    if names.next().is_none() && result.contains(COMPLETE) {
        return None;
    }
    let typed: Typed<'_> = serde_json::from_str(result).ok()?;
    typed.result_type
}

/// What the parameters of a server's request or notification have.
pub fn of_params(method: &str) -> &'static Shape {
    match method {
        "elicitation/create" => &ELICIT,
        "sampling/createMessage" => &SAMPLE,
        "notifications/message" => &LOG,
        "notifications/progress" => &PROGRESS,
        _ => &ANY,
    }
}

static INITIALIZE: Shape = object(Object {
    optional: &["instructions"],
    nested: &[("_meta", &VALUES)],
    required: &[
        ("capabilities", &CAPABILITIES),
        ("serverInfo", &IMPLEMENTATION),
    ],
    ..NONE
});
static DISCOVER: Shape = object(Object {
    optional: &["instructions", "resultType"],
    nested: &[
        ("_meta", &META_OF_DISCOVER),
        ("serverInfo", &IMPLEMENTATION),
        ("ttlMs", &Shape::Milliseconds),
        ("cacheScope", &Shape::CacheScope),
    ],
    required: &[("capabilities", &CAPABILITIES)],
    ..NONE
});
static META_OF_DISCOVER: Shape = object(Object {
    required: &[("io.modelcontextprotocol/serverInfo", &IMPLEMENTATION)],
    ..NONE
});
/// The name and version of a server.
pub static IMPLEMENTATION: Shape = object(Object {
    optional: &["title", "description", "websiteUrl"],
    nested: &[("icons", &ICONS)],
    ..NONE
});
static CAPABILITIES: Shape = object(Object {
    nested: &[
        ("experimental", &SETTINGS),
        ("extensions", &SETTINGS),
        ("logging", &CAPABILITY),
        ("completions", &CAPABILITY),
        ("prompts", &CAPABILITY),
        ("resources", &CAPABILITY),
        ("tools", &CAPABILITY),
        ("tasks", &CAPABILITY),
    ],
    ..NONE
});
static SETTINGS: Shape = Shape::Map(&CAPABILITY);
static CAPABILITY: Shape = Shape::Capability(Object {
    optional: &["listChanged", "subscribe"],
    ..NONE
});

const PAGE: &[(&str, &Shape)] = &[
    ("nextCursor", &Shape::Cursor),
    ("ttlMs", &Shape::Milliseconds),
    ("cacheScope", &Shape::CacheScope),
    ("_meta", &VALUES),
];

/// A page of a list.
const fn page(lists: &'static [(&'static str, &'static Shape)]) -> Shape {
    object(Object {
        optional: &["resultType"],
        nested: PAGE,
        lists,
        ..NONE
    })
}

static TOOLS: Shape = page(&[("tools", &Shape::List(&TOOL))]);
static RESOURCES: Shape = page(&[("resources", &Shape::List(&RESOURCE))]);
static TEMPLATES: Shape = page(&[("resourceTemplates", &Shape::List(&RESOURCE))]);
static PROMPTS: Shape = page(&[("prompts", &Shape::List(&PROMPT))]);

/// A tool in a list.
pub static TOOL: Shape = object(Object {
    optional: &["title", "description"],
    nested: &[
        ("outputSchema", &SCHEMA),
        ("annotations", &TOOL_ANNOTATIONS),
        ("icons", &ICONS),
        ("execution", &EXECUTION),
        ("_meta", &VALUES),
    ],
    required: &[("inputSchema", &SCHEMA)],
    ..NONE
});
static TOOL_ANNOTATIONS: Shape = object(Object {
    optional: &[
        "title",
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ],
    ..NONE
});
static EXECUTION: Shape = object(Object {
    optional: &["taskSupport"],
    ..NONE
});
/// A resource or a resource template in a list.
pub static RESOURCE: Shape = object(Object {
    optional: &["title", "description", "mimeType", "size"],
    texts: &["name"],
    nested: &[
        ("annotations", &ANNOTATIONS),
        ("icons", &ICONS),
        ("_meta", &VALUES),
    ],
    ..NONE
});
/// A prompt in a list.
pub static PROMPT: Shape = object(Object {
    optional: &["title", "description"],
    nested: &[
        ("arguments", &Shape::List(&PROMPT_ARGUMENT)),
        ("icons", &ICONS),
        ("_meta", &VALUES),
    ],
    ..NONE
});
static PROMPT_ARGUMENT: Shape = object(Object {
    optional: &["title", "description", "required"],
    texts: &["name"],
    ..NONE
});
static ICONS: Shape = Shape::List(&ICON);
static ICON: Shape = object(Object {
    optional: &["mimeType", "sizes", "theme"],
    texts: &["src"],
    ..NONE
});
static ANNOTATIONS: Shape = object(Object {
    optional: &["audience", "priority", "lastModified"],
    ..NONE
});

const CONTENT: &[(&str, &Shape)] = &[("content", &Shape::List(&BLOCK))];

static CALL: Shape = object(Object {
    optional: &["isError", "resultType", "inputRequests", "requestState"],
    nested: &[("structuredContent", &VALUES), ("_meta", &VALUES)],
    lists: CONTENT,
    ..NONE
});
static STATELESS_CALL: Shape = object(Object {
    optional: &["isError", "resultType", "inputRequests", "requestState"],
    nested: &[("_meta", &VALUES)],
    lists: CONTENT,
    ..NONE
});
static READ: Shape = object(Object {
    optional: &["resultType", "inputRequests", "requestState"],
    nested: &[
        ("ttlMs", &Shape::Milliseconds),
        ("cacheScope", &Shape::CacheScope),
        ("_meta", &VALUES),
    ],
    lists: &[("contents", &Shape::List(&CONTENTS))],
    ..NONE
});
static PROMPT_MESSAGES: Shape = object(Object {
    optional: &["description", "resultType", "inputRequests", "requestState"],
    nested: &[("_meta", &VALUES)],
    lists: &[("messages", &MESSAGES)],
    ..NONE
});
static COMPLETE: Shape = object(Object {
    optional: &["resultType"],
    nested: &[("_meta", &VALUES)],
    required: &[("completion", &COMPLETION)],
    ..NONE
});
static COMPLETION: Shape = object(Object {
    optional: &["total", "hasMore"],
    lists: &[("values", &LIST)],
    ..NONE
});
/// Questions of the server to the client, by names that the server chose.
static INPUT_REQUIRED: Shape = object(Object {
    optional: &["requestState", "isError", "content", "structuredContent"],
    nested: &[
        ("inputRequests", &Shape::Map(&INPUT_REQUEST)),
        ("_meta", &VALUES),
    ],
    ..NONE
});
static INPUT_REQUEST: Shape = object(Object {
    nested: &[("params", &INPUT_PARAMS)],
    ..NONE
});
/// The parameters of elicitation and sampling. Their members have different names, so one table is enough.
const QUESTION: Object = Object {
    optional: &[
        "mode",
        "url",
        "elicitationId",
        "systemPrompt",
        "includeContext",
        "temperature",
        "stopSequences",
        "metadata",
    ],
    nested: &[
        ("requestedSchema", &SCHEMA),
        ("modelPreferences", &MODEL_PREFERENCES),
        ("tools", &Shape::List(&TOOL)),
        ("toolChoice", &TOOL_CHOICE),
        ("_meta", &VALUES),
    ],
    ..NONE
};
static INPUT_PARAMS: Shape = object(Object {
    required: &[("messages", &SAMPLING_MESSAGES)],
    ..QUESTION
});
static ELICIT: Shape = object(QUESTION);
static SAMPLE: Shape = object(Object {
    lists: &[("messages", &SAMPLING_MESSAGES)],
    ..QUESTION
});

static MESSAGES: Shape = Shape::List(&MESSAGE);
static MESSAGE: Shape = object(Object {
    required: &[("content", &BLOCK)],
    ..NONE
});
static SAMPLING_MESSAGES: Shape = Shape::List(&SAMPLING_MESSAGE);
static MODEL_PREFERENCES: Shape = object(Object {
    optional: &[
        "hints",
        "costPriority",
        "speedPriority",
        "intelligencePriority",
    ],
    ..NONE
});
static TOOL_CHOICE: Shape = object(Object {
    optional: &["mode"],
    ..NONE
});
static SAMPLING_MESSAGE: Shape = object(Object {
    nested: &[("_meta", &VALUES)],
    required: &[("content", &Shape::OneOrMore(&BLOCK))],
    ..NONE
});
static BLOCK: Shape = object(Object {
    optional: &["title", "description", "mimeType", "size", "isError"],
    nested: &[
        // Of the result of a tool, in sampling.
        ("content", &Shape::List(&BLOCK)),
        ("annotations", &ANNOTATIONS),
        ("icons", &ICONS),
        ("_meta", &VALUES),
    ],
    required: &[("resource", &CONTENTS)],
    ..NONE
});
static CONTENTS: Shape = object(Object {
    optional: &["mimeType", "text", "blob"],
    nested: &[("_meta", &VALUES)],
    ..NONE
});

static LOG: Shape = object(Object {
    optional: &["logger"],
    nested: &[("_meta", &VALUES)],
    ..NONE
});
static PROGRESS: Shape = object(Object {
    optional: &["total", "message"],
    nested: &[("_meta", &VALUES)],
    ..NONE
});

static SCHEMAS: Shape = Shape::List(&SCHEMA);
static NAMED_SCHEMAS: Shape = Shape::Map(&SCHEMA);
/// A JSON Schema.
static SCHEMA: Shape = object(Object {
    optional: &[
        "$anchor",
        "$comment",
        "$id",
        "$ref",
        "$schema",
        "contentEncoding",
        "contentMediaType",
        "deprecated",
        "description",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "readOnly",
        "title",
        "type",
        "uniqueItems",
        "writeOnly",
    ],
    nested: &[
        ("$defs", &NAMED_SCHEMAS),
        ("additionalProperties", &SCHEMA),
        ("allOf", &SCHEMAS),
        ("anyOf", &SCHEMAS),
        ("contains", &SCHEMA),
        ("definitions", &NAMED_SCHEMAS),
        ("dependentRequired", &VALUES),
        ("dependentSchemas", &NAMED_SCHEMAS),
        ("else", &SCHEMA),
        ("if", &SCHEMA),
        ("items", &SCHEMA),
        ("not", &SCHEMA),
        ("oneOf", &SCHEMAS),
        ("patternProperties", &NAMED_SCHEMAS),
        ("prefixItems", &SCHEMAS),
        ("properties", &NAMED_SCHEMAS),
        ("propertyNames", &SCHEMA),
        ("required", &LIST),
        ("then", &SCHEMA),
        ("unevaluatedItems", &SCHEMA),
        ("unevaluatedProperties", &SCHEMA),
    ],
    ..NONE
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_members_of_another_type_are_dropped() {
        for (shape, mut entry, expected, wrong) in [
            (
                &TOOL,
                json!({ "title": 5, "description": ["x"], "_meta": 5, "annotations": "x", "icons": "x", "x": 5 }),
                json!({ "x": 5 }),
                "/title /description /_meta /annotations /icons",
            ),
            (
                &TOOL,
                json!({ "annotations": { "title": 5, "readOnlyHint": "true", "openWorldHint": false, "own": 1 }, "execution": { "taskSupport": "yes" } }),
                json!({ "annotations": { "openWorldHint": false, "own": 1 }, "execution": {} }),
                "/annotations/title /annotations/readOnlyHint /execution/taskSupport",
            ),
            (
                &TOOL,
                json!({ "icons": ["http://x", {}, { "src": "data:", "sizes": "any", "theme": "dark" }] }),
                json!({ "icons": [{ "src": "data:", "theme": "dark" }] }),
                "/icons/0 /icons/1 /icons/2/sizes",
            ),
            (
                &TOOL,
                json!({ "inputSchema": { "title": 5, "description": 7 }, "outputSchema": { "title": 5 } }),
                json!({ "inputSchema": { "title": 5, "description": 7 }, "outputSchema": { "title": 5 } }),
                "",
            ),
            (
                &RESOURCE,
                json!({ "name": "a", "size": "12", "mimeType": 5, "annotations": { "audience": "user", "priority": 2, "lastModified": "2026" } }),
                json!({ "name": "a", "annotations": { "lastModified": "2026" } }),
                "/size /mimeType /annotations/audience /annotations/priority",
            ),
            (
                &PROMPT,
                json!({ "name": "a", "arguments": [{ "name": "b", "required": "true" }] }),
                json!({ "name": "a", "arguments": [{ "name": "b" }] }),
                "/arguments/0/required",
            ),
            (
                &PROMPT,
                json!({ "name": "a", "arguments": { "a": {} } }),
                json!({ "name": "a" }),
                "/arguments",
            ),
            (
                &RESOURCE,
                json!({ "name": "a", "size": 1e10 }),
                json!({ "name": "a", "size": 1e10 }),
                "",
            ),
        ] {
            let text = entry.to_string();
            let mut dropped = Vec::new();
            let members = entry.as_object_mut().expect("an object");
            assert_eq!(shape.drop_wrong(members, &mut dropped), Ok(()), "{text}");
            assert_eq!(entry, expected, "{text}");
            let mut expected: Vec<_> = wrong.split_whitespace().collect();
            expected.sort_unstable();
            dropped.sort_unstable();
            assert_eq!(dropped, expected, "{text}");
        }
    }

    #[test]
    fn an_entry_has_no_meaning_without_its_name() {
        for (shape, mut entry, at) in [
            (&RESOURCE, json!({ "uri": "a:b" }), "/name"),
            (&RESOURCE, json!({ "uri": "a:b", "name": null }), "/name"),
            (
                &PROMPT,
                json!({ "name": "a", "arguments": ["a"] }),
                "/arguments/0",
            ),
            (
                &PROMPT,
                json!({ "name": "a", "arguments": [{ "required": true }] }),
                "/arguments/0/name",
            ),
        ] {
            let members = entry.as_object_mut().expect("an object");
            let wrong = shape.drop_wrong(members, &mut Vec::new());
            assert_eq!(wrong, Err(WrongMember::new(at.to_owned())), "{at}");
        }
    }

    #[track_caller]
    fn check_nulls(method: &str, mut result: Value, expected: &Value) {
        drop_nulls(method, result.as_object_mut().expect("an object"));
        assert_eq!(result, *expected);
    }

    #[test]
    fn nulls_are_dropped_where_members_are_optional() {
        check_nulls(
            "completion/complete",
            json!({ "completion": { "values": null, "total": null, "hasMore": null } }),
            &json!({ "completion": { "values": [] } }),
        );
        let block = json!({ "type": "text", "text": "x", "annotations": null, "_meta": null });
        check_nulls(
            "prompts/get",
            json!({ "description": null, "messages": [{ "role": "user", "content": block }] }),
            &json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "x" } }] }),
        );
        let request =
            json!({ "method": "elicitation/create", "params": { "message": "m", "mode": null } });
        check_nulls(
            "tools/call",
            json!({ "resultType": "input_required", "content": null, "inputRequests": { "a": request } }),
            &json!({ "resultType": "input_required", "inputRequests": { "a":
                { "method": "elicitation/create", "params": { "message": "m" } } } }),
        );
    }

    #[test]
    fn other_nulls_stay() {
        let result = json!({ "content": [null, { "type": null }], "structuredContent": null, "own": null, "_meta": { "k": null } });
        check_nulls("tools/call", result.clone(), &result);
    }
}
