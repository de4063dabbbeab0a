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
            format!(
                "expected {}, found {}",
                of_toml(expected),
                found_in_toml(found)
            )
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
    let known: Vec<_> = words.collect();
    if let Some(hint) = hint(key, &known) {
        return format!("unknown key `{key}`; {hint}");
    }
    match similar(key, known.iter().copied()) {
        Some(known) => format!("unknown key `{key}`; did you mean `{known}`?"),
        None => format!("unknown key {rest}"),
    }
}

/// What to write instead of a key of other programs. `known` are the keys of the section.
fn hint(key: &str, known: &[&str]) -> Option<&'static str> {
    let has = |key| known.contains(&key);
    // A listener, an endpoint, `[http]`, and the whole file.
    let is_server = ["address", "path", "connections", "endpoint"]
        .into_iter()
        .any(has);
    let is_remote = has("login");
    match key {
        "args" if has("command") => Some(
            "write the program and its arguments as one list: `command = [\"program\", \"argument\"]`",
        ),
        "cwd" if has("folder") => Some("the working directory is `folder`"),
        "auth" | "authentication" | "api_key" | "api_keys" | "token" if is_server => {
            Some("`[auth.NAME]` says who may call, and `auth = \"NAME\"` in an endpoint uses it")
        }
        "value" | "key" | "token" | "secret" if has("sha256") && has("until") => Some(
            "keys are not stored here: write `sha256 = \"…\"`, which `servlet auth key` prints",
        ),
        "auth" | "authentication" | "api_key" | "token" | "bearer" | "oauth" if is_remote => Some(
            "write a token as `headers = { authorization = \"Bearer ${TOKEN}\" }`; `login` gets tokens by OAuth",
        ),
        "tls" | "cert" | "certificate" | "ssl" | "https" if is_server => Some(
            "TLS belongs to a listener: `[listener.NAME]` has `tls = { cert = \"cert.pem\", key = \"key.pem\" }`",
        ),
        "insecure" if has("clients") || has("only_end_entity") => {
            Some("a listener takes no certificates that it cannot check; `insecure` is for remotes")
        }
        "ocsp" if has("clients") || has("crl") => {
            Some("OCSP is not asked; `crl` names lists of revoked certificates")
        }
        "rate_limit" | "rate_limits" | "quota" if is_server => Some(
            "the server limits no rates: let a proxy in front of it do that; `queue` in `[limits]` limits calls that wait",
        ),
        _ => None,
    }
}

/// TOML's name for a type.
fn of_toml(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        "a string" => "a string in quotes",
        "a boolean" => "true or false",
        "i64" => "a whole number",
        "u64" | "usize" => "a whole number, 0 or more",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "f64" => "a number",
        other => other,
    }
}

/// TOML's name for what was found.
fn found_in_toml(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        found => found.replacen("floating point `", "number `", 1),
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
            (
                "invalid type: floating point `1.5`, expected i64",
                "expected a whole number, found number `1.5`",
            ),
            (
                "invalid type: map, expected a sequence",
                "expected a list in brackets, found a table",
            ),
        ] {
            assert_eq!(reworded(message), expected);
        }
    }
}
