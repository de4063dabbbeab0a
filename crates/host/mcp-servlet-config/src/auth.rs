//! Who may call endpoints: what a file says about it, checked.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs,
    ops::Range,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use http::{
    HeaderName,
    header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION},
};
use mcp_servlet_access::{
    Algorithm, AuthOptions, CertificateOptions, IntrospectionOptions, Jwks, JwtOptions, KeyOptions,
    KeySource, Secret, Sha256, ToolScopes, Trust, is_scope, without_root,
};
use mcp_servlet_common::is_this_machine;
use mcp_servlet_schema::similar;
use mcp_servlet_server::{Endpoint, EndpointTransport, header_name};
use time::{Date, Month, OffsetDateTime, Time, UtcOffset};
use toml::{Spanned, value::Datetime};
use url::Url;

use super::{
    Mode, Reader,
    bundle::ReadTool,
    endpoint::in_order,
    file::{
        AuthSection, EndpointSection, File, IntrospectionSection, JwtSection, KeySection,
        ListenerSection,
    },
    table::Table,
};

/// How far the clock of an issuer may be wrong.
const MAX_LEEWAY: Duration = Duration::from_mins(2);
/// How long an answer of an issuer is known. A token that it has revoked is accepted for this time.
const MAX_TOKEN_CACHE: Duration = Duration::from_mins(5);

/// The sections of a file by name.
pub(super) struct Auths {
    all: BTreeMap<String, Auth>,
    /// The endpoint of each URL.
    urls: HashMap<String, String>,
    /// The tools whose calls need scopes, and where they say so.
    tools: ToolScopes,
    places: Vec<(String, String, Range<usize>)>,
}

impl Auths {
    /// The options of all sections.
    pub(super) fn options(&self) -> Vec<&AuthOptions> {
        self.all.values().map(|auth| &auth.options).collect()
    }

    /// The headers that servlets and expressions cannot read.
    pub(super) fn credentials(&self) -> HashSet<HeaderName> {
        const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
        let keys = self.all.values().flat_map(|auth| &auth.options.keys);
        keys.map(|key| key.header.clone())
            .chain([AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SESSION])
            .collect()
    }
}

struct Auth {
    options: AuthOptions,
    /// The scopes that clients may ask for, if the section lists them.
    scopes_supported: Option<BTreeSet<String>>,
    /// Whether the section has a `resource`, valid or not.
    has_resource: bool,
    /// Where it says that tokens must be made for the endpoint.
    needs_url: Option<Range<usize>>,
    /// Where it accepts certificates.
    certificate: Option<Range<usize>>,
    section: Range<usize>,
    is_used: bool,
}

impl Reader<'_> {
    /// The sections of the file.
    pub(super) fn auths(&mut self, file: &File) -> Auths {
        let mut all = BTreeMap::new();
        for (name, section) in in_order::<Table<AuthSection>>(&file.auth) {
            let auth = self.auth(name, section);
            all.insert(name.to_owned(), auth);
        }
        let mut auths = Auths {
            all,
            urls: HashMap::new(),
            tools: ToolScopes::new(),
            places: Vec::new(),
        };
        self.tool_scopes(file, &mut auths);
        auths
    }

    /// The tools of servlets and remotes whose calls need scopes.
    fn tool_scopes(&mut self, file: &File, auths: &mut Auths) {
        let servlets = file.servlet.iter().flat_map(|(name, section)| {
            let tools = section.get_ref().tool_scopes();
            tools.map(move |(tool, scopes)| (name, tool, scopes))
        });
        let remotes = file.remote.iter().flat_map(|(name, section)| {
            let tools = section.get_ref().tool_scopes();
            tools.map(move |(tool, scopes)| (name, tool, scopes))
        });
        for (member, tool, given) in servlets.chain(remotes) {
            let Some(first) = given.first() else {
                continue;
            };
            let scopes = self.scopes(given);
            auths
                .places
                .push((member.clone(), tool.to_owned(), first.span()));
            let tools = auths.tools.entry(member.clone()).or_default();
            tools.insert(tool.to_owned(), scopes);
        }
    }

    /// Reports tools that need scopes at endpoints that know nobody's.
    pub(super) fn open_tools(
        &mut self,
        auths: &Auths,
        endpoints: &[Endpoint],
        virtual_tools: &[ReadTool],
    ) {
        for (owner, tool, place) in &auths.places {
            let lists = |members: &[String]| {
                members.iter().any(|member| {
                    let mut bundled = virtual_tools.iter();
                    member == owner || bundled.any(|one| one.calls(member, owner, tool))
                })
            };
            let is_open = |endpoint: &&Endpoint| match &endpoint.transport {
                EndpointTransport::Http { options, .. } if options.auth.is_none() => {
                    endpoint.members.as_deref().is_none_or(lists)
                }
                _ => false,
            };
            let message = if endpoints.is_empty() {
                format!("tool `{tool}` needs scopes, but there is no endpoint with `auth`")
            } else if let Some(open) = endpoints.iter().find(is_open) {
                let name = &open.name;
                format!("tool `{tool}` needs scopes, but endpoint `{name}` has no `auth`")
            } else {
                continue;
            };
            self.problem(place.clone(), message);
        }
    }

    /// Reports sections that no endpoint uses: they would protect nothing.
    pub(super) fn unused_auths(&mut self, auths: &Auths) {
        for (name, auth) in auths.all.iter().filter(|(_, auth)| !auth.is_used) {
            let message = format!(
                "no endpoint uses `[auth.{name}]`; write `auth = \"{name}\"` in an `[endpoint.NAME]`"
            );
            self.problem(auth.section.clone(), message);
        }
    }

    fn auth(&mut self, name: &str, spanned: &Spanned<Table<AuthSection>>) -> Auth {
        let section = spanned.get_ref();
        self.check_credentials(name, spanned);
        let mut options = AuthOptions {
            name: name.to_owned(),
            ..AuthOptions::default()
        };
        if let Some(resource) = &section.resource {
            options.resource = self.https(resource);
        }
        options.scopes = self.scopes(&section.scopes);
        options.claims.clone_from(&section.claims);
        if let Some(realm) = &section.realm {
            let text = realm.get_ref();
            if !is_quotable(text) {
                let message = "expected ASCII without quotes and backslashes";
                self.problem(realm.span(), message.to_owned());
            }
            options.realm.clone_from(text);
        }
        let mut needs_url = None;
        for jwt in &section.jwt {
            self.jwt(name, jwt, &mut options);
            if jwt.get_ref().audience.is_none() {
                needs_url = needs_url.or(Some(jwt.span()));
            }
        }
        if let Some(introspection) = &section.introspection {
            options.introspection = self.introspection(introspection.get_ref());
            needs_url = needs_url.or(Some(introspection.span()));
        }
        for key in &section.key {
            self.key(key.get_ref(), &mut options);
        }
        if let Some(certificate) = &section.certificate {
            let subject = certificate.get_ref().subject.into();
            let scopes = self.scopes(&certificate.get_ref().scopes);
            options.certificate = Some(CertificateOptions { subject, scopes });
        }
        let supported = section.scopes_supported.as_ref();
        let scopes_supported = supported.map(|scopes| self.scopes(scopes));
        Auth {
            options,
            scopes_supported,
            has_resource: section.resource.is_some()
                || self.is_left_out(&["auth", name, "resource"]),
            needs_url,
            certificate: section.certificate.as_ref().map(Spanned::span),
            section: spanned.span(),
            is_used: false,
        }
    }

    /// Reports a section without credentials, unless it has some that are reported already.
    fn check_credentials(&mut self, name: &str, spanned: &Spanned<Table<AuthSection>>) {
        let section = spanned.get_ref();
        let has_tokens = !section.jwt.is_empty() || section.introspection.is_some();
        let has_any = has_tokens || !section.key.is_empty() || section.certificate.is_some();
        let mut keys = ["jwt", "introspection", "key", "certificate"].into_iter();
        if !has_any && !keys.any(|key| self.is_left_out(&["auth", name, key])) {
            let message = format!(
                "missing key: `[auth.{name}]` accepts no credentials; add `jwt`, `introspection`, `key` or `certificate`"
            );
            self.problem(spanned.span(), message);
        }
    }

    /// Reports an empty list, which would let no token in.
    fn at_least_one<T>(&mut self, list: Option<&Spanned<Vec<T>>>, expected: &str) {
        if let Some(list) = list.filter(|list| list.get_ref().is_empty()) {
            let message = format!("expected at least one {expected}");
            self.problem(list.span(), message);
        }
    }

    fn jwt(&mut self, auth: &str, jwt: &Spanned<Table<JwtSection>>, options: &mut AuthOptions) {
        let jwt = jwt.get_ref();
        let issuer = self.https(&jwt.issuer).unwrap_or_default();
        if options.jwt.iter().any(|other| other.issuer == issuer) {
            let message = format!("`[[auth.{auth}.jwt]]` has this issuer already");
            self.problem(jwt.issuer.span(), message);
        }
        self.at_least_one(jwt.algorithms.as_ref(), "algorithm, such as RS256");
        self.at_least_one(jwt.audience.as_ref(), "value of `aud`");
        self.at_least_one(jwt.types.as_ref(), "value of `typ`, such as at+jwt");
        let mut algorithms = Vec::new();
        for name in jwt.algorithms.iter().flat_map(Spanned::get_ref) {
            algorithms.extend(self.algorithm(name));
        }
        if jwt.algorithms.is_none() {
            algorithms.extend(JwtOptions::ALGORITHMS);
        }
        let mut leeway = JwtOptions::LEEWAY;
        if let Some(given) = &jwt.leeway {
            leeway = given.get_ref().0;
            if leeway > MAX_LEEWAY {
                let message = "expected a time of at most 2m, such as 30s";
                self.problem(given.span(), message.to_owned());
            }
        }
        if let Some(keys) = self.keys(jwt) {
            options.jwt.push(JwtOptions {
                issuer,
                keys,
                audience: jwt
                    .audience
                    .clone()
                    .map(Spanned::into_inner)
                    .unwrap_or_default(),
                algorithms,
                types: jwt.types.clone().map(Spanned::into_inner),
                leeway,
            });
        }
    }

    fn introspection(&mut self, section: &IntrospectionSection) -> Option<IntrospectionOptions> {
        let url = self.https(&section.url);
        let issuer = self.https(&section.issuer);
        let secret = self.expanded(&section.secret);
        let trust = self.trust(section.tls.ca.as_ref(), &section.issuer);
        let mut cache = Duration::from_secs(30);
        if let Some(given) = &section.cache {
            cache = given.get_ref().0;
            if cache > MAX_TOKEN_CACHE {
                let message = "expected a time of at most 5m, such as 30s";
                self.problem(given.span(), message.to_owned());
            }
        }
        let timeout = section
            .timeout
            .map_or(Duration::from_secs(3), |time| time.0);
        Some(IntrospectionOptions {
            url: Url::parse(&url?).ok()?,
            client: section.client.clone(),
            secret: Secret(secret?),
            issuer: issuer?,
            trust,
            cache,
            timeout,
        })
    }

    /// Where the keys of an issuer are.
    fn keys(&mut self, jwt: &JwtSection) -> Option<KeySource> {
        let trust = self.trust(jwt.tls.ca.as_ref(), &jwt.issuer);
        let Some(given) = &jwt.jwks else {
            return Some(KeySource::Published { url: None, trust });
        };
        if given.get_ref().contains("://") {
            let url = self.https(given)?;
            let url = Url::parse(&url).ok();
            return Some(KeySource::Published { url, trust });
        }
        let path = self.folder.join(given.get_ref());
        self.files.add(path.clone());
        if self.mode == Mode::Describe {
            return None;
        }
        let keys = match fs::read(&path) {
            Ok(json) => Jwks::parse(&json).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match keys {
            Ok(keys) => Some(KeySource::Known(keys)),
            Err(problem) => {
                let message = format!("cannot read keys from `{}`: {problem}", path.display());
                self.problem(given.span(), message);
                None
            }
        }
    }

    /// What the server trusts when it sends a request to an issuer. A changed file is other options, so the gate is replaced.
    fn trust(&mut self, ca: Option<&Spanned<String>>, issuer: &Spanned<String>) -> Trust {
        let path = ca.map(|ca| self.folder.join(ca.get_ref()));
        if let Some(path) = &path {
            self.files.add(path.clone());
        }
        if self.mode == Mode::Describe {
            return Trust::default();
        }
        Trust::of_operator(path.as_deref()).unwrap_or_else(|error| {
            self.problem(ca.unwrap_or(issuer).span(), error.to_string());
            Trust::default()
        })
    }

    /// A file with certificates.
    pub(super) fn ca(&mut self, given: &Spanned<String>) -> PathBuf {
        let path = self.folder.join(given.get_ref());
        self.files.add(path.clone());
        if self.mode != Mode::Describe
            && let Err(error) = Trust::of_operator(Some(&path))
        {
            self.problem(given.span(), error.to_string());
        }
        path
    }

    fn algorithm(&mut self, name: &Spanned<String>) -> Option<Algorithm> {
        let text = name.get_ref();
        let parsed = text.parse::<Algorithm>().ok();
        if let Some(algorithm) = parsed.filter(|one| JwtOptions::ALGORITHMS.contains(one)) {
            return Some(algorithm);
        }
        let message = if parsed.is_some() {
            format!(
                "`{text}` needs a secret that the issuer shares with this server; use RS, PS, ES or EdDSA algorithms"
            )
        } else {
            let names = JwtOptions::ALGORITHMS.map(|one| format!("{one:?}"));
            match similar(text, names.iter().map(String::as_str)) {
                Some(near) => format!("there is no algorithm `{text}`; did you mean `{near}`?"),
                None => format!(
                    "there is no algorithm `{text}`; there are {}",
                    names.join(", ")
                ),
            }
        };
        self.problem(name.span(), message);
        None
    }

    fn key(&mut self, key: &KeySection, options: &mut AuthOptions) {
        let name = key.name.get_ref();
        if name.is_empty() || options.keys.iter().any(|other| other.name == *name) {
            let message = "expected a name that no other key has";
            self.problem(key.name.span(), message.to_owned());
        }
        let sha256 = Sha256::from_hex(key.sha256.get_ref());
        if sha256.is_none() {
            let message = "expected 64 hexadecimal digits, the SHA-256 of the key, which `servlet auth key` prints";
            self.problem(key.sha256.span(), message.to_owned());
        }
        let header = key.header.as_ref().map_or(Ok("authorization"), |header| {
            header_name(header.get_ref()).map(|_| header.get_ref().as_str())
        });
        if let (Err(message), Some(given)) = (&header, &key.header) {
            self.problem(given.span(), message.clone());
        }
        let until = key.until.as_ref().and_then(|until| self.end_of(until));
        let has_ended = until.is_some_and(|end| end <= SystemTime::now());
        if let Some(given) = key.until.as_ref().filter(|_| has_ended) {
            let message = format!("key `{name}` ended on {}", given.get_ref());
            self.warn(given.span(), message);
        }
        let scopes = self.scopes(&key.scopes);
        let header = header
            .ok()
            .and_then(|name| name.to_ascii_lowercase().parse::<HeaderName>().ok());
        if let Some((sha256, header)) = sha256.zip(header) {
            let is_equal = |other: &&KeyOptions| other.sha256 == sha256 && other.header == header;
            if let Some(other) = options.keys.iter().find(is_equal) {
                let other = &other.name;
                let message = format!("key `{other}` has this digest too; remove one of them");
                self.problem(key.sha256.span(), message);
            }
            options.keys.push(KeyOptions {
                name: name.clone(),
                sha256,
                scopes,
                until,
                header,
            });
        }
    }

    /// When a day ends, in UTC.
    fn end_of(&mut self, day: &Spanned<Datetime>) -> Option<SystemTime> {
        let date = day
            .get_ref()
            .date
            .filter(|_| day.get_ref().time.is_none())
            .and_then(|date| {
                let month = Month::try_from(date.month).ok()?;
                Date::from_calendar_date(date.year.into(), month, date.day).ok()
            });
        let Some(next) = date.and_then(Date::next_day) else {
            let message = "expected a day such as 2027-01-31, without a time";
            self.problem(day.span(), message.to_owned());
            return None;
        };
        Some(OffsetDateTime::new_in_offset(next, Time::MIDNIGHT, UtcOffset::UTC).into())
    }

    pub(super) fn scopes(&mut self, given: &[Spanned<String>]) -> BTreeSet<String> {
        let mut scopes = BTreeSet::new();
        for scope in given {
            let text = scope.get_ref();
            if is_scope(text) {
                scopes.insert(text.clone());
            } else {
                let what = if text.contains(' ') {
                    "it has a space"
                } else {
                    "expected ASCII without quotes and backslashes"
                };
                self.problem(scope.span(), format!("`{text}` is not a scope: {what}"));
            }
        }
        scopes
    }

    /// A URL with TLS, as it is written.
    pub(super) fn https(&mut self, given: &Spanned<String>) -> Option<String> {
        let text = given.get_ref();
        let url = Url::parse(text).ok();
        let is_valid = url.is_some_and(|url| match url.scheme() {
            "https" => url.fragment().is_none(),
            "http" => url.fragment().is_none() && url.host_str().is_some_and(is_this_machine),
            _ => false,
        });
        if !is_valid {
            let message = format!(
                "expected an `https` URL without `#`, found `{text}`; `http` is for this machine only"
            );
            self.problem(given.span(), message);
            return None;
        }
        Some(text.clone())
    }

    /// Whether an endpoint has a URL, valid or not. One that is not valid is reported already.
    fn has_url(&self, endpoint: &str, table: &EndpointSection, auth: &Auth) -> bool {
        auth.has_resource || table.url.is_some() || self.is_left_out(&["endpoint", endpoint, "url"])
    }

    /// Who may call an endpoint over HTTP.
    pub(super) fn callers(
        &mut self,
        endpoint: &str,
        table: &EndpointSection,
        (listener, section): (&str, &ListenerSection),
        auths: &mut Auths,
    ) -> Option<AuthOptions> {
        let url = table.url.as_ref().and_then(|url| self.https(url));
        let wanted = table.auth.as_ref()?;
        let name = wanted.get_ref();
        let Some(auth) = auths.all.get_mut(name) else {
            let names = auths.all.keys().map(String::as_str);
            let hint = match similar(name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "add `[auth.{name}]` with its `jwt`, `introspection`, `key` or `certificate`"
                ),
            };
            self.problem(
                wanted.span(),
                format!("there is no `[auth.{name}]`; {hint}"),
            );
            return None;
        };
        auth.is_used = true;
        let mut options = auth.options.clone();
        options.resource = url.or(options.resource);
        options.tools.clone_from(&auths.tools);
        options.scopes_supported = auth.scopes_supported.clone().unwrap_or_else(|| {
            let of_tools = auths.tools.values().flat_map(BTreeMap::values).flatten();
            options.scopes.iter().chain(of_tools).cloned().collect()
        });
        if options.realm.is_empty() {
            if !is_quotable(endpoint) {
                let message = format!(
                    "`{}` cannot be the realm of challenges; write `realm` in `[auth.{name}]`",
                    endpoint.escape_debug()
                );
                self.problem(wanted.span(), message);
            }
            endpoint.clone_into(&mut options.realm);
        }
        let asks = section.tls.as_ref().is_some_and(|tls| tls.asks_clients());
        if let Some(certificate) = auth.certificate.clone().filter(|_| !asks) {
            self.problem(certificate, asks_for_no_certificates(listener));
        }
        match (&options.resource, &auth.needs_url) {
            (None, Some(jwt)) if !self.has_url(endpoint, table, auth) => {
                let message = "missing key `resource`: tokens must be made for this server";
                self.problem(jwt.clone(), message.to_owned());
            }
            (Some(resource), _) if options.has_issuers() => {
                let url = without_root(resource).to_owned();
                let other = auths.urls.insert(url, endpoint.to_owned());
                if let Some(other) = other {
                    let message = format!(
                        "endpoint `{other}` has the URL `{resource}` too, so a token for one would open both; give each its own `url`"
                    );
                    let given = table.url.as_ref().unwrap_or(wanted);
                    self.problem(given.span(), message);
                }
            }
            _ => {}
        }
        Some(options)
    }
}

/// The problem with what needs certificates at a listener without them.
pub(super) fn asks_for_no_certificates(listener: &str) -> String {
    format!(
        "listener `{listener}` asks for no client certificates; add `[listener.{listener}.tls.clients]`"
    )
}

/// Whether a text can be in quotes in a header.
fn is_quotable(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
}
