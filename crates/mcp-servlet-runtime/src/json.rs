//! JSON as this crate passes it on.

/// A JSON object, in the order in which it was written.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

/// Where JSON stops being JSON, as line and column, and why.
pub fn syntax_error(error: &serde_json::Error) -> (String, String) {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let problem = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    (place.trim_start_matches(" at ").to_owned(), problem)
}
