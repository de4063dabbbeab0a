//! Expands URI templates (RFC 6570) with strings.

use alloc::string::String;
use core::fmt::Write as _;

/// The URI of a template. A variable that is `None` or not among `values` is left out.
///
/// ```
/// let values = [("user", Some("ada/1")), ("page", None), ("size", Some("5"))];
/// let uri = mcp_caller::expand("users://{user}/notes{?page,size}", &values);
/// assert_eq!(uri, "users://ada%2F1/notes?size=5");
/// ```
#[must_use]
pub fn expand(template: &str, values: &[(&str, Option<&str>)]) -> String {
    let mut uri = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        uri += before;
        let Some((expression, after)) = behind.split_once('}') else {
            // Not a template; generated code has none of these.
            uri.push('{');
            rest = behind;
            continue;
        };
        expand_expression(expression, values, &mut uri);
        rest = after;
    }
    uri + rest
}

/// How an expression writes its values.
struct Operator {
    first: &'static str,
    separator: char,
    /// Whether each value has its name before it.
    is_named: bool,
    /// Whether the characters that separate parts of a URI stay as they are.
    keeps_reserved: bool,
}

impl Operator {
    /// The operator of an expression, and its variables.
    fn parse(expression: &str) -> (Self, &str) {
        let operator = |first, separator, is_named, keeps_reserved| Self {
            first,
            separator,
            is_named,
            keeps_reserved,
        };
        let found = match expression.chars().next() {
            Some('+') => operator("", ',', false, true),
            Some('#') => operator("#", ',', false, true),
            Some('.') => operator(".", '.', false, false),
            Some('/') => operator("/", '/', false, false),
            Some(';') => operator(";", ';', true, false),
            Some('?') => operator("?", '&', true, false),
            Some('&') => operator("&", '&', true, false),
            _ => return (operator("", ',', false, false), expression),
        };
        (found, &expression[1..])
    }
}

fn expand_expression(expression: &str, values: &[(&str, Option<&str>)], uri: &mut String) {
    let (operator, variables) = Operator::parse(expression);
    let mut is_first = true;
    for variable in variables.split(',') {
        let variable = variable.trim_end_matches('*');
        let (name, length) = match variable.split_once(':') {
            Some((name, length)) => (name, length.parse().unwrap_or(usize::MAX)),
            None => (variable, usize::MAX),
        };
        let value = values.iter().find(|(known, _)| *known == name);
        let Some(value) = value.and_then(|(_, value)| *value) else {
            continue;
        };
        if is_first {
            *uri += operator.first;
        } else {
            uri.push(operator.separator);
        }
        is_first = false;
        if operator.is_named {
            *uri += name;
            // `;x` and not `;x=`: only queries write the sign before nothing.
            if !value.is_empty() || operator.first != ";" {
                uri.push('=');
            }
        }
        for character in value.chars().take(length) {
            encode(character, operator.keeps_reserved, uri);
        }
    }
}

fn encode(character: char, keeps_reserved: bool, uri: &mut String) {
    let stays = character.is_ascii_alphanumeric()
        || "-._~".contains(character)
        || (keeps_reserved && ":/?#[]@!$&'()*+,;=".contains(character));
    if stays {
        uri.push(character);
        return;
    }
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        // Writing to a string does not fail.
        let _ = write!(uri, "%{byte:02X}");
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    /// The examples of RFC 6570, 3.2, that have strings as values.
    #[test]
    fn expands_as_the_rfc_does() {
        let values = [
            ("var", Some("value")),
            ("hello", Some("Hello World!")),
            ("path", Some("/foo/bar")),
            ("empty", Some("")),
            ("x", Some("1024")),
            ("y", Some("768")),
            ("v", Some("6")),
            ("undef", None),
        ];
        let cases = [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("?{x,empty}", "?1024,"),
            ("?{x,undef}", "?1024"),
            ("{var:3}", "val"),
            ("{+path}/here", "/foo/bar/here"),
            ("{+hello}", "Hello%20World!"),
            ("{+path:6}/here", "/foo/b/here"),
            ("{#path,x}/here", "#/foo/bar,1024/here"),
            ("X{.var:3}", "X.val"),
            ("X{.x,y}", "X.1024.768"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{/var,empty}", "/value/"),
            ("{;x,y,empty}", ";x=1024;y=768;empty"),
            ("{;v,empty,undef}", ";v=6;empty"),
            ("{?x,y,undef}", "?x=1024&y=768"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{&var:3*}", "&var=val"),
            ("{undef}", ""),
            ("a{b", "a{b"),
        ];
        for (template, expected) in cases {
            assert_eq!(expand(template, &values), expected, "{template}");
        }
    }
}
