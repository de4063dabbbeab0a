//! JSON that servlets pass to host functions. It is bounded, because its values take more memory than its text, and that
//! memory belongs to the host.

use mcp_servlet_call::JsonObject;
use wasmtime::{Caller, Error, Result};

use super::offset;
use crate::state::{
    State,
    messages::{self, TooLong},
};

/// The maximum number of values in JSON, however large its text may be. Each takes up to a hundred bytes.
const VALUES: u64 = 100_000;

/// The JSON exceeds a bound, and was not parsed.
#[derive(Debug, thiserror::Error)]
pub(super) enum TooLarge {
    #[error("expected at most {} bytes of JSON, found {}", .0.limit, .0.found)]
    Text(TooLong),
    #[error("expected at most {VALUES} values of JSON, found {0}")]
    Values(u64),
}

/// Copies a block with JSON of at most `limit` bytes, and frees it. `None` if there is no block, or no bytes in it.
pub(super) fn text(
    caller: &mut Caller<'_, State>,
    at: i64,
    limit: u64,
) -> Result<Result<Option<Vec<u8>>, TooLarge>> {
    let json = messages::read(caller, offset(at), limit);
    messages::free(caller, offset(at))?;
    let json = match json {
        Ok(json) => json.filter(|json| !json.is_empty()),
        Err(long) => return Ok(Err(TooLarge::Text(long))),
    };
    Ok(match json.as_deref().map_or(0, values) {
        found if found > VALUES => Err(TooLarge::Values(found)),
        _ => Ok(json),
    })
}

/// Reads the JSON object of at most `limit` bytes that a function got as its parameters, and frees its memory.
pub(super) fn object(
    caller: &mut Caller<'_, State>,
    name: &str,
    at: i64,
    limit: u64,
) -> Result<JsonObject> {
    let json = text(caller, at, limit)?
        .map_err(|large| Error::msg(format!("`{name}`: {large}")))?
        .ok_or_else(|| Error::msg(format!("`{name}` expects an offset in memory")))?;
    let params = serde_json::from_slice(&json);
    params.map_err(|error| Error::msg(format!("`{name}` expects a JSON object: {error}")))
}

/// How many values a JSON text has at most: each one but the first follows a comma or begins an array or an object.
fn values(json: &[u8]) -> u64 {
    let (mut count, mut in_string, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_at_least_all_values() {
        for (json, expected) in [
            ("7", 1),
            ("[]", 2),
            ("[0,[1,2],{\"a\":3}]", 7),
            (r#""a,b[c{\",""#, 1),
            (r#"{"a,":"\\","b":"[\"["}"#, 3),
        ] {
            assert_eq!(values(json.as_bytes()), expected, "{json}");
        }
    }
}
