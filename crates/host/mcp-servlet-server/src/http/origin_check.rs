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
    names::{parse_host_header, parse_origin, split_authority},
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
            host: without_dot(host).to_owned(),
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

/// A host without the dot that can end it: `mcp.example.` and `mcp.example` are the same name.
fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// The scheme, host and port of an origin: <https://www.rfc-editor.org/rfc/rfc6454#section-6.2>.
fn parts(origin: &str) -> Option<(&str, &str, Option<NonZeroU16>)> {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return (origin == "null").then_some(("", origin, None));
    };
    let (host, port) = split_authority(authority)?;
    let is = |name: &str| scheme.eq_ignore_ascii_case(name);
    let default = match (is("http"), is("https")) {
        (true, _) => NonZeroU16::new(80),
        (_, true) => NonZeroU16::new(443),
        (false, false) => None,
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
            Some(value.to_str().unwrap_or_default())
        };
        // HTTP/2 has the host in the URL.
        let authority = request.uri().authority().map(Authority::as_str);
        let host = text(HOST).or(authority).unwrap_or_default();
        let is_host = |(name, port)| {
            let name = without_dot(name);
            self.hosts.iter().any(|host| host.is(("", name, port)))
        };
        if !split_authority(host).is_some_and(is_host) {
            return Some(NotAllowed::host(host));
        }
        let origin = text(ORIGIN)?;
        let is_origin = |parts| self.origins.iter().any(|origin| origin.is(parts));
        (!parts(origin).is_some_and(is_origin)).then(|| NotAllowed::origin(origin))
    }
}

/// A header whose value is not allowed.
pub(super) struct NotAllowed {
    header: &'static str,
    value: String,
    /// What would allow it. None for a value that nothing allows.
    allowed_by: Option<Setting>,
}

struct Setting {
    /// The option of the command line.
    option: String,
    /// The key of an endpoint.
    key: String,
}

impl NotAllowed {
    fn host(host: &str) -> Self {
        let name = split_authority(host)
            .map(|(name, _)| name)
            .and_then(|name| parse_host_header(name).ok());
        Self {
            header: "Host",
            value: shortened(host),
            allowed_by: name.map(|name| Setting {
                option: format!("--http-name {name}"),
                key: format!("hosts = [\"{name}\"]"),
            }),
        }
    }

    fn origin(origin: &str) -> Self {
        Self {
            header: "Origin",
            value: shortened(origin),
            // An operator may copy the option from the log, so a client must not be able to write one.
            allowed_by: parse_origin(origin).ok().map(|origin| Setting {
                option: format!("--http-origin {origin}"),
                key: format!("origins = [\"{origin}\"]"),
            }),
        }
    }

    /// What the log says about it. `endpoint` is the name of the endpoint, if it is one of a configuration.
    pub(super) fn detail(&self, endpoint: Option<&str>) -> String {
        let (header, value) = (self.header, &self.value);
        let refused = format!("`{header}` is `{value}`");
        match &self.allowed_by {
            Some(setting) => {
                let allows = endpoint.map_or(&setting.option, |_| &setting.key);
                format!("{refused}; `{allows}` allows it")
            }
            None => refused,
        }
    }

    /// The response. `endpoint` is as for [`detail`](Self::detail).
    pub(super) fn response(&self, endpoint: Option<&str>) -> Response {
        let (header, value) = (self.header, &self.value);
        let help = match (&self.allowed_by, endpoint) {
            (Some(Setting { key, .. }), Some(endpoint)) => {
                format!("help: set `{key}` in `[endpoint.{endpoint}]`\n")
            }
            (Some(Setting { option, .. }), None) => format!("help: start it with `{option}`\n"),
            (None, _) => String::new(),
        };
        let message =
            format!("the header `{header}` is `{value}`, which this server does not allow\n{help}");
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
        let own = ["HTTPS://app.example", "http://b.example:8080", "null"].map(str::to_owned);
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
            ("mcp.example.:1", true),
            ("mcp.example..", false),
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
    fn only_names_and_origins_are_proposed() {
        let refused = |origin: &str| NotAllowed::origin(origin).detail(None);
        assert_eq!(
            refused("https://app.example"),
            "`Origin` is `https://app.example`; `--http-origin https://app.example` allows it"
        );
        for made_up in ["$(exit)", "x\", \"https://evil.example", "file://", ""] {
            assert_eq!(refused(made_up), format!("`Origin` is `{made_up}`"));
        }
        assert!(!NotAllowed::host("").detail(None).contains("--http-name"));
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
