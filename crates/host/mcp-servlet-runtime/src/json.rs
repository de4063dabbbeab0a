//! JSON objects and syntax errors.

/// A JSON object that keeps the order of its members.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

/// The position of a JSON syntax error, as line and column, and its message.
pub fn syntax_error(error: &serde_json::Error) -> (String, String) {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let problem = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    (place.trim_start_matches(" at ").to_owned(), problem)
}
