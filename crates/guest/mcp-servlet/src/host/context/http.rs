//! HTTP through the host.

mod error;
mod url;

use std::collections::BTreeMap;

use mcp_servlet_json::{ObjectWriter, from_slice, to_string, write_u64};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::error::{HttpError, HttpErrorKind};

/// The number of characters of the body that an error about the status shows.
const SHOWN_OF_STATUS: usize = 200;

/// The number of characters of the body that an error about unreadable content shows.
const SHOWN_OF_BODY: usize = 80;

/// Codes below this one are failures: see [`mcp_servlet_types::HTTP_ERRORS`].
const FIRST_STATUS: u16 = 100;

/// A request for [`Context::http`](crate::Context::http).
///
/// ```
/// use mcp_servlet::HttpRequest;
///
/// let request = HttpRequest::get("https://example.com/search")
///     .with_query("q", "bread & butter")
///     .with_header("Accept", "text/html");
/// assert_eq!(request.url, "https://example.com/search?q=bread%20%26%20butter");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// The headers, by name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; an empty one is not sent.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// A request of any method.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: BTreeMap::new(),
            body: Vec::new(),
        }
    }

    /// The value of a header, in any case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// A `GET` request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// A `POST` request with a body.
    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            ..Self::new("POST", url)
        }
    }

    /// The same request with a header, which replaces one of the same name.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into().to_ascii_lowercase();
        self.headers.insert(name, value.into());
        self
    }

    /// The same request with the JSON of a value as its body, and the matching `Content-Type`.
    ///
    /// # Errors
    ///
    /// [`HttpError`] if the value cannot be written as JSON.
    pub fn with_json(self, body: &(impl Serialize + ?Sized)) -> Result<Self, HttpError> {
        let no_json = |_| HttpError::new("the body has no JSON").with_kind(HttpErrorKind::Request);
        let body = to_string(body).map_err(no_json)?;
        Ok(Self {
            body: body.into_bytes(),
            ..self.with_header("content-type", "application/json")
        })
    }

    /// Passes the request on if its URL is an HTTP URL: for any other, the host ends the call.
    ///
    /// # Errors
    ///
    /// [`HttpError`] with the URL.
    pub(crate) fn checked(&self) -> Result<&Self, HttpError> {
        let begins_with = |scheme: &&str| {
            let start = self.url.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        if ["http://", "https://"].iter().any(begins_with) {
            return Ok(self);
        }
        let mut message = String::from("`");
        message.push_str(&self.url);
        message.push_str("` does not begin with http:// or https://");
        Err(HttpError::new(message).with_kind(HttpErrorKind::Request))
    }

    /// The JSON that Extism reads, which has no other members.
    #[cfg_attr(
        not(target_family = "wasm"),
        allow(dead_code, reason = "hosts read it")
    )]
    pub(crate) fn to_json(&self) -> String {
        let mut headers = ObjectWriter::new();
        for (name, value) in &self.headers {
            headers.string(name, value);
        }
        let mut json = ObjectWriter::new();
        json.string("url", &self.url);
        json.string("method", &self.method);
        json.json("headers", &headers.finish());
        json.finish()
    }
}

/// Several requests for one call of the host, as [`mcp_servlet_types::HTTP_ALL`] describes: the list, and the bodies.
#[cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "hosts read it")
)]
pub(crate) fn to_list(requests: &[HttpRequest]) -> (String, Vec<u8>) {
    let (mut json, mut bodies) = (String::from("["), Vec::new());
    for (index, request) in requests.iter().enumerate() {
        json.push_str(if index > 0 { ",[" } else { "[" });
        json.push_str(&request.to_json());
        json.push(',');
        write_u64(&mut json, request.body.len() as u64);
        json.push(']');
        bodies.extend_from_slice(&request.body);
    }
    json.push(']');
    (json, bodies)
}

/// The response to an [`HttpRequest`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code, such as 200.
    pub status: u16,
    /// The headers, by name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// A response without headers, for tests.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: BTreeMap::new(),
            body: body.into(),
        }
    }

    /// The body as text.
    ///
    /// # Errors
    ///
    /// [`HttpError`] with status and media type if it is not UTF-8.
    pub fn text(&self) -> Result<&str, HttpError> {
        std::str::from_utf8(&self.body).map_err(|_| {
            let mut message = String::from("the body is not UTF-8 text: ");
            self.push_head(&mut message);
            HttpError::new(message).with_kind(HttpErrorKind::Body)
        })
    }

    /// The same response with a header, for tests.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.insert(name.to_ascii_lowercase(), value.into());
        self
    }

    /// The value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        self.headers.get(&name).map(String::as_str)
    }

    /// The media type in the response's header, in lower case and without parameters, such as `text/html`.
    pub fn media_type(&self) -> Option<String> {
        let header = self.header("content-type")?;
        let (media_type, _) = header.split_once(';').unwrap_or((header, ""));
        Some(media_type.trim().to_ascii_lowercase())
    }

    /// Passes the response on if its status is a success, 200 to 299.
    ///
    /// # Errors
    ///
    /// [`HttpError`] with the status and the beginning of the body, where servers often explain the error.
    pub fn success(self) -> Result<Self, HttpError> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        let mut message = String::from("the server answered with status ");
        write_u64(&mut message, self.status.into());
        let text = self.beginning(SHOWN_OF_STATUS);
        if !text.is_empty() {
            message.push_str(": ");
            message.push_str(&text);
        }
        Err(HttpError::new(message).with_kind(HttpErrorKind::Status))
    }

    /// The first characters of the body, if it is text.
    fn beginning(&self, characters: usize) -> String {
        let text = std::str::from_utf8(&self.body).unwrap_or_default();
        text.trim().chars().take(characters).collect()
    }

    /// Appends what the status and the headers tell about the response.
    fn push_head(&self, message: &mut String) {
        message.push_str("status ");
        write_u64(message, self.status.into());
        if let Some(media_type) = self.media_type() {
            message.push_str(", media type ");
            message.push_str(&media_type);
        }
    }

    /// Passes the response on if its body has at most `bytes` bytes.
    ///
    /// The host also limits what it reads; this is a limit for what the tool can handle.
    ///
    /// # Errors
    ///
    /// [`HttpError`] with both numbers.
    pub fn within(self, bytes: usize) -> Result<Self, HttpError> {
        if self.body.len() <= bytes {
            return Ok(self);
        }
        let mut message = String::from("the body has ");
        write_u64(&mut message, self.body.len() as u64);
        message.push_str(" bytes, the limit is ");
        write_u64(&mut message, bytes as u64);
        Err(HttpError::new(message).with_kind(HttpErrorKind::TooLarge))
    }

    /// The body as JSON.
    ///
    /// # Errors
    ///
    /// [`HttpError`] with the error's offset and JSON pointer, and with the response: status, media type
    /// and the first 80 characters.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        let text = self.text()?;
        from_slice(&self.body).map_err(|error| self.invalid_json(text, &error))
    }

    #[cold]
    fn invalid_json(&self, text: &str, error: &mcp_servlet_json::Error) -> HttpError {
        let mut message = String::from("the body is not the expected JSON: ");
        message.push_str(&error.to_string());
        let pointer = error.pointer(text);
        if !pointer.is_empty() {
            message.push_str(" in `");
            message.push_str(&pointer);
            message.push('`');
        }
        message.push_str("; ");
        self.push_head(&mut message);
        message.push_str(", body: ");
        message.push_str(&self.beginning(SHOWN_OF_BODY));
        HttpError::new(message).with_kind(HttpErrorKind::Body)
    }

    #[cfg_attr(
        not(target_family = "wasm"),
        allow(dead_code, reason = "hosts answer so")
    )]
    pub(crate) fn from_host(
        status: u16,
        headers: Option<Vec<u8>>,
        body: Vec<u8>,
    ) -> Result<Self, HttpError> {
        if status < FIRST_STATUS {
            return Err(failed(status, body));
        }
        let headers = match headers {
            None => BTreeMap::new(),
            Some(json) => from_slice(&json).map_err(|_| not_json())?,
        };
        Ok(Self {
            status,
            headers,
            body,
        })
    }

    /// The responses to [several requests](to_list).
    #[cfg_attr(
        not(target_family = "wasm"),
        allow(dead_code, reason = "hosts answer so")
    )]
    pub(crate) fn list_from_host(
        status: u16,
        headers: Option<Vec<u8>>,
        bodies: Vec<u8>,
    ) -> Result<Vec<Result<Self, HttpError>>, HttpError> {
        if status < FIRST_STATUS {
            return Err(failed(status, bodies));
        }
        let heads: Vec<(u16, BTreeMap<String, String>, usize)> =
            from_slice(&headers.unwrap_or_default()).map_err(|_| not_json())?;
        let mut rest = &*bodies;
        let responses = heads.into_iter().map(|(status, headers, length)| {
            let (body, after) = rest.split_at_checked(length).ok_or_else(not_json)?;
            rest = after;
            let body = body.to_vec();
            if status < FIRST_STATUS {
                return Err(failed(status, body));
            }
            Ok(Self {
                status,
                headers,
                body,
            })
        });
        Ok(responses.collect())
    }
}

fn failed(code: u16, message: Vec<u8>) -> HttpError {
    let message = String::from_utf8(message).unwrap_or_default();
    HttpError::new(message).with_kind(HttpErrorKind::from_code(code))
}

fn not_json() -> HttpError {
    HttpError::new("the host's headers are not JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_requests_are_one_list_with_their_bodies() {
        let requests = [
            HttpRequest::post("https://a.example/", "one").with_header("X", "1"),
            HttpRequest::get("https://b.example/"),
        ];
        let (json, bodies) = to_list(&requests);
        assert_eq!(
            json,
            r#"[[{"url":"https://a.example/","method":"POST","headers":{"x":"1"}},3],[{"url":"https://b.example/","method":"GET","headers":{}},0]]"#
        );
        assert_eq!(bodies, b"one");
    }

    #[test]
    fn responses_have_their_parts_of_the_bodies() {
        let heads = br#"[[200,{"x":"1"},3],[3,{},4],[404,{},0],[200,{},9]]"#;
        let list = |heads: &[u8]| {
            HttpResponse::list_from_host(200, Some(heads.to_vec()), b"onedown".to_vec())
        };
        let responses = list(heads).unwrap();
        assert_eq!(
            responses,
            [
                Ok(HttpResponse::new(200, "one").with_header("x", "1")),
                Err(HttpError::new("down").with_kind(HttpErrorKind::Connect)),
                Ok(HttpResponse::new(404, "")),
                Err(not_json()),
            ]
        );
        assert_eq!(list(b"{}"), Err(not_json()));
        let refused = HttpResponse::list_from_host(9, None, b"too long".to_vec());
        let expected = HttpError::new("too long").with_kind(HttpErrorKind::Request);
        assert_eq!(refused, Err(expected));
    }
}
