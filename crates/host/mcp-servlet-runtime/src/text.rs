//! Helpers for messages.

/// The message of an error, followed by the messages of all its causes.
pub fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// Names in backticks, separated by commas.
pub fn quoted<T: std::fmt::Display>(names: &[T]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
