//! JSON that servlets pass to host functions. It is bounded, because its values take more memory than its text, and that
//! memory belongs to the host.

use wasmtime::{Caller, Result};

use super::{argument, offset};
use crate::state::{State, messages};

/// The maximum number of values in JSON, however large its text may be. Each takes up to a hundred bytes.
const VALUES: u64 = 100_000;

/// The JSON exceeds a bound, and was not parsed.
#[derive(Debug, thiserror::Error)]
#[error("expected at most {limit} {unit} of JSON, found {found}")]
pub(super) struct TooLarge {
    unit: &'static str,
    limit: u64,
    found: u64,
}

impl TooLarge {
    fn check(unit: &'static str, found: u64, limit: u64) -> Result<(), Self> {
        if found <= limit {
            return Ok(());
        }
        Err(Self { unit, limit, found })
    }
}

/// Copies a block with JSON of at most `limit` bytes, and frees it. `None` if there is no block, or no bytes in it.
pub(super) fn text(
    caller: &mut Caller<'_, State>,
    at: i64,
    limit: u64,
) -> Result<Result<Option<Vec<u8>>, TooLarge>> {
    if let Err(large) = TooLarge::check("bytes", messages::length(caller, offset(at)), limit) {
        messages::free(caller, offset(at))?;
        return Ok(Err(large));
    }
    let json = argument(caller, at)?.filter(|json| !json.is_empty());
    let found = json.as_deref().map_or(0, values);
    Ok(TooLarge::check("values", found, VALUES).map(|()| json))
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
