//! Names in the headers `Host` and `Origin`.

use std::{net::Ipv6Addr, num::NonZeroU16};

/// Parses a name for the `Host` header, with or without a port.
///
/// # Errors
/// What was expected.
pub fn parse_host_header(text: &str) -> Result<String, String> {
    if text.parse::<Ipv6Addr>().is_ok() {
        return Ok(format!("[{text}]"));
    }
    match split_authority(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(
            "expected a host name or an IP address, optionally with a port, such as mcp.example"
                .into(),
        ),
    }
}

/// Parses an origin in the form that browsers send, or with `*` for any port.
///
/// # Errors
/// What was expected.
pub fn parse_origin(text: &str) -> Result<String, String> {
    let is_scheme_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_origin = text.split_once("://").is_some_and(|(scheme, authority)| {
        let is_authority = match authority.strip_suffix(":*") {
            Some(host) => matches!(split_authority(host), Some((_, None))),
            None => split_authority(authority).is_some(),
        };
        is_authority && !scheme.is_empty() && scheme.bytes().all(is_scheme_byte)
    });
    if text == "null" || is_origin {
        return Ok(text.to_owned());
    }
    Err(
        "expected a scheme, a host and an optional port such as https://app.example:443, or null"
            .into(),
    )
}

/// Splits the address of a listener into its host, without brackets, and its port.
pub fn split_address(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match bare {
        Some(host) => host.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !host.contains([':', '/', ' ']),
    };
    Some((bare.unwrap_or(host), port.parse().ok().filter(|_| is_host)?))
}

/// Splits a host, in brackets if it is an IPv6 address, from an optional port. None if it is neither
/// a name nor an address.
pub fn split_authority(text: &str) -> Option<(&str, Option<NonZeroU16>)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
            (host, Some(port.parse().ok().filter(|_| is_number)?))
        }
        _ => (text, None),
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match bare {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(is_host_byte),
    };
    is_host.then_some((host, port))
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_the_host_header() {
        for (text, read) in [
            ("mcp.example", "mcp.example"),
            ("mcp.example:80", "mcp.example:80"),
            ("127.0.0.1", "127.0.0.1"),
            ("::1", "[::1]"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(parse_host_header(text).as_deref(), Ok(read));
        }
        for wrong in [
            "",
            "http://mcp.example",
            "mcp.example/",
            "*.example",
            "mcp.example:0",
            "mcp.example:*",
            "mcp.example:+80",
        ] {
            assert!(parse_host_header(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn origins_match_those_of_browsers() {
        for text in [
            "https://app.example",
            "https://app.example:443",
            "http://localhost:*",
            "http://[::1]:80",
            "vscode-webview://panel",
            "null",
        ] {
            assert_eq!(parse_origin(text).as_deref(), Ok(text));
        }
        for wrong in [
            "",
            "app.example",
            "*",
            "https://*.example",
            "https://app.example/",
            "https://app.example/path",
            "https://",
            "://app.example",
            "https://app.example:99999",
            "https://app.example:443:*",
        ] {
            assert!(parse_origin(wrong).is_err(), "{wrong}");
        }
    }
}
