//! URLs as errors and logs show them: without parts that may be secret.

use url::Url;

/// A URL without user, password, query and fragment.
pub(crate) fn bare_url(url: &Url) -> String {
    let mut url = url.clone();
    // Only URLs without a host have no user to remove.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// A text that is not a URL, without its query and with `…` for everything that may be user and password.
pub(super) fn public_text(text: &str) -> String {
    let (scheme, rest) = match text.find("://") {
        Some(position) => text.split_at(position + 3),
        None => ("", text),
    };
    let (path, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    // The `?` may be a part of the password.
    if query.contains('@') {
        return format!("{scheme}…");
    }
    match path.rsplit_once('@') {
        Some((_, path)) => format!("{scheme}…@{path}"),
        None => format!("{scheme}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_scheme_host_and_path() {
        for (text, public) in [
            ("example.com/mcp", "example.com/mcp"),
            ("http://", "http://"),
            ("example.com/mcp?key=s#s", "example.com/mcp"),
            ("me:s@example.com/mcp", "…@example.com/mcp"),
            ("http://me:s/s?s@example.com:x", "http://…"),
            (
                "http://me:s@s@example.com:x/mcp",
                "http://…@example.com:x/mcp",
            ),
        ] {
            assert_eq!(public_text(text), public, "{text}");
        }
    }
}
