//! The text of HTTP responses in any charset.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::http::{HttpError, HttpErrorKind, HttpResponse};

/// The number of bytes at the start of a body that are searched for a charset declaration.
const SEARCHED_BYTES: usize = 1024;

/// Media types of text in addition to `text/…`, by the end of the type after its last `/` or `+`.
const TEXTS: &[&str] = &[
    "ecmascript",
    "javascript",
    "json",
    "jsonl",
    "ndjson",
    "toml",
    "x-javascript",
    "x-ndjson",
    "x-yaml",
    "xml",
    "yaml",
];

impl HttpResponse {
    /// The body as text. The charset comes from the first of these that names one: the byte order mark, the
    /// `Content-Type` header, the declaration of HTML or XML near the beginning. Otherwise it is UTF-8. Invalid bytes
    /// become `\u{fffd}`.
    ///
    /// ```
    /// use mcp_servlet::HttpResponse;
    ///
    /// let page = HttpResponse::new(200, b"caf\xe9").with_header("Content-Type", "text/plain; charset=latin1");
    /// assert_eq!(page.decode().unwrap(), "café");
    /// ```
    ///
    /// # Errors
    ///
    /// [`HttpError`] with the media type if that is not text, such as `image/png`.
    pub fn decode(&self) -> Result<String, HttpError> {
        let media_type = self.media_type().unwrap_or_default();
        if !is_text(&media_type) {
            let parts = ["the body is `", &media_type, "`, which is not text"];
            return Err(HttpError::new(parts.concat()).with_kind(HttpErrorKind::Body));
        }
        let encoding = self.encoding(&media_type).unwrap_or(UTF_8);
        Ok(encoding.decode(&self.body).0.into_owned())
    }

    fn encoding(&self, media_type: &str) -> Option<&'static Encoding> {
        let header = self.header("content-type").unwrap_or_default();
        named(header, "charset").or_else(|| {
            let says_itself = ["html", "xml"].iter().any(|end| media_type.ends_with(end));
            let bytes = &self.body[..self.body.len().min(SEARCHED_BYTES)];
            let beginning = says_itself.then(|| String::from_utf8_lossy(bytes))?;
            let itself = named(&beginning, "charset").or_else(|| named(&beginning, "encoding"))?;
            // A declaration that was found by searching bytes is not in UTF-16, whatever it says; HTML has this rule.
            let is_wrong = itself == UTF_16LE || itself == UTF_16BE;
            Some(if is_wrong { UTF_8 } else { itself })
        })
    }
}

/// Whether a body of this media type, or of none, is text.
fn is_text(media_type: &str) -> bool {
    let end = media_type.rsplit(['/', '+']).next().unwrap_or_default();
    media_type.is_empty() || media_type.starts_with("text/") || TEXTS.contains(&end)
}

/// The first encoding after `key=` in a text, with quotes or without.
fn named(text: &str, key: &str) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    text.split(key).skip(1).find_map(|rest| {
        let value = rest.trim_start().strip_prefix('=')?;
        let mut words = value.split(['"', '\'', ';', '>', '?', ' ']);
        Encoding::for_label(words.find(|word| !word.is_empty())?.as_bytes())
    })
}
