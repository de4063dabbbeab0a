//! Endpoints over HTTP: their listeners, paths, headers and names.

use mcp_servlet_access::{AuthOptions, metadata_path, unknown_of_caller};
use mcp_servlet_host::bundle::RequestText;
use mcp_servlet_schema::similar;
use toml::Spanned;

use super::{EndpointTable, ListenerTable, Paths, Reader, address::is_local};
use crate::{
    auth::{Auths, asks_for_no_certificates},
    file::{EndpointSection, File, Forward, Headers, Kind},
};
use mcp_servlet_server::{
    EndpointTransport, HEALTH_PATH, HttpOptions, HttpTransport, READY_PATH, ResponseHeaders,
    parse_host_header, parse_origin, split_address,
};

impl Reader<'_> {
    /// The options of an endpoint over HTTP. None if there is no listener for it.
    pub(super) fn http(
        &mut self,
        name: &str,
        section: &EndpointTable,
        file: &File,
        (paths, auths): (&mut Paths, &mut Auths),
    ) -> Option<EndpointTransport> {
        let table = section.get_ref();
        let mut options = file.http.options();
        options.path = self.path(table.path.as_ref(), default_path(table));
        table.apply_sessions(&mut options);
        options.session_storage = self.session_storage(table, file);
        let listener = self.listener(table, file)?;
        self.forwarded_certificate(table, listener);
        options.auth = self.callers(name, table, (listener.0, listener.1.get_ref()), auths);
        let auth = options.auth.as_ref();
        options.transport = self.transport(table, auth.as_slice());
        options.headers = self.headers("headers", table.headers.as_ref(), auth.as_slice());
        listener.1.get_ref().apply(&mut options);
        self.names(table, listener.1, &mut options);
        self.warn_of_plain_tokens(name, table, listener, &options);
        self.claim(name, listener.0, section, &options, paths);
        Some(EndpointTransport::Http {
            listener: listener.0.to_owned(),
            options: Box::new(options),
        })
    }

    /// Warns of tokens that others on the network could read.
    fn warn_of_plain_tokens(
        &mut self,
        name: &str,
        table: &EndpointSection,
        (listener, section): (&str, &ListenerTable),
        options: &HttpOptions,
    ) {
        let section = section.get_ref();
        let is_safe = section.tls.is_some() || is_local(section.address.get_ref());
        if let Some(auth) = &table.auth
            && !is_safe
            && options.trusted_proxies.is_empty()
        {
            let message = format!(
                "tokens of endpoint `{name}` cross the network without TLS on listener `{listener}`; add `tls`, or name the proxy that ends TLS in `trusted_proxies`"
            );
            self.warn(auth.span(), message);
        }
    }

    /// Reports a certificate that servlets could never read.
    fn forwarded_certificate(
        &mut self,
        table: &EndpointSection,
        (listener, section): (&str, &ListenerTable),
    ) {
        let tls = section.get_ref().tls.as_ref();
        let asks = tls.is_some_and(|tls| tls.asks_clients());
        let mut forward = table.forward.iter().flat_map(Spanned::get_ref);
        let certificate = forward.find(|one| *one.get_ref() == Forward::Certificate);
        if let Some(certificate) = certificate.filter(|_| !asks) {
            self.problem(certificate.span(), asks_for_no_certificates(listener));
        }
    }

    /// The listener of an endpoint, and its name.
    fn listener<'f>(
        &mut self,
        table: &EndpointSection,
        file: &'f File,
    ) -> Option<(&'f str, &'f ListenerTable)> {
        let Some(wanted) = &table.listener else {
            let kind = table.kind.get_ref().name();
            let message =
                format!("missing key `listener`: an endpoint of the kind `{kind}` needs one");
            self.problem(table.kind.span(), message);
            return None;
        };
        let name = wanted.get_ref();
        if let Some((name, section)) = file.listener.get_key_value(name) {
            return Some((name, section));
        }
        let message = match similar(name, file.listener.keys().map(String::as_str)) {
            Some(near) => format!("there is no listener `{name}`; did you mean `{near}`?"),
            None => {
                format!("there is no listener `{name}`; add `[listener.{name}]` with its `address`")
            }
        };
        self.problem(wanted.span(), message);
        None
    }

    /// A path that is given, or the default.
    fn path(&mut self, given: Option<&Spanned<String>>, default: &str) -> String {
        let Some(given) = given else {
            return default.to_owned();
        };
        let path = given.get_ref();
        let is_byte = |byte: u8| byte.is_ascii_graphic() && !b"?#%{}\\\"<>".contains(&byte);
        let has_end = path.len() > 1 && path.ends_with('/');
        if !path.starts_with('/') || path.starts_with("//") || has_end || !path.bytes().all(is_byte)
        {
            let message = format!("expected a path such as /mcp, found `{path}`");
            self.problem(given.span(), message);
        } else if let Some(what) = reserved(path) {
            let message = format!("`{path}` is the path of {what}; give the endpoint another one");
            self.problem(given.span(), message);
        }
        path.clone()
    }

    fn transport(&mut self, table: &EndpointSection, auths: &[&AuthOptions]) -> HttpTransport {
        if *table.kind.get_ref() != Kind::Sse {
            let response = table.response.as_ref().map(|response| *response.get_ref());
            return HttpTransport::Streamable {
                response: response.map(Into::into).unwrap_or_default(),
            };
        }
        HttpTransport::Sse {
            messages: self.path(table.messages.as_ref(), "/message"),
            headers: self.headers("message_headers", table.message_headers.as_ref(), auths),
        }
    }

    /// The headers of responses in this key. `auths` are those of the callers that they can read.
    pub(crate) fn headers(
        &mut self,
        key: &'static str,
        given: Option<&Spanned<Headers>>,
        auths: &[&AuthOptions],
    ) -> ResponseHeaders {
        let mut headers = ResponseHeaders::default();
        for (name, value) in given.into_iter().flat_map(Spanned::get_ref) {
            let added = if value.get_ref().contains("${{") {
                let text = self.request_text(key, value, auths);
                text.map(|text| headers.add_text(name, text))
            } else {
                self.expanded(value).map(|text| headers.add(name, &text))
            };
            if let Some(Err(message)) = added {
                self.problem(value.span(), message);
            }
        }
        headers
    }

    /// A text with expressions. Problems are reported.
    pub(crate) fn request_text(
        &mut self,
        key: &'static str,
        value: &Spanned<String>,
        auths: &[&AuthOptions],
    ) -> Option<RequestText> {
        let compiled = RequestText::compile(key, value.get_ref(), &mut |text| self.expand(text));
        match compiled {
            Ok(text) => {
                for (path, start) in text.caller_paths() {
                    if let Some(mistake) = unknown_of_caller(path, auths) {
                        let mistake = mistake.moved(*start);
                        self.problem_in(value, Some(mistake.range), mistake.message);
                    }
                }
                Some(text)
            }
            Err(problems) => {
                for problem in problems {
                    self.problem_in(value, problem.range, problem.message);
                }
                None
            }
        }
    }

    /// Sets the names by which clients may call the server, and the origins of pages.
    fn names(
        &mut self,
        table: &EndpointSection,
        listener: &ListenerTable,
        options: &mut HttpOptions,
    ) {
        let address = listener.get_ref().address.get_ref();
        let host = split_address(address)
            .map(|(host, _)| host)
            .unwrap_or_default();
        match &table.hosts {
            // No client could call the endpoint.
            Some(hosts) if hosts.get_ref().is_empty() => {
                let message = "expected at least one name, such as mcp.example".to_owned();
                self.problem(hosts.span(), message);
            }
            Some(hosts) => options.hosts = self.each(hosts.get_ref(), parse_host_header),
            None if !is_local(address) => {
                let span = table.listener.as_ref().map_or(0..0, Spanned::span);
                let message = format!(
                    "other machines can connect to `{address}`: list the names that they use in `hosts`"
                );
                self.problem(span, message);
            }
            // No website can have an address of this machine as its name.
            None => options.hosts.push(host.to_owned()),
        }
        if let Some(origins) = &table.origins {
            options.origins = self.each(origins.get_ref(), parse_origin);
        }
    }

    /// Parses each value. Problems are reported, and their values left out.
    fn each(
        &mut self,
        values: &[Spanned<String>],
        parse: fn(&str) -> Result<String, String>,
    ) -> Vec<String> {
        let mut parsed = Vec::new();
        for value in values {
            match parse(value.get_ref()) {
                Ok(value) => parsed.push(value),
                Err(message) => self.problem(value.span(), message),
            }
        }
        parsed
    }

    /// Reports paths that another endpoint of the listener has already.
    fn claim(
        &mut self,
        name: &str,
        listener: &str,
        section: &EndpointTable,
        options: &HttpOptions,
        paths: &mut Paths,
    ) {
        let table = section.get_ref();
        let span = |given: &Option<Spanned<String>>| {
            given
                .as_ref()
                .map_or_else(|| table.kind.span(), Spanned::span)
        };
        let mut claimed = vec![(&options.path, span(&table.path))];
        if let HttpTransport::Sse { messages, .. } = &options.transport {
            claimed.push((messages, span(&table.messages)));
        }
        for (path, span) in claimed {
            let taken = paths.insert((listener.to_owned(), path.clone()), name.to_owned());
            if let Some(other) = taken {
                let message = format!(
                    "endpoint `{other}` has the path `{path}` on listener `{listener}` already; choose another path"
                );
                self.problem(span, message);
            }
        }
    }
}

fn default_path(table: &EndpointSection) -> &'static str {
    match table.kind.get_ref() {
        Kind::Sse => "/sse",
        Kind::Http | Kind::Stdio => "/mcp",
    }
}

/// What a listener answers at this path itself.
fn reserved(path: &str) -> Option<&'static str> {
    match path {
        HEALTH_PATH => Some("the health check"),
        READY_PATH => Some("the readiness check"),
        path if metadata_path(path).is_some() => Some("metadata for clients that log in"),
        _ => None,
    }
}
