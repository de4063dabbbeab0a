//! `[endpoint.NAME]`: where clients connect, and what they find there.

use std::{collections::BTreeMap, time::Duration};

use mcp_servlet_call::Limit;
use mcp_servlet_host::{Introduction, Search};
use mcp_servlet_server::{HttpOptions, ResponseForm, ServeOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Forward, MAX_COUNT, OnSessionSection, QuotaSection, RejectSection, RuleSection, set};
use crate::{
    table::Table,
    units::{Count, ShortTime, Time},
};

/// A place where clients connect, with its own list of members.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { kind = \"http\", listener = \"public\" }"
)]
pub(crate) struct EndpointSection {
    /// The transport: `http` is streamable HTTP, `sse` the older HTTP with two paths, `stdio` standard input and output.
    #[schemars(with = "Kind")]
    pub(crate) kind: Spanned<Kind>,
    /// The name of the listener. Required for `http` and `sse`.
    #[schemars(with = "Option<String>")]
    pub(crate) listener: Option<Spanned<String>>,
    /// The path that clients connect to. Default: `/mcp` for `http`, `/sse` for `sse`.
    #[schemars(with = "Option<String>")]
    pub(crate) path: Option<Spanned<String>>,
    /// The path for messages of `sse`. Default: `/message`.
    #[schemars(with = "Option<String>")]
    pub(crate) messages: Option<Spanned<String>>,
    /// The members, in the order in which they are listed. Default: all, in the order of the file.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) bundles: Option<Vec<Spanned<String>>>,
    /// Which tools are listed. Default: all.
    #[serde(default)]
    #[schemars(with = "EndpointTools")]
    pub(crate) tools: Table<EndpointTools>,
    /// The server's name here. Default: as in `[server]`.
    name: Option<String>,
    /// The server's version here. Default: as in `[server]`.
    version: Option<String>,
    /// How to use the server, in words for a model. Default: as in `[server]`.
    instructions: Option<String>,
    /// Names by which clients may call this server, with or without a port. Default: `localhost` and the listener's address.
    /// Required if other machines can connect.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) hosts: Option<Spanned<Vec<Spanned<String>>>>,
    /// Origins whose web pages may connect, such as `https://app.example:443`. Default: those on `localhost`.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) origins: Option<Spanned<Vec<Spanned<String>>>>,
    /// Who may call: the name of an `[auth.NAME]`. Default: everyone who can connect.
    #[schemars(with = "Option<String>")]
    pub(crate) auth: Option<Spanned<String>>,
    /// The URL by which clients call the endpoint, for which their tokens must be made. Default: `resource` of `auth`.
    #[schemars(with = "Option<String>")]
    pub(crate) url: Option<Spanned<String>>,
    /// How long a request may run. Waiting for an answer of the client does not count. Default: `none`.
    #[serde(default)]
    #[schemars(with = "Time")]
    timeout: Limit<Duration>,
    /// How long the client may take for an answer, at most a day. Default: `10m`.
    question_time: Option<ShortTime>,
    /// The form of responses of `http`: `json` (the default) if no other message comes before the response, or always `sse`.
    #[schemars(with = "Option<Response>")]
    pub(crate) response: Option<Spanned<Response>>,
    /// Headers of successful responses. `${NAME}` is replaced by the environment variable.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub(crate) headers: Option<Spanned<Headers>>,
    /// Headers of successful responses to messages of `sse`.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub(crate) message_headers: Option<Spanned<Headers>>,
    /// Names of headers of requests that servlets may read.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) forward_headers: Option<Spanned<Vec<Spanned<String>>>>,
    /// What servlets can read of the client: `caller`, `certificate`. Default: neither.
    #[schemars(with = "Option<Vec<Forward>>")]
    pub(crate) forward: Option<Spanned<Vec<Spanned<Forward>>>>,
    /// Clients that may not begin a session. The first condition that holds decides.
    #[schemars(with = "Option<Vec<RejectSection>>")]
    pub(crate) reject: Option<Spanned<Vec<Table<RejectSection>>>>,
    /// A tool that decides about each new session of the other clients.
    #[schemars(with = "Option<OnSessionSection>")]
    pub(crate) on_session: Option<Spanned<Table<OnSessionSection>>>,
    /// Limits of sessions. Default: as in `[http]`.
    #[schemars(with = "Option<Session>")]
    pub(crate) session: Option<Spanned<Table<Session>>>,
    /// Which tools, prompts and resources callers may use. The first rule that holds decides. Default: all.
    #[serde(default)]
    #[schemars(with = "Vec<RuleSection>")]
    pub(crate) rules: Vec<Spanned<Table<RuleSection>>>,
    /// How much callers may use. A request needs room in all quotas that are about it. Default: no limit.
    #[serde(default)]
    #[schemars(with = "Vec<QuotaSection>")]
    pub(crate) quota: Vec<Spanned<Table<QuotaSection>>>,
    /// Whether the server starts if it cannot prove that the rules fit the tools. `warn` (the default) reports it, `strict` refuses to
    /// start.
    #[serde(default)]
    pub(crate) prove: Prove,
    /// Whether a model reads which arguments rules deny and which they allow. Otherwise, it only reads the `message` of the rule.
    /// Default: true.
    pub(crate) explain_denials: Option<bool>,
}

/// Which tools an endpoint lists.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { search = true }"
)]
pub(crate) struct EndpointTools {
    /// Whether clients get tools to find and call others, instead of a list of all.
    pub(crate) search: bool,
    /// Patterns of tools that are listed nevertheless, with `*` and `?`.
    #[schemars(with = "Vec<String>")]
    pub(crate) always: Vec<Spanned<String>>,
}

/// Whether the server starts if it cannot prove that the rules fit the tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Prove {
    /// Reports it.
    #[default]
    Warn,
    /// Refuses to start.
    Strict,
}

/// Headers by name.
pub(crate) type Headers = BTreeMap<String, Spanned<String>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Http,
    Sse,
    Stdio,
}

impl Kind {
    /// The name in the configuration.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Stdio => "stdio",
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Response {
    Json,
    Sse,
}

impl From<Response> for ResponseForm {
    fn from(response: Response) -> Self {
        match response {
            Response::Json => Self::Json,
            Response::Sse => Self::Sse,
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { idle = \"5m\" }"
)]
pub(crate) struct Session {
    /// How long a session lasts without a request; with `http`, also without an open stream. Default: as in `[http]`; with
    /// `sse`, a session lasts as long as the client is connected.
    #[schemars(with = "Time")]
    idle: Limit<Duration>,
    /// Maximum number of sessions in this process. 0 turns sessions off.
    most: Option<Count<0, MAX_COUNT>>,
    /// Which processes know a session: the one that has opened it (`memory`, the default), all with the same `state_keys`
    /// (`sealed`), or those that also have the same `[store.NAME]` (`store:NAME`). With `none`, clients up to 2025-11-25 have no
    /// sessions.
    #[schemars(with = "Option<String>")]
    pub(crate) store: Option<Spanned<String>>,
    /// With `sealed`: how long a session lasts, whether it is used or not. Default: `24h`.
    #[schemars(with = "Option<ShortTime>")]
    pub(crate) life: Option<Spanned<ShortTime>>,
}

impl EndpointSection {
    /// How tools are listed here.
    pub(crate) fn search(&self) -> Option<Search> {
        let always = self.tools.always.iter();
        self.tools.search.then(|| {
            let mut search = Search::default();
            search.always = always.map(|pattern| pattern.get_ref().clone()).collect();
            search
        })
    }

    /// How the server introduces itself here.
    pub(crate) fn introduction(&self, server: Introduction) -> Introduction {
        let mut introduction = server;
        introduction.name = self.name.clone().or(introduction.name);
        introduction.version = self.version.clone().or(introduction.version);
        introduction.instructions = self.instructions.clone().or(introduction.instructions);
        introduction
    }

    /// Applies the limits of requests to `options`.
    pub(crate) fn apply(&self, options: &mut ServeOptions) {
        options.timeout = self.timeout.resolve(options.timeout);
        set(
            &mut options.question_time,
            self.question_time.map(|time| time.0),
        );
        let forward = self.forward_headers.iter().flat_map(Spanned::get_ref);
        options.forward_headers = forward
            .map(|name| name.get_ref().to_ascii_lowercase())
            .collect();
        let mut forward = self.forward.iter().flat_map(Spanned::get_ref);
        let has = |wanted| move |one: &Spanned<Forward>| *one.get_ref() == wanted;
        options.forward_caller = forward.clone().any(has(Forward::Caller));
        options.forward_certificate = forward.any(has(Forward::Certificate));
    }

    /// Applies the limits of sessions to `options`.
    pub(crate) fn apply_sessions(&self, options: &mut HttpOptions) {
        let session = self.session.as_ref().map(|session| &session.get_ref().0);
        let idle = session.map(|session| session.idle).unwrap_or_default();
        let most = session.and_then(|session| session.most);
        // An old client stays connected while it waits, and does not open a new session by itself.
        let default = options
            .session_idle
            .filter(|_| self.kind.get_ref() != &Kind::Sse);
        options.session_idle = idle.resolve(default);
        set(&mut options.sessions, most.map(|limit| limit.0));
    }
}
