//! A proxy for the HTTP requests of servlets.
//!
//! The proxy resolves host names. So only the URL is checked here: whether a pattern allows its
//! host, and whether its host is a literal private address.

use std::fmt;

use hyper::Uri;
use mcp_servlet_common::public_url;
use percent_encoding::percent_decode_str;
use url::Url;

/// An HTTP proxy for the requests of servlets. The user and the password in its URL are secrets and
/// are not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    url: Url,
}

impl Proxy {
    /// Reads the URL of a proxy, such as `http://proxy.example:3128` or `https://user:password@proxy.example`.
    ///
    /// # Errors
    /// What was expected instead. The message does not contain the text, which may hold a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        const EXPECTED: &str =
            "expected the URL of an HTTP proxy without a path, such as http://proxy.example:3128";
        let is_origin = |url: &Url| {
            let is_http = matches!(url.scheme(), "http" | "https");
            let has_more = url.path() != "/" || url.query().is_some() || url.fragment().is_some();
            is_http && url.has_host() && !has_more
        };
        let can_be_used = |url: &Url| {
            let password = url.password().unwrap_or_default();
            let is_text = |part| percent_decode_str(part).decode_utf8().is_ok();
            let is_uri = url.as_str().parse::<Uri>().is_ok();
            is_uri && is_text(url.username()) && is_text(password)
        };
        Url::parse(text)
            .ok()
            .filter(is_origin)
            .filter(can_be_used)
            .map(|url| Self { url })
            .ok_or_else(|| EXPECTED.to_owned())
    }

    /// Whether its URL has a user or a password.
    pub fn has_credentials(&self) -> bool {
        !self.url.username().is_empty() || self.url.password().is_some()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = public_url(self.url.as_str());
        f.write_str(shown.trim_end_matches('/'))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_proxies_and_shows_no_secret() {
        for (text, shown) in [
            ("http://proxy.example:3128", "http://proxy.example:3128"),
            ("https://proxy.example/", "https://proxy.example"),
            ("http://u:p%40ss@10.0.0.1:3128", "http://…@10.0.0.1:3128"),
            ("http://token@[::1]:3128", "http://…@[::1]:3128"),
        ] {
            let proxy = Proxy::parse(text).expect(text);
            assert_eq!(proxy.to_string(), shown);
            assert_eq!(format!("{proxy:?}"), format!("Proxy({shown})"));
            assert_eq!(proxy.has_credentials(), shown.contains('…'));
        }
        for wrong in [
            "",
            "proxy.example",
            "proxy.example:3128",
            "user:s3cr3t@proxy.example:3128",
            "socks5://proxy.example",
            "http://",
            "http://proxy.example:99999",
            "http://proxy.example/path",
            "http://proxy.example?query",
            "http://u:%ff@proxy.example",
        ] {
            let error = Proxy::parse(wrong).expect_err(wrong);
            assert!(error.contains("such as http://proxy.example:3128"));
            assert!(!error.contains("s3cr3t"));
        }
    }
}
