//! URIs that differ only in ways that do not matter: <https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2.1>.

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
}
