//! Host patterns.

use std::net::Ipv6Addr;

/// Parses a host pattern such as `*.example.com`, with `*` and `?` as wildcards. The result is
/// normalized like the host of a URL: lower case, Punycode, and brackets around an IPv6 address.
///
/// # Errors
/// What was expected, if no host can match the pattern.
pub fn parse_host(text: &str) -> Result<String, String> {
    const EXPECTED: &str =
        "expected a host without scheme, user, port and path, such as api.example or *.example";
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(text).parse::<Ipv6Addr>() {
        return Ok(url::Host::<&str>::Ipv6(address).to_string());
    }
    if !text.contains(['*', '?', '[', ':']) {
        let host = url::Host::parse(text).map_err(|_| EXPECTED.to_owned())?;
        return Ok(host.to_string());
    }
    // Only IPv6 addresses contain colons, and these are in brackets.
    let may_have_colons = text.starts_with(['[', '*', '?'])
        && text.ends_with([']', '*', '?'])
        && !text.contains("]:");
    let may_have = |one: char| match one {
        ':' => may_have_colons,
        one => one.is_ascii_alphanumeric() || "*?-_.[]".contains(one),
    };
    if !text.chars().all(may_have) {
        return Err(EXPECTED.to_owned());
    }
    Ok(text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_hosts_that_something_can_match() {
        for (text, pattern) in [
            ("api.example", "api.example"),
            ("API.Example", "api.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("*.Example", "*.example"),
            ("*", "*"),
            ("::1", "[::1]"),
            ("[0:0::1]", "[::1]"),
            ("[fe80:*]", "[fe80:*]"),
            ("*:*", "*:*"),
        ] {
            assert_eq!(parse_host(text).as_deref(), Ok(pattern));
        }
        for wrong in [
            "",
            "https://api.example",
            "api.example/",
            "api.example:443",
            "*.example:443",
            "localhost:*",
            "[::1]:80",
            "[::1]:*",
            "user@api.example",
            "user:password@*.example",
            "*@api.example",
            "api.example#x",
            "a b.example",
            "*.bücher.example",
        ] {
            assert!(parse_host(wrong).is_err(), "{wrong}");
        }
    }
}
