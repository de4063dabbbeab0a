//! The text of a distinguished name (RFC 4514).

use mcp_servlet_common::hex;
use x509_parser::x509::{AttributeTypeAndValue, X509Name};

/// The short names that RFC 4514 defines.
const SHORT: [(&str, &str); 9] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.6", "C"),
    ("2.5.4.9", "STREET"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("0.9.2342.19200300.100.1.1", "UID"),
];

/// The text of a name. The last part in the certificate comes first.
pub(super) fn text(name: &X509Name<'_>) -> String {
    let mut parts: Vec<_> = name
        .iter_rdn()
        .map(|part| part.iter().map(attribute).collect::<Vec<_>>().join("+"))
        .collect();
    parts.reverse();
    parts.join(",")
}

fn attribute(attribute: &AttributeTypeAndValue<'_>) -> String {
    let kind = attribute.attr_type().to_id_string();
    let short = SHORT.iter().find(|(id, _)| *id == kind);
    match (short, attribute.as_str()) {
        (Some((_, short)), Ok(value)) => format!("{short}={}", escaped(value)),
        (_, Ok(value)) => format!("{kind}={}", escaped(value)),
        (_, Err(_)) => format!("{kind}=#{}", hex(attribute.as_slice())),
    }
}

fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let last = value.chars().count().saturating_sub(1);
    for (at, letter) in value.chars().enumerate() {
        let is_special = match letter {
            '"' | '+' | ',' | ';' | '<' | '>' | '\\' => true,
            ' ' => at == 0 || at == last,
            '#' => at == 0,
            _ => false,
        };
        if letter == '\0' {
            text.push_str("\\00");
            continue;
        }
        if is_special {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn special_characters_are_escaped() {
        for (value, text) in [
            ("Acme, Inc.", "Acme\\, Inc."),
            (" a b ", "\\ a b\\ "),
            ("#1#", "\\#1#"),
            ("a\"b+c;d<e>f\\", "a\\\"b\\+c\\;d\\<e\\>f\\\\"),
            ("é\0", "é\\00"),
            ("", ""),
        ] {
            assert_eq!(escaped(value), text);
        }
    }
}
