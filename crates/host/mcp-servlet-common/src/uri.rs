//! URIs that differ only in ways that do not matter: <https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2.1>.

use percent_encoding::percent_decode_str;
use url::Url;

/// The URI, or the URI template, with its scheme and host in lower case, and the digits of percent-encoded bytes in upper case.
/// It is as long as before.
pub fn normalized_uri(uri: &str) -> String {
    let mut uri = uri.to_owned();
    let is_scheme = |text: &str| {
        let is_in_scheme = |one: char| one.is_ascii_alphanumeric() || "+-.".contains(one);
        text.starts_with(|one: char| one.is_ascii_alphabetic()) && text.chars().all(is_in_scheme)
    };
    if let Some(end) = uri.find(':').filter(|end| is_scheme(&uri[..*end])) {
        uri[..end].make_ascii_lowercase();
        if uri[end..].starts_with("://") {
            let start = end + 3;
            let authority = uri[start..].find(['/', '?', '#']);
            let end = authority.map_or(uri.len(), |length| start + length);
            let host = uri[start..end]
                .rfind('@')
                .map_or(start, |at| start + at + 1);
            uri[host..end].make_ascii_lowercase();
        }
    }
    let encoded: Vec<_> = uri.match_indices('%').map(|(at, _)| at).collect();
    for at in encoded {
        let digits = uri.get_mut(at + 1..at + 3);
        if let Some(digits) =
            digits.filter(|digits| digits.bytes().all(|one| one.is_ascii_hexdigit()))
        {
            digits.make_ascii_uppercase();
        }
    }
    uri
}

/// Whether `uri` is `resource` or a part of it. A client that has subscribed to a resource wants to know changes of its parts:
/// <https://modelcontextprotocol.io/specification/2025-11-25/schema>.
pub fn is_uri_within(uri: &str, resource: &str) -> bool {
    let part = uri.strip_prefix(resource);
    part.is_some_and(|part| part.is_empty() || part.starts_with('/') || resource.ends_with('/'))
}

/// Whether a URI is in plain form, so that no server takes it for another URI than the one that permissions were compared with.
pub fn is_plain_uri(uri: &str) -> bool {
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

    #[test]
    fn scheme_host_and_encoded_bytes_have_one_case() {
        for (uri, expected) in [
            ("DOCS://caf%c3%a9/a%2fB", "docs://caf%C3%A9/a%2FB"),
            (
                "HTTPS://User@SITE.Example/Path?Q=%e9#F",
                "https://User@site.example/Path?Q=%E9#F",
            ),
            ("HTTPS://SITE.EXAMPLE", "https://site.example"),
            ("File:///Etc", "file:///Etc"),
            ("Urn:A:%aB", "urn:A:%AB"),
            ("no scheme:A", "no scheme:A"),
            ("1A:B", "1A:B"),
            ("x:%", "x:%"),
            ("x:%z%c3%é", "x:%z%C3%é"),
            ("", ""),
        ] {
            assert_eq!(normalized_uri(uri), expected);
        }
    }

    #[test]
    fn parts_of_a_resource_begin_after_a_slash() {
        let is_within = |resource: &str| is_uri_within("docs://a/b", resource);
        for resource in ["docs://", "docs://a", "docs://a/", "docs://a/b"] {
            assert!(is_within(resource), "{resource}");
        }
        for resource in ["docs", "docs://A", "docs://a/b/", "docs://a/b/c"] {
            assert!(!is_within(resource), "{resource}");
        }
        assert!(!is_uri_within("docs://ab", "docs://a"));
    }

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
    fn plain_uris_have_one_reading() {
        for uri in PLAIN {
            assert!(is_plain_uri(uri), "{uri}");
        }
        for uri in OTHER {
            assert!(!is_plain_uri(uri), "{uri}");
        }
    }
}
