//! A request of a servlet, its URL, and its redirects.

use std::time::Duration;

use mcp_servlet_types::{HttpErrorKind, refused_request};
use serde_json::Value;
use ureq::http::{self, Response, StatusCode, header};
use url::Url;

use crate::exchange::HttpFailure;

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

#[derive(Clone)]
pub(super) struct Request {
    pub(super) url: Url,
    method: String,
    headers: Vec<(String, String)>,
    pub(super) body: Option<Vec<u8>>,
}

impl Request {
    /// Reads the JSON that servlets send as a request.
    pub(super) fn read(json: &[u8]) -> Result<Self, HttpFailure> {
        let json: Value = serde_json::from_slice(json).map_err(|error| invalid(&error))?;
        let text = |key: &str| json.get(key).and_then(Value::as_str);
        let headers = json
            .get("headers")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let header =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let headers: Vec<_> = headers.filter_map(header).collect();
        let method = text("method").unwrap_or("GET");
        let names = headers.iter().map(|(name, _)| name.as_str());
        if let Some(reason) = refused_request(method, names) {
            return Err(invalid(&reason));
        }
        let url = Url::parse(text("url").unwrap_or_default()).map_err(|error| invalid(&error))?;
        check_scheme(&url)?;
        Ok(Self {
            url,
            method: method.to_uppercase(),
            headers,
            body: None,
        })
    }

    pub(super) fn send(
        &self,
        agent: &ureq::Agent,
        timeout: Option<Duration>,
    ) -> Result<Response<ureq::Body>, ureq::Error> {
        let request = http::Request::builder()
            .method(self.method.as_str())
            .uri(self.url.as_str());
        let headers = self.headers.iter();
        let request = headers.fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        if let Some(body) = &self.body {
            let request = agent.configure_request(request.body(body.as_slice())?);
            agent.run(request.timeout_global(timeout).build())
        } else {
            let request = agent.configure_request(request.body(())?);
            agent.run(request.timeout_global(timeout).build())
        }
    }

    /// The request that a redirect asks for; `None` if the response is not a redirect.
    pub(super) fn redirected(
        &self,
        response: &Response<ureq::Body>,
    ) -> Result<Option<Self>, HttpFailure> {
        let next = self.next(response);
        if let Some(next) = &next {
            check_scheme(&next.url)?;
            if next.body.is_some() && !self.may_send_body_to(&next.url) {
                return Err(HttpFailure::body_redirected(&self.url, &next.url));
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

    fn next(&self, response: &Response<ureq::Body>) -> Option<Self> {
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

fn invalid(reason: &dyn std::fmt::Display) -> HttpFailure {
    HttpFailure::new(
        HttpErrorKind::Request,
        format!("invalid HTTP request: {reason}"),
    )
}

fn check_scheme(url: &Url) -> Result<(), HttpFailure> {
    if matches!(url.scheme(), "http" | "https") {
        return Ok(());
    }
    let scheme = url.scheme();
    Err(invalid(&format!(
        "the scheme of a URL is `http` or `https`, not `{scheme}`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_requests_as_servlets_write_them() {
        let ask = Request::read(br#"{"url":"http://a/b","headers":{"X":"1"},"method":"post"}"#);
        let ask = ask.expect("a request");
        assert_eq!(
            (ask.url.as_str(), ask.method.as_str()),
            ("http://a/b", "POST")
        );
        assert_eq!(ask.headers, [("X".to_owned(), "1".to_owned())]);
        assert!(Request::read(br#"{"url":"/relative"}"#).is_err());
    }

    #[test]
    fn a_body_is_redirected_within_its_origin_and_to_https() {
        let redirected = |from: &str, to: &str| {
            let json = format!(r#"{{"url":"{from}","method":"POST"}}"#);
            let mut request = Request::read(json.as_bytes()).expect("a request");
            request.body = Some(b"secret".to_vec());
            let response = Response::builder().status(308).header("location", to);
            let response = response.body(ureq::Body::builder().data(Vec::new()));
            request.redirected(&response.expect("a response"))
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
