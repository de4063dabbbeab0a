//! Endpoints and listeners: what a file says about them, checked.

mod address;
mod http;
mod session;

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    time::SystemTime,
};

use mcp_servlet_schema::{did_you_mean, similar};
use mcp_servlet_server::{
    Endpoint, EndpointTransport, Listener, ServeOptions, TaskOptions, TlsFile, TlsOptions,
    split_address,
};
use time::OffsetDateTime;
use toml::Spanned;

use super::{
    Reader,
    auth::Auths,
    bundle::ReadTool,
    file::{EndpointSection, File, Kind, ListenerSection, ListenerTls},
    table::Table,
};
pub(super) use address::{sse_url, url};

type ListenerTable = Spanned<Table<ListenerSection>>;
type EndpointTable = Spanned<Table<EndpointSection>>;

/// The parts of an endpoint that findings are about.
#[derive(Clone, Debug)]
pub(super) struct EndpointSpans {
    /// Its header.
    pub(super) section: Range<usize>,
    /// The patterns of tools that its search always lists.
    pub(super) always: Vec<Spanned<String>>,
    /// The patterns of tools of its quotas.
    pub(super) quotas: Vec<Spanned<String>>,
}

impl EndpointSection {
    fn spans(&self, section: Range<usize>) -> EndpointSpans {
        let quotas = self
            .quota
            .iter()
            .filter_map(|quota| quota.get_ref().tool.clone());
        EndpointSpans {
            section,
            always: self.tools.always.clone(),
            quotas: quotas.collect(),
        }
    }
}

/// Sections by name, in the order of the file.
pub(super) fn in_order<T>(sections: &BTreeMap<String, Spanned<T>>) -> Vec<(&str, &Spanned<T>)> {
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
            let tls = section.get_ref().tls.as_deref();
            listeners.push(Listener {
                name: name.to_owned(),
                address: address.get_ref().clone(),
                tls: tls.map(|tls| self.listener_tls(tls)),
            });
        }
        listeners
    }

    /// TLS of a listener, whose files are read once to report what is wrong with them.
    fn listener_tls(&mut self, tls: &ListenerTls) -> TlsOptions {
        let options = tls.options(self.folder);
        match options.check_files() {
            Ok(ending) => {
                for (file, end) in ending {
                    self.warn_of_end(tls, file, end);
                }
            }
            Err(error) => self.problem(tls.place(error.file), error.to_string()),
        }
        options
    }

    fn warn_of_end(&mut self, tls: &ListenerTls, file: TlsFile, end: SystemTime) {
        let what = match file {
            TlsFile::Crl(_) => "list of revoked certificates",
            _ => "certificate",
        };
        let expires = if end < SystemTime::now() {
            "expired"
        } else {
            "expires"
        };
        let day = OffsetDateTime::from(end).date();
        self.warn(tls.place(file), format!("this {what} {expires} on {day}"));
    }

    /// The endpoints of the file. `members` are the names of everything that they can serve.
    pub(super) fn endpoints(
        &mut self,
        file: &File,
        members: &[&str],
        tasks: &TaskOptions,
        auths: &mut Auths,
    ) -> Vec<Endpoint> {
        let mut endpoints = Vec::new();
        let mut paths = Paths::default();
        let mut stdio: Option<&str> = None;
        for (name, section) in in_order::<Table<EndpointSection>>(&file.endpoint) {
            let table = section.get_ref();
            self.kind(name, table);
            self.members(name, table, members);
            self.listed(table);
            let mut options = ServeOptions::default();
            options.endpoint = Some(name.to_owned());
            options.tasks.clone_from(tasks);
            table.apply(&mut options);
            self.forwarded(table, &auths.credentials());
            let transport = if *table.kind.get_ref() == Kind::Stdio {
                if let Some(first) = stdio.replace(name) {
                    let message =
                        format!("endpoint `{first}` is `stdio` already; there can be one");
                    self.problem(table.kind.span(), message);
                }
                Some(EndpointTransport::Stdio)
            } else {
                self.http(name, section, file, (&mut paths, auths))
            };
            let spans = table.spans(section.span());
            self.endpoint_spans.insert(name.to_owned(), spans);
            endpoints.extend(transport.map(|transport| Endpoint {
                name: name.to_owned(),
                transport,
                members: names(table),
                search: table.search(),
                introduction: table.introduction(file.server.introduction()),
                options,
            }));
        }
        endpoints
    }

    /// Reports tools of different bundles that one endpoint would list under the same name.
    pub(super) fn repeated_tools(&mut self, tools: &[ReadTool], endpoints: &[Endpoint]) {
        if endpoints.is_empty() {
            return self.repeated_tools_of(tools, None, "there are");
        }
        for endpoint in endpoints {
            let members = endpoint.members.as_deref();
            let subject = format!("endpoint `{}` would have", endpoint.name);
            self.repeated_tools_of(tools, members, &subject);
        }
        self.names_of_search(tools, endpoints);
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

    /// Reports tools that are listed anyway.
    fn listed(&mut self, table: &EndpointSection) {
        if let (false, Some(first)) = (table.tools.search, table.tools.always.first()) {
            let message = "`always` needs `search = true`: without a search, all tools are listed";
            self.problem(first.span(), message.to_owned());
        }
    }

    /// Reports members that do not exist, and those that are listed twice.
    fn members(&mut self, endpoint: &str, table: &EndpointSection, known: &[&str]) {
        let mut seen = HashMap::new();
        for member in table.bundles.iter().flatten() {
            let (name, span) = (member.get_ref(), member.span());
            self.member(member, known);
            if let Some(first) = seen.insert(name, self.position(span.start)) {
                let message =
                    format!("`{name}` is listed twice in endpoint `{endpoint}`, first at {first}");
                self.problem(span, message);
            }
        }
    }

    /// Reports a member that does not exist.
    pub(super) fn member(&mut self, member: &Spanned<String>, known: &[&str]) {
        let name = member.get_ref();
        if !known.contains(&name.as_str()) {
            let hint = did_you_mean(similar(name, known.iter().copied()));
            let message = format!("there is no servlet, remote or bundle `{name}`{hint}");
            self.problem(member.span(), message);
        }
    }
}

/// The endpoints by listener and path.
type Paths = HashMap<(String, String), String>;

fn names(table: &EndpointSection) -> Option<Vec<String>> {
    let names = table.bundles.as_ref()?.iter();
    Some(names.map(|name| name.get_ref().clone()).collect())
}

/// A key, where it is, and the kinds that have it.
type KeyOfKinds = (&'static str, Option<Range<usize>>, &'static [Kind]);

impl EndpointSection {
    /// The keys that only some kinds have.
    fn keys_of_kinds(&self) -> [KeyOfKinds; 15] {
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
            ("auth", span(self.auth.as_ref()), BOTH),
            ("url", span(self.url.as_ref()), BOTH),
            ("response", span(self.response.as_ref()), HTTP),
            ("headers", span(self.headers.as_ref()), BOTH),
            ("message_headers", span(self.message_headers.as_ref()), SSE),
            ("forward_headers", span(self.forward_headers.as_ref()), BOTH),
            ("forward", span(self.forward.as_ref()), BOTH),
            ("reject", span(self.reject.as_ref()), BOTH),
            ("on_session", span(self.on_session.as_ref()), BOTH),
            ("session", span(self.session.as_ref()), BOTH),
        ]
    }
}
