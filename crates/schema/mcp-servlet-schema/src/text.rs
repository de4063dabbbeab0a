//! Helpers for messages about JSON.

use mcp_servlet_common::value_kind;
use serde_json::Value;

/// "expected a string, found a number".
pub fn expected(what: &str, found: Option<&Value>) -> String {
    match found {
        Some(found) => format!("expected {what}, found {}", kind(found)),
        None => format!("expected {what}, found nothing"),
    }
}

/// The type of a value in words, such as "an array". Integers are told from other numbers.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if !number.is_f64() => "an integer",
        value => value_kind(value),
    }
}

/// Longer names are not compared, because that takes time in proportion to both lengths.
const MAX_COMPARED_NAME: usize = 256;

/// The known name that is most similar to `wanted`, if one is similar enough.
pub fn similar<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if wanted.len() > MAX_COMPARED_NAME {
        return None;
    }
    let wanted = wanted.to_lowercase();
    known
        .filter(|name| name.len() <= MAX_COMPARED_NAME)
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| name)
}

/// The end of a message: the known name that was probably meant.
pub fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    #[test]
    fn names_are_similar_if_they_are_not_too_long() {
        assert_eq!(similar("gret", ["greet", "add"].into_iter()), Some("greet"));
        assert_eq!(similar("subtract", iter::once("greet")), None);
        let long = "a".repeat(MAX_COMPARED_NAME + 1);
        assert_eq!(similar(&long, iter::once(&*long)), None);
        assert_eq!(similar("a", iter::once(&*long)), None);
    }
}
