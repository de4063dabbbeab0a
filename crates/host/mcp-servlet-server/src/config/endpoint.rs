//! Endpoints and listeners: what a file says about them, checked.

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    ops::Range,
};

use mcp_servlet_host::Introduction;
use mcp_servlet_schema::similar;
use toml::Spanned;

use super::{
    Reader,
    file::{EndpointSection, File, Headers, Kind, ListenerSection},
    table::Table,
};
use crate::{
    HttpOptions, HttpTransport, ResponseHeaders, ServeOptions, TaskOptions, http::header_name,
    parse_host_header, parse_origin, split_authority,
};

/// An address that endpoints listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listener {
    /// The name in the configuration.
    pub name: String,
    /// The address and port.
    pub address: String,
}

/// Where clients connect, and what they find there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Endpoint {
    /// The name in the configuration.
    pub name: String,
    /// Where clients connect.
    pub transport: EndpointTransport,
    /// The names of its members, in order. `None` stands for all.
    pub members: Option<Vec<String>>,
    /// How the server introduces itself here.
    pub introduction: Introduction,
    /// Options for its requests.
    pub options: ServeOptions,
}

/// Where clients of an endpoint connect.
#[derive(Clone, Debug, PartialEq)]
pub enum EndpointTransport {
    /// Standard input and output.
    Stdio,
    /// A path of a listener.
    Http {
        /// The name of the listener.
        listener: String,
        /// The path, the transport and its limits.
        options: Box<HttpOptions>,
    },
}

type ListenerTable = Spanned<Table<ListenerSection>>;
type EndpointTable = Spanned<Table<EndpointSection>>;

/// Sections by name, in the order of the file.
fn in_order<T>(sections: &BTreeMap<String, Spanned<T>>) -> Vec<(&str, &Spanned<T>)> {
    let mut sections: Vec<_> = sections
        .iter()
        .map(|(name, section)| (&**name, section))
        .collect();
    sections.sort_by_key(|(_, section)| section.span().start);
    sections
}

impl Reader<'_> {
    /// The listeners of the file.
    pub(super) fn listeners(&mut self, file: &File) -> Vec<Listener> {
        let mut listeners: Vec<Listener> = Vec::new();
        for (name, section) in in_order::<Table<ListenerSection>>(&file.listener) {
            let address = &section.get_ref().address;
            if split_address(address.get_ref()).is_none() {
                let found = address.get_ref();
                let message =
                    format!("expected a host and a port such as 127.0.0.1:8080, found `{found}`");
                self.problem(address.span(), message);
            }
            let is_taken = |other: &&Listener| other.address == *address.get_ref();
            if let Some(other) = listeners.iter().find(is_taken) {
                let message = format!("listener `{}` has this address too", other.name);
                self.problem(address.span(), message);
            }
            listeners.push(Listener {
                name: name.to_owned(),
                address: address.get_ref().clone(),
            });
        }
        listeners
    }

    /// The endpoints of the file. `members` are the names of everything that they can serve.
    pub(super) fn endpoints(
        &mut self,
        file: &File,
        members: &[&str],
        tasks: &TaskOptions,
    ) -> Vec<Endpoint> {
        let mut endpoints = Vec::new();
        let mut paths = Paths::default();
        let mut stdio: Option<&str> = None;
        for (name, section) in in_order::<Table<EndpointSection>>(&file.endpoint) {
            let table = section.get_ref();
            self.kind(name, table);
            self.members(table, members);
            let mut options = ServeOptions::default();
            options.tasks.clone_from(tasks);
            table.apply(&mut options);
            self.forwarded(table);
            let transport = if *table.kind.get_ref() == Kind::Stdio {
                if let Some(first) = stdio.replace(name) {
                    let message =
                        format!("endpoint `{first}` is `stdio` already; there can be one");
                    self.problem(table.kind.span(), message);
                }
                Some(EndpointTransport::Stdio)
            } else {
                self.http(name, section, file, &mut paths)
            };
            endpoints.extend(transport.map(|transport| Endpoint {
                name: name.to_owned(),
                transport,
                members: names(table),
                introduction: table.introduction(file.server.introduction()),
                options,
            }));
        }
        endpoints
    }

    /// Reports keys that the kind does not have.
    fn kind(&mut self, name: &str, table: &EndpointSection) {
        let kind = *table.kind.get_ref();
        for (key, span, kinds) in table.keys_of_kinds() {
            if let Some(span) = span
                && !kinds.contains(&kind)
            {
                let kinds: Vec<_> = kinds
                    .iter()
                    .map(|kind| format!("`{}`", kind.name()))
                    .collect();
                let message = format!(
                    "`{key}` is for endpoints of the kind {}; `{name}` is `{}`",
                    kinds.join(" or "),
                    kind.name()
                );
                self.problem(span, message);
            }
        }
    }

    /// Reports members that do not exist, and those that are listed twice.
    fn members(&mut self, table: &EndpointSection, known: &[&str]) {
        let mut seen = HashMap::new();
        for member in table.bundles.iter().flatten() {
            let (name, span) = (member.get_ref(), member.span());
            if !known.contains(&name.as_str()) {
                let message = match similar(name, known.iter().copied()) {
                    Some(near) => format!("there is no servlet `{name}`; did you mean `{near}`?"),
                    None => format!("there is no servlet `{name}`"),
                };
                self.problem(span.clone(), message);
            }
            if let Some(first) = seen.insert(name, self.line(span.start)) {
                let message = format!("`{name}` is listed twice, first in line {first}");
                self.problem(span, message);
            }
        }
    }

    fn forwarded(&mut self, table: &EndpointSection) {
        const CREDENTIALS: [&str; 4] = [
            "authorization",
            "cookie",
            "mcp-session-id",
            "proxy-authorization",
        ];
        for name in table.forward_headers.iter().flat_map(Spanned::get_ref) {
            let text = name.get_ref();
            if let Err(message) = header_name(text) {
                self.problem(name.span(), message);
            } else if CREDENTIALS.contains(&&*text.to_ascii_lowercase()) {
                let message =
                    format!("servlets cannot read the header `{text}`: it is a credential");
                self.problem(name.span(), message);
            }
        }
    }

    /// The options of an endpoint over HTTP. None if there is no listener for it.
    fn http(
        &mut self,
        name: &str,
        section: &EndpointTable,
        file: &File,
        paths: &mut Paths,
    ) -> Option<EndpointTransport> {
        let table = section.get_ref();
        let mut options = file.http.options();
        options.endpoint = Some(name.to_owned());
        options.path = self.path(table.path.as_ref(), default_path(table));
        options.transport = self.transport(table);
        options.headers = self.headers(table.headers.as_ref());
        table.apply_sessions(&mut options);
        let listener = self.listener(table, file)?;
        listener.1.get_ref().apply(&mut options);
        self.names(table, listener.1, &mut options);
        self.claim(name, listener.0, section, &options, paths);
        Some(EndpointTransport::Http {
            listener: listener.0.to_owned(),
            options: Box::new(options),
        })
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
        if !path.starts_with('/') || has_end || !path.bytes().all(is_byte) {
            let message = format!("expected a path such as /mcp, found `{path}`");
            self.problem(given.span(), message);
        } else if path == "/health" {
            let message =
                "`/health` is the path of the health check; give the endpoint another one";
            self.problem(given.span(), message.to_owned());
        }
        path.clone()
    }

    fn transport(&mut self, table: &EndpointSection) -> HttpTransport {
        if *table.kind.get_ref() != Kind::Sse {
            let response = table.response.as_ref().map(|response| *response.get_ref());
            return HttpTransport::Streamable {
                response: response.map(Into::into).unwrap_or_default(),
            };
        }
        HttpTransport::Sse {
            messages: self.path(table.messages.as_ref(), "/message"),
            headers: self.headers(table.message_headers.as_ref()),
        }
    }

    /// Headers of responses. Their values are constants.
    fn headers(&mut self, given: Option<&Spanned<Headers>>) -> ResponseHeaders {
        let mut headers = ResponseHeaders::default();
        for (name, value) in given.into_iter().flat_map(Spanned::get_ref) {
            if value.get_ref().contains("${{") {
                let message = "expected text and `${NAME}`, found an expression".to_owned();
                self.problem(value.span(), message);
            } else if let Some(text) = self.expanded(value)
                && let Err(message) = headers.add(name, &text)
            {
                self.problem(value.span(), message);
            }
        }
        headers
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

/// The endpoints by listener and path.
type Paths = HashMap<(String, String), String>;

fn default_path(table: &EndpointSection) -> &'static str {
    match table.kind.get_ref() {
        Kind::Sse => "/sse",
        Kind::Http | Kind::Stdio => "/mcp",
    }
}

fn names(table: &EndpointSection) -> Option<Vec<String>> {
    let names = table.bundles.as_ref()?.iter();
    Some(names.map(|name| name.get_ref().clone()).collect())
}

/// A key, where it is, and the kinds that have it.
type KeyOfKinds = (&'static str, Option<Range<usize>>, &'static [Kind]);

impl EndpointSection {
    /// The keys that only some kinds have.
    fn keys_of_kinds(&self) -> [KeyOfKinds; 10] {
        fn span<T>(value: Option<&Spanned<T>>) -> Option<Range<usize>> {
            value.map(Spanned::span)
        }
        const HTTP: &[Kind] = &[Kind::Http];
        const SSE: &[Kind] = &[Kind::Sse];
        const BOTH: &[Kind] = &[Kind::Http, Kind::Sse];
        [
            ("listener", span(self.listener.as_ref()), BOTH),
            ("path", span(self.path.as_ref()), BOTH),
            ("messages", span(self.messages.as_ref()), SSE),
            ("hosts", span(self.hosts.as_ref()), BOTH),
            ("origins", span(self.origins.as_ref()), BOTH),
            ("response", span(self.response.as_ref()), HTTP),
            ("headers", span(self.headers.as_ref()), BOTH),
            ("message_headers", span(self.message_headers.as_ref()), SSE),
            ("forward_headers", span(self.forward_headers.as_ref()), BOTH),
            ("session", span(self.session.as_ref()), BOTH),
        ]
    }
}

/// Splits an address into host and port.
fn split_address(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match bare {
        Some(host) => host.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !host.contains([':', '/', ' ']),
    };
    Some((bare.unwrap_or(host), port.parse().ok().filter(|_| is_host)?))
}

/// The URL of the first endpoint over streamable HTTP. None if there is none, or if clients start
/// the server.
pub(super) fn url(endpoints: &[Endpoint], listeners: &[Listener]) -> Option<String> {
    let is_stdio = |one: &Endpoint| one.transport == EndpointTransport::Stdio;
    if endpoints.iter().any(is_stdio) {
        return None;
    }
    endpoints
        .iter()
        .find_map(|endpoint| match &endpoint.transport {
            EndpointTransport::Http { listener, options }
                if matches!(options.transport, HttpTransport::Streamable { .. }) =>
            {
                let listener = listeners.iter().find(|one| one.name == *listener)?;
                let (_, port) = split_address(&listener.address)?;
                let authority = match options
                    .hosts
                    .first()
                    .map(|name| (name, split_authority(name)))
                {
                    Some((name, Some((_, Some(_))))) => name.clone(),
                    Some((name, _)) => format!("{name}:{port}"),
                    None => listener.address.clone(),
                };
                Some(format!("http://{authority}{}", options.path))
            }
            _ => None,
        })
}

/// Whether only programs on this machine can connect.
fn is_local(address: &str) -> bool {
    match address.parse::<SocketAddr>() {
        Ok(address) => address.ip().is_loopback(),
        Err(_) => split_address(address).is_none_or(|(host, _)| host == "localhost"),
    }
}
