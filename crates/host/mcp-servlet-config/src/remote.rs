//! `[remote.NAME]`: other MCP servers.

mod login;
mod retries;
mod tls;

use std::{
    collections::BTreeMap,
    fmt,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    ops::Range,
    path::PathBuf,
    sync::Arc,
};

use mcp_servlet_access::AuthOptions;
use mcp_servlet_call::Limit;
use mcp_servlet_common::hex;
use mcp_servlet_host::OnChange;
use mcp_servlet_remote::{
    RemoteLimits, RemoteOptions, Retries, Sessions, Start, ToolTexts, WhenDown,
    client::{Catalog, Command, Http, HttpTransport, Target, TargetError},
};
use mcp_servlet_server::RemoteEntry;
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{SeqAccess, Visitor, value::SeqAccessDeserializer},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toml::Spanned;

use super::{
    Mode, Reader,
    file::RemoteLockSection,
    secrets::{masked, of_url},
    shape::ShapeSection,
    table::Table,
    tools::Tools,
    units::{Count, MAX_COUNT, ShortTime, Size},
};
use login::LoginIs;
use retries::Most;
use tls::TlsFiles;

/// The variables that the process of a server always inherits. On Windows, programs find the system, their folders and other
/// programs by them.
const INHERITED: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "COMSPEC",
        "HOME",
        "HOMEDRIVE",
        "HOMEPATH",
        "LANG",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERPROFILE",
        "WINDIR",
    ]
} else {
    &["HOME", "LANG", "PATH"]
};

/// How many sessions have connections to a remote, unless the configuration says otherwise.
const MAX_SESSIONS: usize = 100;

/// How a remote is compared with the lock.
#[derive(Clone, Debug)]
pub(crate) struct RemoteLock {
    /// JSON pointers to the members of entries that may change.
    pub(crate) ignored: Vec<String>,
    /// What happens to entries that are not approved.
    pub(crate) on_change: OnChange,
    /// The SHA-256 of what decides which server it is: the URL, or the command with its environment, as the file has them.
    pub(crate) target_digest: String,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { url = \"https://mcp.example/mcp\" }"
)]
pub(super) struct RemoteSection {
    /// The URL of the server: `https`, or `http` on this machine.
    #[schemars(with = "Option<String>")]
    url: Option<Spanned<String>>,
    /// The program that is the server, and its arguments. It runs without a shell.
    #[schemars(with = "Option<Vec<String>>")]
    command: Option<Spanned<CommandIs>>,
    /// How messages travel to a URL: `http` for streamable HTTP, `sse` for HTTP+SSE. Default: `http`, and `sse` if the
    /// server refuses that.
    #[schemars(with = "Option<Transport>")]
    transport: Option<Spanned<Transport>>,
    /// Headers of each HTTP request. `${NAME}` is replaced by the environment variable, and `${{ request.id }}` by the id of the
    /// client's request.
    #[schemars(with = "BTreeMap<String, String>")]
    headers: BTreeMap<Spanned<String>, Spanned<String>>,
    /// Certificates for `https`.
    tls: Table<TlsFiles>,
    /// The tokens of the requests: `true` for the login that `servlet login` has stored, or the id of the client with that
    /// login, or the id and the secret of a client.
    #[schemars(with = "Option<LoginIs>")]
    login: Option<Spanned<LoginIs>>,
    /// Environment variables of the command, in addition to `PATH`, `HOME` and `LANG`, and on Windows those by which programs find
    /// the system and their folders; it inherits no others.
    #[schemars(with = "BTreeMap<String, String>")]
    env: BTreeMap<String, Spanned<String>>,
    /// The working directory of the command.
    #[schemars(with = "Option<String>")]
    folder: Option<Spanned<String>>,
    /// How long a request may take. Default: `30s`.
    timeout: Option<ShortTime>,
    /// How long one attempt to connect may take. Default: `10s`.
    connect: Option<ShortTime>,
    /// The attempts to connect, and to get an answer.
    retry: Table<Retry>,
    /// Whether the server does not start without it. Default: false.
    required: bool,
    /// When it connects first: `now` (the default), or `call` with the first request. Until then, clients see the `catalog`.
    start: StartIs,
    /// The file with its lists, as `servlet catalog` writes it, with `start = "call"`.
    #[schemars(with = "Option<String>")]
    catalog: Option<Spanned<String>>,
    /// Whether its tools are listed while it is down: `keep` (the default) lists its tools, and their calls fail; `hide` does not list
    /// them.
    when_down: WhenDownIs,
    /// Closes the connection after this time without a request; the next request opens a new one. Default: never.
    idle: Option<ShortTime>,
    /// How much the remote may send.
    limits: Table<LimitsAre>,
    /// Which requests share a connection: `shared` (the default) means all, `each` those of one session of a client.
    sessions: SessionsAre,
    /// The maximum number of sessions that have connections, with `sessions = "each"`. Default: 100.
    #[schemars(with = "Option<Count<1, MAX_COUNT>>")]
    most_sessions: Option<Spanned<Count<1, MAX_COUNT>>>,
    /// Whether rules may rely on the annotations of its tools. Default: false, and the server warns of such rules.
    pub(super) trust_annotations: bool,
    /// How it is compared with `servlet.lock`.
    lock: Table<RemoteLockSection>,
    /// Which of its tools appear, and how.
    tools: Table<Tools>,
    /// What clients see of single tools, and which scopes these need, by the remote's names for them.
    #[schemars(with = "BTreeMap<String, ToolSection>")]
    tool: BTreeMap<Spanned<String>, Table<ToolSection>>,
}

/// How much a remote may send.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { message = \"64MiB\" }"
)]
struct LimitsAre {
    /// How large a message may be. Default: `16MiB`.
    #[schemars(with = "Size")]
    message: Limit<u64>,
    /// How many entries a list may have, and how many pages. Default: 10000.
    #[schemars(with = "Option<Count<1, MAX_COUNT>>")]
    entries: Option<Count<1, MAX_COUNT>>,
    /// How large all lists together may be. Default: `16MiB`.
    #[schemars(with = "Size")]
    lists: Limit<u64>,
}

impl LimitsAre {
    fn limits(&self) -> RemoteLimits {
        let mut limits = RemoteLimits::default();
        let size = |limit: Limit<u64>, default: usize| {
            let limit = limit.resolve(Some(default as u64)).unwrap_or(u64::MAX);
            usize::try_from(limit).unwrap_or(usize::MAX)
        };
        limits.message = size(self.message, limits.message);
        limits.lists = size(self.lists, limits.lists);
        limits.entries = self.entries.map_or(limits.entries, |count| count.0);
        limits
    }
}

/// What clients see of a tool instead of what the remote says, and the scopes that it needs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { description = \"Finds issues.\" }"
)]
struct ToolSection {
    /// The title.
    title: Option<String>,
    /// The description.
    description: Option<String>,
    /// Annotations such as `{ readOnlyHint = true }`. Those that are not in the table stay.
    annotations: Table<Annotations>,
    /// The scopes that callers need in addition to those of the endpoint.
    #[schemars(with = "Vec<String>")]
    scopes: Vec<Spanned<String>>,
    /// What clients get of its results. Default: everything.
    shape: Option<Table<ShapeSection>>,
}

/// The annotations of a tool.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    rename_all = "camelCase",
    expecting = "a table such as { readOnlyHint = true }"
)]
struct Annotations {
    /// A title.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Whether the tool changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only_hint: Option<bool>,
    /// Whether the tool may delete or overwrite something.
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    /// Whether a second call with the same arguments changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotent_hint: Option<bool>,
    /// Whether the tool talks to others than its server.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_world_hint: Option<bool>,
}

/// A command, or a string, which is refused later: then the key is there, although its value is wrong.
#[derive(Debug)]
enum CommandIs {
    Words(Vec<Spanned<String>>),
    Text,
}

impl<'de> Deserialize<'de> for CommandIs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CommandVisitor)
    }
}

struct CommandVisitor;

impl<'de> Visitor<'de> for CommandVisitor {
    type Value = CommandIs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list in brackets")
    }

    fn visit_str<E>(self, _: &str) -> Result<CommandIs, E> {
        Ok(CommandIs::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, words: A) -> Result<CommandIs, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(words)).map(CommandIs::Words)
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Transport {
    Http,
    Sse,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WhenDownIs {
    #[default]
    Keep,
    Hide,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StartIs {
    #[default]
    Now,
    Call,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SessionsAre {
    #[default]
    Shared,
    Each,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { every = \"500ms\" }"
)]
struct Retry {
    /// The pause before the second attempt; later ones double, up to `2s` for a URL and `30s` for a command. Default:
    /// `500ms`.
    every: Option<ShortTime>,
    /// How many attempts follow the first one: a number, or `forever` (the default).
    most: Most,
    /// How often a request that only reads is sent again if the remote cannot be reached or does not answer, with the pause
    /// `every`. Default: 0.
    #[schemars(with = "Count<0, MAX_COUNT>")]
    requests: Option<Count<0, MAX_COUNT>>,
    /// Whether calls of tools with the annotation `idempotentHint` or `readOnlyHint` are sent again, too. Default: false.
    calls: bool,
}

impl RemoteSection {
    /// Where its URL or its command is.
    pub(super) fn target_span(&self) -> Option<Range<usize>> {
        let url = self.url.as_ref().map(Spanned::span);
        url.or_else(|| self.command.as_ref().map(Spanned::span))
    }

    /// The SHA-256 of what decides which server it is. Environment variables in it are not expanded, so that a new secret is no
    /// other server.
    fn target_digest(&self) -> String {
        let command = self
            .command
            .as_ref()
            .and_then(|command| match command.get_ref() {
                CommandIs::Words(words) => {
                    Some(words.iter().map(Spanned::get_ref).collect::<Vec<_>>())
                }
                CommandIs::Text => None,
            });
        let env: BTreeMap<_, _> = self
            .env
            .iter()
            .map(|(name, value)| (name, value.get_ref()))
            .collect();
        let url = self.url.as_ref().map(Spanned::get_ref);
        let folder = self.folder.as_ref().map(Spanned::get_ref);
        let text = json!([url, command, folder, env]).to_string();
        format!("sha256:{}", hex(&Sha256::digest(text)))
    }

    /// The patterns and names of its tools, and where they are.
    pub(super) fn patterns(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let tools = self
            .tool
            .keys()
            .map(|name| (name.get_ref().as_str(), name.span()));
        self.tools.patterns().chain(tools)
    }

    /// The scopes that callers of its tools need.
    pub(super) fn tool_scopes(&self) -> impl Iterator<Item = (&str, &[Spanned<String>])> {
        let tools = self.tool.iter();
        tools.map(|(name, section)| (name.get_ref().as_str(), section.scopes.as_slice()))
    }

    fn options(&self) -> RemoteOptions {
        let mut options = RemoteOptions::default();
        let set = |to: &mut std::time::Duration, from: Option<ShortTime>| {
            *to = from.map_or(*to, |time| time.0);
        };
        set(&mut options.timeout, self.timeout);
        set(&mut options.connect, self.connect);
        options.idle = self.idle.map(|time| time.0);
        options.when_down = match self.when_down {
            WhenDownIs::Keep => WhenDown::Keep,
            WhenDownIs::Hide => WhenDown::Hide,
        };
        let mut retries = Retries::default();
        set(&mut retries.every, self.retry.every);
        retries.most = self.retry.most.0;
        let requests = self.retry.requests.map_or(0, |requests| requests.0);
        retries.requests = requests.try_into().unwrap_or(u32::MAX);
        retries.calls = self.retry.calls;
        options.retries = retries;
        options.sessions = match self.sessions {
            SessionsAre::Shared => Sessions::Shared,
            SessionsAre::Each => {
                let most = self
                    .most_sessions
                    .as_ref()
                    .map_or(MAX_SESSIONS, |most| most.get_ref().0);
                Sessions::Each { most }
            }
        };
        options.limits = self.limits.limits();
        options.tools = self.texts();
        options
    }

    fn texts(&self) -> BTreeMap<String, ToolTexts> {
        let sections = self.tool.iter().map(|(name, section)| {
            let mut texts = ToolTexts::default();
            texts.title.clone_from(&section.title);
            texts.description.clone_from(&section.description);
            let annotations = serde_json::to_value(&*section.annotations);
            if let Ok(Value::Object(annotations)) = annotations {
                texts.annotations = annotations;
            }
            (name.get_ref().clone(), texts)
        });
        sections.collect()
    }
}

impl Reader<'_> {
    /// Reads a remote. None if it has a problem.
    pub(super) fn remote(
        &mut self,
        name: &str,
        section: &Spanned<RemoteSection>,
        auths: &[&AuthOptions],
    ) -> Option<RemoteEntry> {
        let span = section.span();
        let section = section.get_ref();
        let mut digest = DefaultHasher::new();
        let target = match (&section.url, &section.command) {
            (Some(url), None) => self.url(section, url, &mut digest),
            (None, Some(command)) => self.command(section, command, &mut digest),
            (Some(_), Some(command)) => {
                let message = "expected `url` or `command`, found both";
                self.problem(command.span(), message.to_owned());
                None
            }
            (None, None) => {
                let message = "missing key `url` or `command`";
                self.problem(span.clone(), message.to_owned());
                None
            }
        }?;
        if let (SessionsAre::Shared, Some(most)) = (section.sessions, &section.most_sessions) {
            let message = "`most_sessions` is for `sessions = \"each\"`";
            self.problem(most.span(), message.to_owned());
        }
        let mut options = section.options();
        for (tool, texts) in &section.tool {
            if let Some(shape) = &texts.shape {
                let texts = options.tools.entry(tool.get_ref().clone());
                texts.or_default().shape = self.shape((name, tool.get_ref()), shape);
            }
        }
        options.start = self.start(section, span)?;
        for (name, value) in &section.headers {
            if value.get_ref().contains("${{")
                && let Some(text) = self.request_text("headers", value, auths)
            {
                text.hash(&mut digest);
                options.headers.push((name.get_ref().clone(), text));
            }
        }
        if let Some(login) = &section.login {
            options.oauth = self.oauth(section, login, &mut digest);
        }
        let lock = self.lock(&section.lock, section.target_digest());
        self.remote_locks.insert(name.to_owned(), lock);
        format!("{options:?}").hash(&mut digest);
        Some(RemoteEntry {
            name: name.to_owned(),
            target,
            options,
            required: section.required,
            prefix: section.tools.prefix(),
            filter: section.tools.filter(),
            connection: digest.finish(),
        })
    }

    fn lock(&mut self, section: &RemoteLockSection, target_digest: String) -> RemoteLock {
        for pointer in &section.ignore {
            if pointer.get_ref().len() < 2 || !pointer.get_ref().starts_with('/') {
                let message =
                    "expected a JSON pointer to a member of an entry, such as `/description`";
                self.problem(pointer.span(), message.to_owned());
            }
        }
        let ignored = section.ignore.iter();
        RemoteLock {
            ignored: ignored.map(|one| one.get_ref().clone()).collect(),
            on_change: section.on_change,
            target_digest,
        }
    }

    /// When the remote connects first. None if there is a problem.
    fn start(&mut self, section: &RemoteSection, span: Range<usize>) -> Option<Start> {
        let path = match (section.start, &section.catalog) {
            (StartIs::Now, None) => return Some(Start::Now),
            (StartIs::Now, Some(path)) => {
                let message = "`catalog` is for `start = \"call\"`";
                self.problem(path.span(), message.to_owned());
                return None;
            }
            (StartIs::Call, None) => {
                let message =
                    "`start = \"call\"` needs `catalog`, a file that `servlet catalog` has written";
                self.problem(span, message.to_owned());
                return None;
            }
            (StartIs::Call, Some(path)) => path,
        };
        let file = self.folder.join(path.get_ref());
        self.files.add(file.clone());
        let catalog = std::fs::read_to_string(&file)
            .map_err(|error| error.to_string())
            .and_then(|text| {
                serde_json::from_str::<Catalog>(&text).map_err(|error| error.to_string())
            })
            .map_err(|error| format!("cannot read the catalog `{}`: {error}", file.display()));
        let catalog = self.reported(path, catalog)?;
        Some(Start::AtCall(Arc::new(catalog.to_lists())))
    }

    fn url(
        &mut self,
        section: &RemoteSection,
        url: &Spanned<String>,
        digest: &mut DefaultHasher,
    ) -> Option<Target> {
        self.refuse(
            section.folder.as_ref().map(Spanned::span),
            "`folder` is for a `command`",
        );
        let variable = section.env.values().next();
        self.refuse(variable.map(Spanned::span), "`env` is for a `command`");
        let text = self.expanded(url)?;
        let has_variable = text != *url.get_ref();
        let is_incomplete =
            matches!(self.mode, Mode::CheckWithoutEnv | Mode::Describe) && has_variable;
        let text = if is_incomplete {
            "https://example.invalid/"
        } else {
            text.as_str()
        };
        text.hash(digest);
        let mut http = match Http::new(text) {
            Ok(http) => http,
            Err(error) => {
                let written = url.get_ref();
                let written = has_variable.then(|| masked(written, &of_url(written)));
                self.problem(url.span(), url_problem(&error, written.as_deref()));
                return None;
            }
        };
        if has_variable {
            // The path may be a secret.
            http = http.name("URL with environment variables");
        }
        if let Some(transport) = &section.transport {
            format!("{transport:?}").hash(digest);
            http = http.transport(match transport.get_ref() {
                Transport::Http => HttpTransport::Streamable,
                Transport::Sse => HttpTransport::Sse,
            });
        }
        for (name, value) in &section.headers {
            // The values of these are known with each request.
            if value.get_ref().contains("${{") {
                (name.get_ref(), value.get_ref()).hash(digest);
                if let Err(error) = http.clone().literal_header(name.get_ref(), "") {
                    self.problem(name.span(), error.to_string());
                }
                continue;
            }
            let Some(text) = self.expanded(value) else {
                continue;
            };
            (name.get_ref(), &text).hash(digest);
            match http.clone().literal_header(name.get_ref(), &text) {
                Ok(with_header) => http = with_header,
                Err(error) => self.problem(name.span(), error.to_string()),
            }
        }
        Some(http.tls(self.tls(&section.tls, digest)?).into())
    }

    fn reported<T, E: std::fmt::Display>(
        &mut self,
        place: &Spanned<String>,
        result: Result<T, E>,
    ) -> Option<T> {
        result
            .map_err(|error| self.problem(place.span(), error.to_string()))
            .ok()
    }

    fn command(
        &mut self,
        section: &RemoteSection,
        command: &Spanned<CommandIs>,
        digest: &mut DefaultHasher,
    ) -> Option<Target> {
        self.refuse(
            section.transport.as_ref().map(Spanned::span),
            "`transport` is for a `url`",
        );
        let header = section.headers.keys().next();
        self.refuse(header.map(Spanned::span), "`headers` are for a `url`");
        let login = section.login.as_ref().map(Spanned::span);
        self.refuse(login, "`login` is for a `url`");
        let tls = &section.tls;
        let files = [&tls.ca, &tls.cert, &tls.key, &tls.crl];
        let found = files
            .into_iter()
            .flatten()
            .next()
            .map(Spanned::span)
            .or_else(|| tls.insecure.as_ref().map(Spanned::span))
            .or_else(|| tls.min.map(|_| command.span()));
        self.refuse(found, "`tls` is for a `url`");
        let CommandIs::Words(words) = command.get_ref() else {
            let message = "expected the program and its arguments as a list, such as `[\"program\", \"argument\"]`, found a string";
            self.problem(command.span(), message.to_owned());
            return None;
        };
        let words = words
            .iter()
            .map(|word| self.expanded(word))
            .collect::<Option<Vec<_>>>()?;
        let Some((program, arguments)) = words.split_first() else {
            let message = "expected a program and its arguments, found an empty list";
            self.problem(command.span(), message.to_owned());
            return None;
        };
        words.hash(digest);
        let mut target = Command::new(program)
            .args(arguments)
            .inherit_only(INHERITED.iter().copied());
        for (name, value) in &section.env {
            let text = self.expanded(value)?;
            (name, &text).hash(digest);
            target = target.env(name, text);
        }
        let folder = section
            .folder
            .as_ref()
            .map(|folder| self.folder.join(folder.get_ref()));
        folder.hash(digest);
        if let (Some(written), Some(folder)) = (&section.folder, &folder)
            && !folder.is_dir()
        {
            let message = format!("there is no directory `{}`", folder.display());
            self.absent(section.required, written.span(), message);
        }
        if let Some(folder) = folder.or_else(|| self.own_folder()) {
            target = target.current_dir(folder);
        }
        Some(target.into())
    }

    /// The folder of the configuration, unless it is the working directory.
    fn own_folder(&self) -> Option<PathBuf> {
        (!self.folder.as_os_str().is_empty()).then(|| self.folder.to_owned())
    }

    fn refuse(&mut self, found: Option<Range<usize>>, message: &str) {
        if let Some(span) = found {
            self.problem(span, message.to_owned());
        }
    }
}

/// What is wrong with the URL of a remote. If it was `written` with variables, their values may be secret.
fn url_problem(error: &TargetError, written: Option<&str>) -> String {
    match (error, written) {
        // In contrast to a command, a file cannot allow it.
        (TargetError::PlainHttp { host }, written) => {
            let host = written.unwrap_or(host);
            format!("`{host}` is another machine, and `http` is not encrypted; use `https`")
        }
        (TargetError::InvalidUrl { source, .. }, Some(written)) => {
            format!("invalid URL `{written}` with the values of its variables: {source}")
        }
        (_, Some(written)) => {
            format!(
                "expected a URL with `http` or `https`; with the values of its variables, `{written}` is not one"
            )
        }
        (error, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_about_urls_show_no_values_of_variables() {
        let written = "https://${HOST}/mcp";
        for (text, expected) in [
            (
                "https://s3cret:x/mcp",
                "invalid URL `https://${HOST}/mcp` with the values of its variables: invalid port number",
            ),
            (
                "http://s3cret.example/mcp",
                "`https://${HOST}/mcp` is another machine, and `http` is not encrypted; use `https`",
            ),
            (
                "s3cret://a/mcp",
                "expected a URL with `http` or `https`; with the values of its variables, `https://${HOST}/mcp` is not one",
            ),
        ] {
            let error = Http::new(text).map(drop).expect_err(text);
            assert_eq!(url_problem(&error, Some(written)), expected, "{text}");
        }
    }
}
