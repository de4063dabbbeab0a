//! A request of a servlet, its URL, and its redirects.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use http_body_util::Full;
use hyper::{
    Response, StatusCode, Uri,
    body::Bytes,
    header::{self, HeaderName, HeaderValue},
};
use mcp_servlet_call::{HttpFailure, HttpRequest};
use mcp_servlet_types::refused_request;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::failure;

/// The headers that a redirect to another origin keeps. Any other header may be a secret.
const SAFE_HEADERS: [&str; 8] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "content-encoding",
    "content-language",
    "content-type",
    "range",
    "user-agent",
];

/// The name of the client in requests.
pub(crate) const AGENT: &str = concat!("mcp-servlet/", env!("CARGO_PKG_VERSION"));

/// A request that may be sent, if its host is allowed.
#[derive(Clone)]
pub struct Request {
    /// Where it goes.
    pub url: Url,
    method: String,
    headers: Vec<(String, String)>,
    body: Option<Bytes>,
}

impl Request {
    /// The request that a servlet wrote, without its body. Its response may be compressed, for [`read`](crate::read).
    ///
    /// # Errors
    /// [`HttpFailure`] if the servlet may not send it, or its URL is not an HTTP URL.
    pub fn of(written: &HttpRequest) -> Result<Self, HttpFailure> {
        let names = written.headers.keys().map(String::as_str);
        if let Some(reason) = refused_request(&written.method, names) {
            return Err(HttpFailure::invalid(&reason));
        }
        let url = Url::parse(&written.url).map_err(|error| HttpFailure::invalid(&error))?;
        check_scheme(&url)?;
        let mut headers: Vec<_> = written.headers.clone().into_iter().collect();
        let is_encoding = |name: &str| name.eq_ignore_ascii_case("accept-encoding");
        if !headers.iter().any(|(name, _)| is_encoding(name)) {
            headers.push(("accept-encoding".to_owned(), "gzip".to_owned()));
        }
        Ok(Self {
            url,
            method: written.method.to_uppercase(),
            headers,
            body: None,
        })
    }

    /// The same request with a body; an empty one is not sent.
    #[must_use]
    pub fn with_body(self, body: impl Into<Bytes>) -> Self {
        let body = Some(body.into()).filter(|body| !body.is_empty());
        Self { body, ..self }
    }

    /// A GET request without headers of its own.
    pub fn get(url: Url) -> Self {
        Self::new("GET", url)
    }

    /// A request without headers of its own.
    pub fn new(method: &str, url: Url) -> Self {
        Self {
            url,
            method: method.to_owned(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// The same request with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The same request with another method.
    #[must_use]
    pub fn with_method(mut self, method: &str) -> Self {
        method.clone_into(&mut self.method);
        self
    }

    /// The number of bytes of its body.
    pub fn body_size(&self) -> usize {
        self.body.as_ref().map_or(0, Bytes::len)
    }

    pub(crate) fn uri(&self) -> Result<Uri, HttpFailure> {
        uri(&self.url).map_err(|error| HttpFailure::invalid(&error))
    }

    pub(crate) fn to_http(&self) -> Result<hyper::Request<Full<Bytes>>, HttpFailure> {
        self.build().map_err(|error| HttpFailure::invalid(&error))
    }

    fn build(&self) -> hyper::http::Result<hyper::Request<Full<Bytes>>> {
        let body = self.body.clone().map(Full::new).unwrap_or_default();
        let mut request = hyper::Request::builder()
            .method(self.method.as_str())
            .uri(uri(&self.url)?)
            .body(body)?;
        let headers = request.headers_mut();
        for (name, value) in &self.headers {
            headers.append(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
        }
        let defaults = [
            (header::USER_AGENT, Some(HeaderValue::from_static(AGENT))),
            (header::ACCEPT, Some(HeaderValue::from_static("*/*"))),
            // `read_more` does not decompress, and a digest is about the bytes that were sent.
            (
                header::ACCEPT_ENCODING,
                Some(HeaderValue::from_static("identity")),
            ),
            (header::AUTHORIZATION, basic_auth(&self.url)),
            (header::CONTENT_LENGTH, self.lacks_body().then(|| 0.into())),
        ];
        for (name, value) in defaults {
            if let Some(value) = value {
                headers.entry(name).or_insert(value);
            }
        }
        Ok(request)
    }

    /// Whether it has no body although its method usually has one.
    fn lacks_body(&self) -> bool {
        let is_empty = self.body.as_ref().is_none_or(Bytes::is_empty);
        is_empty && matches!(&*self.method, "POST" | "PUT" | "PATCH")
    }

    /// The request that a redirect asks for; `None` if the response is not a redirect.
    pub fn redirected(&self, response: &Response<impl Sized>) -> Result<Option<Self>, HttpFailure> {
        let next = self.next(response);
        if let Some(next) = &next {
            check_scheme(&next.url)?;
            if next.body.is_some() && !self.may_send_body_to(&next.url) {
                return Err(failure::body_redirected(&self.url, &next.url));
            }
        }
        Ok(next)
    }

    /// Whether a redirect may send the body to `next`: within the same origin, or from HTTP to
    /// HTTPS on the same host.
    fn may_send_body_to(&self, next: &Url) -> bool {
        let is_upgrade = self.url.scheme() == "http" && next.scheme() == "https";
        let ports = (self.url.port(), next.port());
        self.url.origin() == next.origin()
            || (is_upgrade && ports == (None, None) && self.url.host() == next.host())
    }

    fn next(&self, response: &Response<impl Sized>) -> Option<Self> {
        let keeps_method = match response.status() {
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            StatusCode::SEE_OTHER => self.method == "HEAD",
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method != "POST",
            _ => return None,
        };
        let location = response.headers().get(header::LOCATION)?.to_str().ok()?;
        let mut next = Self {
            url: self.url.join(location).ok()?,
            ..self.clone()
        };
        if !keeps_method {
            "GET".clone_into(&mut next.method);
            next.body = None;
            next.keep_headers(|name| !name.starts_with("content-"));
        }
        if next.url.origin() != self.url.origin() {
            next.keep_headers(|name| SAFE_HEADERS.contains(&name));
        }
        Some(next)
    }

    fn keep_headers(&mut self, keep: impl Fn(&str) -> bool) {
        self.headers
            .retain(|(name, _)| keep(&name.to_ascii_lowercase()));
    }
}

/// A URL without its user, password and fragment, which are not part of the request line.
pub(crate) fn uri(url: &Url) -> hyper::http::Result<Uri> {
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    Uri::builder()
        .scheme(url.scheme())
        .authority(authority)
        .path_and_query(path)
        .build()
}

/// The user and the password of a URL, as the value of `Authorization`.
pub(crate) fn basic_auth(url: &Url) -> Option<HeaderValue> {
    let (user, password) = (url.username(), url.password());
    if user.is_empty() && password.is_none() {
        return None;
    }
    let decoded = |text| percent_decode_str(text).collect::<Vec<u8>>();
    let password = decoded(password.unwrap_or_default());
    let credentials = [decoded(user), b":".to_vec(), password].concat();
    let value = format!("Basic {}", BASE64_STANDARD.encode(credentials));
    let mut value = HeaderValue::try_from(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn check_scheme(url: &Url) -> Result<(), HttpFailure> {
    if matches!(url.scheme(), "http" | "https") {
        return Ok(());
    }
    let scheme = url.scheme();
    Err(HttpFailure::invalid(&format!(
        "the scheme of a URL is `http` or `https`, not `{scheme}`"
    )))
}

#[cfg(test)]
mod tests {
    use mcp_servlet_types::HttpErrorKind;

    use super::*;

    fn read(json: &str) -> Result<Request, HttpFailure> {
        Request::of(&HttpRequest::read(json.as_bytes())?)
    }

    #[test]
    fn reads_requests_as_servlets_write_them() {
        let ask =
            read(r#"{"url":"http://a/b","headers":{"X":"1"},"method":"post"}"#).expect("a request");
        assert_eq!(
            (ask.url.as_str(), ask.method.as_str()),
            ("http://a/b", "POST")
        );
        assert_eq!(ask.headers[0], ("X".to_owned(), "1".to_owned()));
        let ask = read(r#"{"url":"http://a/b","header":{"X":2,"Y":true}}"#).expect("a request");
        let headers =
            [("X", "2"), ("Y", "true")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(ask.headers[..2], headers);
        for (json, problem) in [
            (
                r#"{"url":"http://a/b","headers":{"X":null}}"#,
                "header `X`: expected a string, found null",
            ),
            (r#"{"url":"/relative"}"#, "relative URL without a base"),
            (r#"{"url":"http://a/b""#, "EOF while parsing"),
            (r#"{"url":"ftp://a/b"}"#, "the scheme of a URL is"),
        ] {
            let failure = read(json).map(drop).expect_err(json);
            assert_eq!(failure.kind, HttpErrorKind::Request);
            let expected = format!("invalid HTTP request: {problem}");
            assert!(failure.message.starts_with(&expected), "{failure}");
        }
    }

    #[test]
    fn only_responses_for_servlets_may_be_compressed() {
        let encodings = |request: Request| {
            let request = request.to_http().expect("a request");
            let values = request.headers().get_all(header::ACCEPT_ENCODING);
            values.into_iter().cloned().collect::<Vec<_>>()
        };
        let ours = Request::get("http://a/".parse().expect("a URL"));
        assert_eq!(encodings(ours), ["identity"]);
        for (json, encoding) in [
            (r#"{"url":"http://a/"}"#, "gzip"),
            (
                r#"{"url":"http://a/","headers":{"Accept-Encoding":"br"}}"#,
                "br",
            ),
        ] {
            assert_eq!(encodings(read(json).expect(json)), [encoding]);
        }
    }

    #[test]
    fn an_empty_body_is_no_body() {
        let request = || read(r#"{"url":"http://a/"}"#).expect("a request");
        assert_eq!(request().with_body(Vec::new()).body, None);
        let body = request().with_body(b"x".to_vec()).body;
        assert_eq!(body.as_deref(), Some(&b"x"[..]));
    }

    #[test]
    fn a_body_is_redirected_within_its_origin_and_to_https() {
        let redirected = |from: &str, to: &str| {
            let json = format!(r#"{{"url":"{from}","method":"POST"}}"#);
            let request = read(&json).expect("a request").with_body("secret");
            let response = Response::builder().status(308).header("location", to);
            request.redirected(&response.body(()).expect("a response"))
        };
        for (from, to) in [
            ("http://a/x", "/y"),
            ("https://a/x", "https://a:443/y"),
            ("http://a/x", "https://a/x"),
        ] {
            let next = redirected(from, to).expect("it may go there");
            assert_eq!(
                next.expect("a request").body.as_deref(),
                Some(&b"secret"[..])
            );
        }
        for (from, to) in [
            ("http://a/x", "http://b/x"),
            ("https://a/x", "http://a/x"),
            ("http://a:8080/x", "https://a/x"),
            ("http://a/x", "https://a:8443/x"),
            ("http://a/x", "http://a:8080/x"),
        ] {
            let failure = redirected(from, to).map(drop).expect_err(to);
            assert_eq!(failure.kind, HttpErrorKind::Redirect);
        }
    }
}
