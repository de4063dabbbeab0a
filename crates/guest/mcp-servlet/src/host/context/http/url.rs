//! Builds URLs from parts with any text.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{HttpError, HttpErrorKind, HttpRequest};

/// All characters except the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

impl HttpRequest {
    /// The same request with one more segment at the end of the path, percent-encoded.
    ///
    /// ```
    /// use mcp_servlet::HttpRequest;
    ///
    /// # fn main() -> Result<(), mcp_servlet::HttpError> {
    /// let request = HttpRequest::get("https://weather.example/v1/").with_segment("Aix/Les Bains")?;
    /// assert_eq!(request.url, "https://weather.example/v1/Aix%2FLes%20Bains");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`HttpError`] if the segment is empty, `.` or `..`: the request would go to another path.
    pub fn with_segment(mut self, segment: &str) -> Result<Self, HttpError> {
        if matches!(segment, "" | "." | "..") {
            let parts = ["`", segment, "` is not a segment of a path"];
            return Err(HttpError::new(parts.concat()).with_kind(HttpErrorKind::Request));
        }
        let end = self.url.find(['?', '#']).unwrap_or(self.url.len());
        let rest = self.url.split_off(end);
        if !self.url.ends_with('/') {
            self.url.push('/');
        }
        self.url.extend(utf8_percent_encode(segment, RESERVED));
        self.url.push_str(&rest);
        Ok(self)
    }

    /// The same request with one more parameter in the query, name and value percent-encoded.
    ///
    /// ```
    /// use mcp_servlet::HttpRequest;
    ///
    /// let request = HttpRequest::get("https://example.com/search?lang=fr")
    ///     .with_query("q", "50 % off")
    ///     .with_query("page", 2);
    /// assert_eq!(request.url, "https://example.com/search?lang=fr&q=50%20%25%20off&page=2");
    /// ```
    #[must_use]
    pub fn with_query(mut self, name: &str, value: impl Display) -> Self {
        self.push_query(name, &value.to_string());
        self
    }

    fn push_query(&mut self, name: &str, value: &str) {
        let end = self.url.find('#').unwrap_or(self.url.len());
        let fragment = self.url.split_off(end);
        match self.url.find('?') {
            None => self.url.push('?'),
            Some(at) if at + 1 == self.url.len() => {}
            Some(_) => self.url.push('&'),
        }
        self.url.extend(utf8_percent_encode(name, RESERVED));
        self.url.push('=');
        self.url.extend(utf8_percent_encode(value, RESERVED));
        self.url.push_str(&fragment);
    }
}
