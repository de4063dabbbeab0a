//! Checks what a server answers, before a client gets it.

use mcp_servlet_call::{INPUT_REQUIRED, JsonObject, RemoteFailure};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::invalid;
use crate::lists::drop_our_keys;

/// The most suggestions that MCP allows.
const MAX_VALUES: usize = 100;

/// The members of a result. `member` is an array that every final result has.
pub(crate) fn checked(
    raw: &RawValue,
    member: &str,
    is_stateless: bool,
) -> Result<JsonObject, RemoteFailure> {
    let value: Value =
        serde_json::from_str(raw.get()).map_err(|error| invalid(error.to_string()))?;
    let Value::Object(mut json) = value else {
        return Err(invalid("expected an object"));
    };
    drop_our_keys(&mut json);
    if json
        .get("cacheScope")
        .is_some_and(|scope| scope == "public")
    {
        // Other clients of this host may not see what this one sees.
        json.insert("cacheScope".to_owned(), "private".into());
    }
    if !is_stateless {
        // Servers up to 2025-11-25 ask in requests of their own.
        json.shift_remove("resultType");
    }
    let kind = json.get("resultType").and_then(Value::as_str);
    match kind {
        Some(INPUT_REQUIRED) => Ok(json),
        None | Some("complete") if is_array(&json, member) => Ok(json),
        None | Some("complete") => Err(invalid(format!("expected an array in `{member}`"))),
        Some(other) => Err(invalid(format!("unknown type of a result, `{other}`"))),
    }
}

/// Leaves out suggestions beyond the number that MCP allows.
pub(crate) fn limit_values(json: &mut JsonObject) {
    let Some(completion) = json.get_mut("completion") else {
        return;
    };
    if let Some(Value::Array(values)) = completion.get_mut("values")
        && values.len() > MAX_VALUES
    {
        values.truncate(MAX_VALUES);
        completion["hasMore"] = true.into();
    }
}

/// Whether the names, with `/` between them, lead to an array.
fn is_array(json: &JsonObject, path: &str) -> bool {
    let mut names = path.split('/');
    let first = names.next().and_then(|name| json.get(name));
    let last = names.fold(first, |value, name| value?.get(name));
    last.is_some_and(Value::is_array)
}
