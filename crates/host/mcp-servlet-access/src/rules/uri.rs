//! URIs, as rules compare them.

use mcp_servlet_common::normalized_uri;
use percent_encoding::percent_decode_str;
use url::Url;

/// A URI, or the URIs of a template. Percent-encoded bytes are decoded.
#[derive(Clone, Debug)]
pub struct Uri(pub(super) Text);

/// The bytes that patterns are compared with.
#[derive(Clone, Debug)]
pub(super) enum Text {
    /// Those of a URI.
    One(Vec<u8>),
    /// Those of a template. A variable is None.
    Template(Vec<Option<u8>>),
}

impl Uri {
    /// Reads a URI that a member lists.
    pub fn listed(uri: &str) -> Self {
        Self(Text::One(percent_decode_str(uri).collect()))
    }

    /// Reads a URI that a client wrote. None if it is not in plain form: a member could take it for another URI.
    pub fn of_client(uri: &str) -> Option<Self> {
        is_plain(uri).then(|| Self::listed(uri))
    }

    /// Reads a URI template.
    pub fn of_template(template: &str) -> Self {
        Self::of_template_with(template, &[])
    }

    /// Reads a URI template, some of whose variables have these values.
    pub fn of_template_with(template: &str, known: &[(&str, &str)]) -> Self {
        let mut bytes = Vec::new();
        let mut rest = template;
        while let Some((literal, variable)) = rest.split_once('{') {
            bytes.extend(percent_decode_str(literal).map(Some));
            let (variable, after) = variable.split_once('}').unwrap_or((variable, ""));
            rest = after;
            let name = variable.strip_prefix('+').unwrap_or(variable);
            match known.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => bytes.extend(value.bytes().map(Some)),
                None => bytes.push(None),
            }
        }
        bytes.extend(percent_decode_str(rest).map(Some));
        Self(Text::Template(bytes))
    }
}

/// Whether a URI is in plain form, so that no member takes it for a URI that rules would decode differently.
fn is_plain(uri: &str) -> bool {
    let Ok(url) = Url::parse(uri) else {
        return false;
    };
    url.as_str() == uri
        && normalized_uri(uri) == uri
        && uri
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && is_plainly_encoded(uri)
        && has_plain_authority(&url)
        && !url.path().contains("//")
        && !uri
            .split(['/', '?', '='])
            .any(|segment| segment == "." || segment == "..")
        && url.query() != Some("")
        && url.fragment().is_none()
}

fn has_plain_authority(url: &Url) -> bool {
    if !url.has_authority() {
        // `docs:a` is plain, and `docs:/a` is not.
        return url.cannot_be_a_base();
    }
    let authority = url.authority();
    let has_user = authority.contains('@') || authority.contains("%40");
    let ends_with_dot = url.host_str().is_some_and(|host| host.ends_with('.'));
    !has_user && !ends_with_dot && (url.scheme() != "file" || authority.is_empty())
}

/// Whether no unreserved or control character is encoded, and none of `/`, `\`, `?` and `#`: a member that decodes them could
/// split the URI elsewhere.
fn is_plainly_encoded(uri: &str) -> bool {
    let may_be_encoded = |digits: &str| {
        let byte = u8::from_str_radix(digits, 16);
        byte.is_ok_and(|byte| {
            let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            !is_unreserved && !byte.is_ascii_control() && !b"/\\?#".contains(&byte)
        })
    };
    let mut encoded = uri.split('%').skip(1);
    let Ok(decoded) = percent_decode_str(uri).decode_utf8() else {
        return false;
    };
    encoded.all(|after| after.get(..2).is_some_and(may_be_encoded))
        // A member that decodes twice must not get another URI.
        && percent_decode_str(&decoded).count() == decoded.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[&str] = &[
        "docs://open",
        "docs://open/",
        "docs://open/a%20b/caf%C3%A9?q=1&r=x",
        "docs://open/a%2Cb,c@d:e/100%25",
        "docs:///open",
        "docs:open",
        "urn:isbn:0451450523",
        "file:///etc/passwd",
        "file:///a/..b/.c/",
        "https://api.example:8443/a?b=c",
        "ui://widget/main.html",
    ];

    const OTHER: &[&str] = &[
        "",
        "open",
        "/etc/passwd",
        "DOCS://open",
        "docs://Open",
        "docs://%6Fpen",
        "docs://open/caf%c3%a9",
        "docs://open/caf\u{e9}",
        "docs://open/%C0%AE",
        "docs://open/%2570",
        "docs://open/%2Fb",
        "docs://open/%5Cb",
        "docs://open/%3Fb",
        "docs://open/%23b",
        "docs://open/%00",
        "docs://open/%0A",
        "docs://open/%2E%2E/b",
        "docs://open/%zz",
        "docs://open/%2",
        "docs://open/%+F",
        "docs://open/a b",
        "docs://open/a\\b",
        "docs://open/a\tb",
        "docs://open/\0",
        " docs://open",
        "docs://open ",
        "docs://open\n",
        "docs://open//b",
        "docs://open//",
        "docs://open/./b",
        "docs://open/../b",
        "docs://open/..",
        "docs://open/..?q",
        "docs://open?path=../b",
        "docs://open?",
        "docs://open#b",
        "docs:/open",
        "urn:a/../b",
        "urn:a b",
        "file:////etc/passwd",
        "file:///./etc/passwd",
        "file:///etc//passwd",
        "file://localhost/etc/passwd",
        "file://host/etc/passwd",
        "file:/etc/passwd",
        "file:etc/passwd",
        "file://etc/passwd",
        "https://api.example%2F@evil.example/",
        "https://api.example%40evil.example/",
        "https://user@api.example/",
        "https://@api.example/",
        "https://api.example:443/",
        "https://api.example:/",
        "https://api.example./",
        "https://api.example",
        "https://127.1/",
        "https://\u{ff45}xample.com/",
        "https:api.example/",
        "https:///api.example/",
        "https:\\\\api.example/",
        "docs://api%40evil/",
        "docs://api@evil/",
    ];

    #[test]
    fn a_client_must_write_plain_uris() {
        for uri in PLAIN {
            assert!(Uri::of_client(uri).is_some(), "{uri}");
        }
        for uri in OTHER {
            assert!(Uri::of_client(uri).is_none(), "{uri}");
        }
    }
}
