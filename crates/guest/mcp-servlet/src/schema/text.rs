//! Checking JSON text in `const` evaluation, so that a bad schema stops the build.

/// The error message.
type Error = &'static str;

/// `?` in a `const fn`.
macro_rules! ok {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}

/// Stops the build unless `json` is one JSON object.
#[track_caller]
pub(crate) const fn check_object(json: &str) {
    let bytes = json.as_bytes();
    assert!(
        at(bytes, space(bytes, 0)) == b'{',
        "expected a JSON object: it starts with `{{`"
    );
    check_value(json);
}

/// Stops the build unless `json` is one JSON value, or empty for none.
#[track_caller]
pub(crate) const fn check_value(json: &str) {
    if !json.is_empty() {
        if let Some(problem) = problem(json) {
            panic!("{}", problem);
        }
    }
}

/// A mistake in a text that has to be one JSON value.
pub(crate) const fn problem(json: &str) -> Option<&'static str> {
    if json.is_empty() {
        return Some("expected JSON, found no text");
    }
    match whole(json.as_bytes()) {
        Ok(()) => None,
        Err(error) => Some(error),
    }
}

/// Stops the build unless `json` is one JSON number, or empty for none.
#[track_caller]
pub(crate) const fn check_number(json: &str) {
    check_value(json);
    assert!(
        matches!(json.as_bytes(), [] | [b'-' | b'0'..=b'9', ..]),
        "expected a JSON number"
    );
}

const fn whole(bytes: &[u8]) -> Result<(), Error> {
    let end = ok!(value(bytes, space(bytes, 0)));
    if space(bytes, end) == bytes.len() {
        Ok(())
    } else {
        Err("expected one JSON value, found text after it")
    }
}

/// Whether the root object of `json`, checked before, has a member called `name`.
pub(crate) const fn has_member(json: &str, name: &str) -> bool {
    member(json.as_bytes(), name).is_some()
}

/// Whether a JSON string is one of several strings.
pub(crate) const fn is_among(json: &str, texts: &[&str]) -> bool {
    let mut at = 0;
    while at < texts.len() {
        if is_quoted(json.as_bytes(), 0, json.len(), texts[at].as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether a JSON string has one character.
pub(crate) const fn is_character(json: &str) -> bool {
    characters(json) == 1
}

/// The number of characters of a JSON string.
pub(crate) const fn characters(json: &str) -> i128 {
    let bytes = json.as_bytes();
    let (mut here, mut count) = (1, 0);
    while here + 1 < bytes.len() {
        here = after_character(bytes, here);
        count += 1;
    }
    count
}

/// The position after the character of a JSON string at `here`.
const fn after_character(bytes: &[u8], here: usize) -> usize {
    let mut end = match at(bytes, here) {
        b'\\' => match escape(bytes, here + 1) {
            Ok(end) => end,
            Err(_) => here + 1,
        },
        _ => here + 1,
    };
    // The remaining bytes of a character in UTF-8.
    while at(bytes, end) & 0b1100_0000 == 0b1000_0000 {
        end += 1;
    }
    end
}

/// The value of a JSON number that consists of digits, unless it exceeds all integer types here.
pub(crate) const fn integer(json: &str) -> Option<i128> {
    let bytes = json.as_bytes();
    let is_negative = at(bytes, 0) == b'-';
    let mut here = is_negative as usize;
    let mut value: i128 = 0;
    while here < bytes.len() {
        if !bytes[here].is_ascii_digit() || value > u64::MAX as i128 {
            return None;
        }
        value = value * 10 + (bytes[here] - b'0') as i128;
        here += 1;
    }
    Some(if is_negative { -value } else { value })
}

/// Whether the root object of `json`, checked before, has the member `name` with the string `value`.
pub(crate) const fn has_text(json: &str, name: &str, value: &str) -> bool {
    let bytes = json.as_bytes();
    match member(bytes, name) {
        Some((start, end)) => is_quoted(bytes, start, end, value.as_bytes()),
        None => false,
    }
}

/// The JSON of the member `name` of the root object of `json`, checked before.
pub(crate) const fn value_of<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    match member(json.as_bytes(), name) {
        Some((start, end)) => Some(slice(json, start, end)),
        None => None,
    }
}

/// The JSON of the first item of the array that is the member `name`.
pub(crate) const fn first_item<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let bytes = json.as_bytes();
    let Some((start, _)) = member(bytes, name) else {
        return None;
    };
    if at(bytes, start) != b'[' {
        return None;
    }
    let first = space(bytes, start + 1);
    match value(bytes, first) {
        Ok(end) => Some(slice(json, first, end)),
        Err(_) => None,
    }
}

const fn slice(json: &str, start: usize, end: usize) -> &str {
    match core::str::from_utf8(json.as_bytes().split_at(end).0.split_at(start).1) {
        Ok(text) => text,
        Err(_) => panic!("the parts of JSON begin and end with whole characters"),
    }
}

/// The start and the end of the value of the member `name`.
const fn member(bytes: &[u8], name: &str) -> Option<(usize, usize)> {
    let mut here = space(bytes, space(bytes, 0) + 1);
    while at(bytes, here) == b'"' {
        let Ok(end_of_key) = string(bytes, here) else {
            return None;
        };
        let start = space(bytes, space(bytes, end_of_key) + 1);
        let Ok(end) = value(bytes, start) else {
            return None;
        };
        if is_quoted(bytes, here, end_of_key, name.as_bytes()) {
            return Some((start, end));
        }
        here = space(bytes, end);
        if at(bytes, here) == b',' {
            here = space(bytes, here + 1);
        }
    }
    None
}

/// Whether `bytes[start..end]` is `name` in quotes.
const fn is_quoted(bytes: &[u8], start: usize, end: usize, name: &[u8]) -> bool {
    if at(bytes, start) != b'"' || end - start != name.len() + 2 {
        return false;
    }
    let mut index = 0;
    while index < name.len() {
        if bytes[start + 1 + index] != name[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// The byte at `index`, 0 past the end.
const fn at(bytes: &[u8], index: usize) -> u8 {
    if index < bytes.len() { bytes[index] } else { 0 }
}

/// The first position from `here` that is not white space.
const fn space(bytes: &[u8], mut here: usize) -> usize {
    while matches!(at(bytes, here), b' ' | b'\t' | b'\n' | b'\r') {
        here += 1;
    }
    here
}

/// Steps over the value at `here`.
const fn value(bytes: &[u8], here: usize) -> Result<usize, Error> {
    match at(bytes, here) {
        b'{' => object(bytes, here),
        b'[' => array(bytes, here),
        b'"' => string(bytes, here),
        b't' => word(bytes, here, b"true"),
        b'f' => word(bytes, here, b"false"),
        b'n' => word(bytes, here, b"null"),
        b'-' | b'0'..=b'9' => number(bytes, here),
        _ => Err("invalid JSON: expected a value"),
    }
}

const fn object(bytes: &[u8], here: usize) -> Result<usize, Error> {
    let mut here = space(bytes, here + 1);
    if at(bytes, here) == b'}' {
        return Ok(here + 1);
    }
    loop {
        if at(bytes, here) != b'"' {
            return Err("invalid JSON: expected a string as the object key");
        }
        here = space(bytes, ok!(string(bytes, here)));
        if at(bytes, here) != b':' {
            return Err("invalid JSON: expected `:` after the object key");
        }
        here = space(bytes, ok!(value(bytes, space(bytes, here + 1))));
        match at(bytes, here) {
            b',' => here = space(bytes, here + 1),
            b'}' => return Ok(here + 1),
            _ => return Err("invalid JSON: expected `,` or `}` after a value in an object"),
        }
    }
}

const fn array(bytes: &[u8], here: usize) -> Result<usize, Error> {
    let mut here = space(bytes, here + 1);
    if at(bytes, here) == b']' {
        return Ok(here + 1);
    }
    loop {
        here = space(bytes, ok!(value(bytes, here)));
        match at(bytes, here) {
            b',' => here = space(bytes, here + 1),
            b']' => return Ok(here + 1),
            _ => return Err("invalid JSON: expected `,` or `]` after a value in an array"),
        }
    }
}

const fn string(bytes: &[u8], here: usize) -> Result<usize, Error> {
    let mut here = here + 1;
    loop {
        match at(bytes, here) {
            b'"' => return Ok(here + 1),
            b'\\' => here = ok!(escape(bytes, here + 1)),
            0..0x20 => {
                return Err("invalid JSON: a string is not closed or has a control character");
            }
            _ => here += 1,
        }
    }
}

const fn escape(bytes: &[u8], here: usize) -> Result<usize, Error> {
    match at(bytes, here) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(here + 1),
        b'u' => {
            let mut digit = 1;
            while digit <= 4 {
                if !at(bytes, here + digit).is_ascii_hexdigit() {
                    return Err("invalid JSON: expected four hexadecimal digits after `\\u`");
                }
                digit += 1;
            }
            Ok(here + 5)
        }
        _ => Err("invalid JSON: unknown escape in a string"),
    }
}

const fn word(bytes: &[u8], here: usize, word: &[u8]) -> Result<usize, Error> {
    let mut index = 0;
    while index < word.len() {
        if at(bytes, here + index) != word[index] {
            return Err("invalid JSON: expected a value");
        }
        index += 1;
    }
    Ok(here + word.len())
}

const fn number(bytes: &[u8], mut here: usize) -> Result<usize, Error> {
    if at(bytes, here) == b'-' {
        here += 1;
    }
    here = if at(bytes, here) == b'0' {
        here + 1
    } else {
        ok!(digits(bytes, here))
    };
    if at(bytes, here) == b'.' {
        here = ok!(digits(bytes, here + 1));
    }
    if matches!(at(bytes, here), b'e' | b'E') {
        here += 1;
        if matches!(at(bytes, here), b'+' | b'-') {
            here += 1;
        }
        here = ok!(digits(bytes, here));
    }
    Ok(here)
}

const fn digits(bytes: &[u8], mut here: usize) -> Result<usize, Error> {
    if !at(bytes, here).is_ascii_digit() {
        return Err("invalid JSON: expected a digit in a number");
    }
    while at(bytes, here).is_ascii_digit() {
        here += 1;
    }
    Ok(here)
}

#[cfg(test)]
mod tests {
    use super::{check_number, check_object, check_value, has_member, has_text};

    #[test]
    fn a_bound_is_a_number() {
        for json in ["", "1", "-0.5e3"] {
            check_number(json);
        }
        for json in ["true", "\"1\"", "1.", "1,2"] {
            assert!(
                std::panic::catch_unwind(|| check_number(json)).is_err(),
                "accepted {json}"
            );
        }
    }

    #[test]
    fn values_are_whole_and_alone() {
        for json in ["", "1", " -0.5 ", "\"red\"", "null", "[{}]"] {
            check_value(json);
        }
        for json in ["red", "1 2", "\"a", "[1", " "] {
            assert!(
                std::panic::catch_unwind(|| check_value(json)).is_err(),
                "accepted {json}"
            );
        }
    }

    #[test]
    fn accepts_json_objects() {
        for json in [
            "{}",
            " { } ",
            r#"{"type":"object","properties":{"a":{"enum":["x",1,-0.5e+3,true,false,null]}}}"#,
            "{\"a\":\"\\u00e9\\n\"}",
        ] {
            check_object(json);
        }
    }

    #[test]
    fn refuses_everything_else() {
        for json in [
            "",
            "[]",
            "{",
            "{}x",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":tru}"#,
            r#"{"a":"}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u12"}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":[1,]}"#,
        ] {
            assert!(
                std::panic::catch_unwind(|| check_object(json)).is_err(),
                "accepted {json}"
            );
        }
    }

    #[test]
    fn finds_members_of_the_root_only() {
        let json = r#"{"a":{"description":1}, "b" : ["x"] , "title":"t"}"#;
        assert!(has_member(json, "title"));
        assert!(has_member(json, "b"));
        assert!(!has_member(json, "description"));
        assert!(has_text(json, "title", "t"));
        assert!(!has_text(json, "title", "tt"));
        assert!(!has_text(json, "b", "x"));
    }
}
