//! Which requests are answered: those with an allowed `Host`, and an allowed `Origin` if they have one. Otherwise, a website could
//! reach the server under a name of its own.

use std::num::NonZeroU16;

use axum::{
    extract::Request,
    http::{
        StatusCode,
        header::{HOST, ORIGIN},
        uri::Authority,
    },
    response::{IntoResponse as _, Response},
};
use mcp_servlet_access::audit::shortened;

use super::{
    HttpOptions,
    names::{parse_host_header, split_authority},
};

/// The names that clients may use, and the origins of web pages that may send requests.
pub(super) struct OriginCheck {
    hosts: Vec<Name>,
    origins: Vec<Name>,
}

/// A host, or an origin.
struct Name {
    /// Empty for a host, and for the origin `null`.
    scheme: String,
    host: String,
    port: Port,
}

enum Port {
    Any,
    Exact(Option<NonZeroU16>),
}

impl Name {
    fn of_host(text: &str) -> Option<Self> {
        let text = parse_host_header(text).ok()?;
        let (host, port) = split_authority(&text)?;
        Some(Self {
            scheme: String::new(),
            host: host.to_owned(),
            port: port.map_or(Port::Any, |port| Port::Exact(Some(port))),
        })
    }

    fn of_origin(text: &str) -> Option<Self> {
        let any = text.strip_suffix(":*");
        let (scheme, host, port) = parts(any.unwrap_or(text))?;
        Some(Self {
            scheme: scheme.to_owned(),
            host: host.to_owned(),
            port: any.map_or(Port::Exact(port), |_| Port::Any),
        })
    }

    fn is(&self, (scheme, host, port): (&str, &str, Option<NonZeroU16>)) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
            && self.host.eq_ignore_ascii_case(host)
            && match self.port {
                Port::Any => true,
                Port::Exact(own) => own == port,
            }
    }
}

/// The scheme, host and port of an origin: <https://www.rfc-editor.org/rfc/rfc6454#section-6.2>.
fn parts(origin: &str) -> Option<(&str, &str, Option<NonZeroU16>)> {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return (origin == "null").then_some(("", origin, None));
    };
    let (host, port) = split_authority(authority)?;
    let default = match scheme {
        "http" => NonZeroU16::new(80),
        "https" => NonZeroU16::new(443),
        _ => None,
    };
    Some((scheme, host, port.or(default)))
}

impl OriginCheck {
    pub(super) fn new(options: &HttpOptions) -> Self {
        let hosts = options.hosts.iter().filter_map(|host| Name::of_host(host));
        let origins = options.origins.iter();
        Self {
            hosts: hosts.collect(),
            origins: origins
                .filter_map(|origin| Name::of_origin(origin))
                .collect(),
        }
    }

    /// What is not allowed of a request, if anything is not.
    pub(super) fn refusal(&self, request: &Request) -> Option<NotAllowed> {
        let text = |name| {
            let value = request.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()))
        };
        // HTTP/2 has the host in the URL.
        let authority = request.uri().authority().map(Authority::as_str);
        let host = text(HOST).or_else(|| authority.map(Into::into));
        let host = host.unwrap_or_default();
        let is_host = |(name, port)| self.hosts.iter().any(|host| host.is(("", name, port)));
        if !split_authority(&host).is_some_and(is_host) {
            return Some(NotAllowed::host(&host));
        }
        let origin = text(ORIGIN)?;
        let is_origin = |parts| self.origins.iter().any(|origin| origin.is(parts));
        (!parts(&origin).is_some_and(is_origin)).then(|| NotAllowed::origin(&origin))
    }
}

/// A header whose value is not allowed.
pub(super) struct NotAllowed {
    header: &'static str,
    value: String,
    /// The option of the command line that would allow it.
    option: String,
    /// The key of an endpoint that would allow it.
    key: String,
}

impl NotAllowed {
    fn host(host: &str) -> Self {
        let value = shortened(host);
        let name = split_authority(&value).map_or(value.as_str(), |(name, _)| name);
        Self {
            header: "Host",
            option: format!("--http-name {name}"),
            key: format!("hosts = [\"{name}\"]"),
            value,
        }
    }

    fn origin(origin: &str) -> Self {
        let value = shortened(origin);
        Self {
            header: "Origin",
            option: format!("--http-origin {value}"),
            key: format!("origins = [\"{value}\"]"),
            value,
        }
    }

    /// The line in the log. `endpoint` is the name of the endpoint, if it is one of a configuration.
    pub(super) fn logged(&self, endpoint: Option<&str>) -> String {
        let (header, value) = (self.header, &self.value);
        let allows = endpoint.map_or(&self.option, |_| &self.key);
        format!("a request was refused: its header `{header}` is `{value}`; `{allows}` allows it")
    }

    /// The response. `endpoint` is as for [`logged`](Self::logged).
    pub(super) fn response(&self, endpoint: Option<&str>) -> Response {
        let (header, value, option, key) = (self.header, &self.value, &self.option, &self.key);
        let help = match endpoint {
            Some(endpoint) => format!("set `{key}` in `[endpoint.{endpoint}]`"),
            None => format!("start it with `{option}`"),
        };
        let message = format!(
            "the header `{header}` is `{value}`, which this server does not allow\nhelp: {help}\n"
        );
        (StatusCode::FORBIDDEN, message).into_response()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn allowed_names_have_their_ports() {
        let mut options = HttpOptions::default();
        let own = ["mcp.example", "api.example:8443"].map(str::to_owned);
        options.hosts.extend(own);
        let own = ["https://app.example", "http://b.example:8080", "null"].map(str::to_owned);
        options.origins.extend(own);
        let check = OriginCheck::new(&options);
        let allows = |host: &str, origin: Option<&str>| {
            let mut request = Request::builder().uri("/mcp").header(HOST, host);
            if let Some(origin) = origin {
                request = request.header(ORIGIN, origin);
            }
            let request = request.body(Body::empty()).expect("a request");
            check.refusal(&request).is_none()
        };
        for (host, expected) in [
            ("localhost:7", true),
            ("LOCALHOST", true),
            ("[::1]:80", true),
            ("[::2]", false),
            ("mcp.example:1", true),
            ("mcp.example.evil.example", false),
            ("api.example", false),
            ("api.example:8443", true),
            ("", false),
        ] {
            assert_eq!(allows(host, None), expected, "{host}");
        }
        for (origin, expected) in [
            ("http://localhost:3000", true),
            ("https://[::1]", true),
            ("https://app.example", true),
            ("https://app.example:443", true),
            ("https://app.example:444", false),
            ("http://app.example", false),
            ("http://b.example:8080", true),
            ("http://b.example", false),
            ("null", true),
            ("file://", false),
            ("", false),
        ] {
            assert_eq!(allows("localhost", Some(origin)), expected, "{origin}");
        }
    }

    #[test]
    fn http_2_has_the_host_in_the_url() {
        let check = OriginCheck::new(&HttpOptions::default());
        let is_refused = |url: &str| {
            let request = Request::builder().uri(url).body(Body::empty());
            check.refusal(&request.expect("a request")).is_some()
        };
        assert!(!is_refused("http://localhost/mcp"));
        assert!(is_refused("http://evil.example/mcp"));
        assert!(is_refused("/mcp"));
    }
}
