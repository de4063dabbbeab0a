//! A request as a servlet writes it, where it may go, and where a redirect takes it.

use std::time::Duration;

use extism::Error;
use serde_json::Value;
use ureq::http::{self, Response, StatusCode, header};
use url::Url;

use crate::glob;

/// A request of a servlet.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) url: Url,
    method: String,
    headers: Vec<(String, String)>,
    pub(super) body: Option<Vec<u8>>,
}

impl Request {
    /// Reads the JSON in which servlets write requests.
    pub(super) fn read(json: &[u8]) -> Result<Self, Error> {
        let json: Value = serde_json::from_slice(json)?;
        let text = |key: &str| json.get(key).and_then(Value::as_str);
        let headers = json
            .get("headers")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let header =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        Ok(Self {
            url: Url::parse(text("url").unwrap_or_default())?,
            method: text("method").unwrap_or("GET").to_uppercase(),
            headers: headers.filter_map(header).collect(),
            body: None,
        })
    }

    /// Where it goes, without what may be secret: path, query and password.
    pub(super) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub(super) fn is_allowed<'a>(&self, mut patterns: impl Iterator<Item = &'a String>) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        patterns.any(|pattern| glob::matches(pattern, host))
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

    /// The request that a redirect asks for.
    pub(super) fn redirected(&self, response: &Response<ureq::Body>) -> Option<Self> {
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
        }
        if next.url.origin() != self.url.origin() {
            let is_secret = |name: &str| ["authorization", "cookie"].contains(&name);
            next.headers
                .retain(|(name, _)| !is_secret(&name.to_lowercase()));
        }
        Some(next)
    }
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
}
