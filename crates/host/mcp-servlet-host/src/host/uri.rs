//! URIs as the authors of members write them.

use mcp_servlet_common::normalized_uri;

/// The text of a template before its first variable.
pub(crate) fn literal(template: &str) -> &str {
    template.split('{').next().unwrap_or_default()
}

/// The URI as the author of this template would write it. None if it does not begin like the template.
pub(super) fn written_like(template: &str, uri: &str) -> Option<String> {
    let (literal, uri) = (literal(template), normalized_uri(uri));
    let rest = uri.strip_prefix(&*normalized_uri(literal))?;
    Some(format!("{literal}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_written_like_the_template() {
        for (template, uri, expected) in [
            (
                "docs://caf%C3%A9/{name}",
                "DOCS://caf%c3%a9/A%2fb",
                Some("docs://caf%C3%A9/A%2Fb"),
            ),
            ("db://Users/{id}", "db://users/A", Some("db://Users/A")),
            (
                "docs://caf%c3%a9",
                "docs://caf%C3%A9",
                Some("docs://caf%c3%a9"),
            ),
            ("docs://a/{name}", "docs://b/x", None),
            ("docs://a/B{name}", "docs://a/bx", None),
        ] {
            assert_eq!(written_like(template, uri).as_deref(), expected, "{uri}");
        }
    }
}
