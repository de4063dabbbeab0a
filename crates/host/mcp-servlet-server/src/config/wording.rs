//! Rewrites serde's messages for people who write configurations.

use mcp_servlet_schema::similar;

/// Rewrites a message of serde as `expected X, found Y`, and suggests the key that is most likely meant.
pub(super) fn reworded(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return unknown_key(rest);
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("missing key {key}");
    }
    if message == "wanted string or table" {
        return "expected a string".to_owned();
    }
    let mismatch = ["invalid type: ", "invalid value: ", "unknown variant "];
    let rest = mismatch
        .iter()
        .find_map(|start| message.strip_prefix(start));
    match rest.and_then(|rest| rest.split_once(", expected ")) {
        Some((found, expected)) => {
            let found = if found == "sequence" { "a list" } else { found };
            format!("expected {}, found {found}", of_toml(expected))
        }
        None => message.to_owned(),
    }
}

/// Removes the found value from a message.
pub(super) fn remove_found_value(message: &mut String) {
    if let Some(at) = message.find(", found ") {
        message.truncate(at);
    }
}

fn unknown_key(rest: &str) -> String {
    let mut words = rest.split('`').skip(1).step_by(2);
    let key = words.next().unwrap_or_default();
    match similar(key, words) {
        Some(known) => format!("unknown key `{key}`; did you mean `{known}`?"),
        None => format!("unknown key {rest}"),
    }
}

/// TOML's name for a type.
fn of_toml(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        "a string" => "a string in quotes",
        "a boolean" => "true or false",
        "u32" => "a whole number from 0 to 4294967295",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_expected_found_and_a_suggestion() {
        for (message, expected) in [
            (
                "unknown field `tiemout`, expected one of `timeout`, `memory`",
                "unknown key `tiemout`; did you mean `timeout`?",
            ),
            (
                "unknown field `x`, expected `min` or `max`",
                "unknown key `x`, expected `min` or `max`",
            ),
            ("missing field `source`", "missing key `source`"),
            (
                "invalid type: integer `7`, expected a string",
                "expected a string in quotes, found integer `7`",
            ),
            (
                "unknown variant `no`, expected `skip` or `fail`",
                "expected `skip` or `fail`, found `no`",
            ),
        ] {
            assert_eq!(reworded(message), expected);
        }
    }
}
