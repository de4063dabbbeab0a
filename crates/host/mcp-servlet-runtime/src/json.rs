//! Syntax errors of JSON.

/// The message of a JSON syntax error, without line and column.
pub(crate) fn syntax_error(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).unwrap_or(&message).to_owned()
}
