//! Says in the words of JSON and MCP why a text could not be read into a Rust type.

use serde::{Deserialize, Deserializer};

/// Reads a `T`. If that fails: what is expected, and the path of the member, such as `clientInfo.icons[0]`.
pub fn json_problem<'de, T: Deserialize<'de>, D: Deserializer<'de>>(json: D) -> Option<String> {
    let error = serde_path_to_error::deserialize::<D, T>(json).err()?;
    let path = error.path().to_string();
    let path = path.trim_start_matches(['.', '?']);
    let problem = error.inner().to_string();
    let problem = problem
        .rsplit_once(" at line ")
        .map_or(&*problem, |(problem, _)| problem);
    Some(reworded(path, problem))
}

/// Rewrites a message of serde about the value at a path.
fn reworded(path: &str, problem: &str) -> String {
    if let Some(name) = quoted(problem, "missing field ") {
        return format!("`{}` is missing", member(path, name));
    }
    if let Some(name) = quoted(problem, "duplicate field ") {
        return format!("`{}` is there twice", member(path, name));
    }
    let place = match path {
        "" => String::new(),
        path => format!(" in `{path}`"),
    };
    if let Some(rest) = problem.strip_prefix("unknown variant ") {
        return match rest.split_once(", expected ") {
            Some((found, expected)) => format!("expected {expected}{place}, found {found}"),
            None => format!("unexpected value {rest}{place}"),
        };
    }
    let mismatch = problem.strip_prefix("invalid type: ");
    match mismatch.and_then(|rest| rest.split_once(", expected ")) {
        Some((found, expected)) => {
            format!(
                "expected {}{place}, found {}",
                wanted(expected),
                kind(found)
            )
        }
        None => format!("invalid value{place}"),
    }
}

/// The name in backticks after the beginning of a message.
fn quoted<'a>(problem: &'a str, start: &str) -> Option<&'a str> {
    problem.strip_prefix(start)?.split('`').nth(1)
}

/// The path of a member of the value at `path`.
fn member(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// The kind of JSON for serde's name of a found value.
fn kind(found: &str) -> &'static str {
    match found.split([' ', ',']).next().unwrap_or_default() {
        "string" | "character" => "a string",
        "integer" | "floating" => "a number",
        "boolean" => "a boolean",
        "sequence" => "an array",
        "map" => "an object",
        "null" | "unit" | "Option" => "null",
        _ => "another value",
    }
}

/// The kind of JSON for what a type of serde expects.
fn wanted(expected: &str) -> &str {
    match expected {
        "a boolean" => "a boolean",
        "a sequence" => "an array",
        "a map" => "an object",
        "u32" | "u64" | "usize" | "i64" | "f64" => "a number",
        text if text.starts_with("struct ") || text.contains(" tagged enum ") => "an object",
        text if text.contains("string") || text == "variant identifier" => "a string",
        _ => "another value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Text {
        a: u32,
        b: String,
    }

    #[test]
    fn problems_have_no_position_and_no_type_of_rust() {
        for (text, expected) in [
            ("{\"a\":1,\"a\":2}", "`a` is there twice"),
            ("{\"a\":1}", "`b` is missing"),
            ("{\"a\":\"x\"}", "expected a number in `a`, found a string"),
            ("{\"a\":-1}", "invalid value in `a`"),
            (
                "{\"a\":1,\"b\":{}}",
                "expected a string in `b`, found an object",
            ),
            ("[]", "invalid value"),
            ("5", "expected an object, found a number"),
        ] {
            let mut json = serde_json::Deserializer::from_str(text);
            let problem = json_problem::<Text, _>(&mut json);
            assert_eq!(problem.as_deref(), Some(expected), "{text}");
        }
        let mut good = serde_json::Deserializer::from_str("{\"a\":1,\"b\":\"\"}");
        assert_eq!(json_problem::<Text, _>(&mut good), None);
    }
}
