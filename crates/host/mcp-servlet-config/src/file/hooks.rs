//! `reject` and `on_session` of `[endpoint.NAME]`: which clients may begin a session.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::endpoint::Headers;
use crate::units::ShortTime;

/// Clients that are refused.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { when = \"${{ client.name == 'old-bot' }}\", status = 403 }"
)]
pub(crate) struct RejectSection {
    /// A condition over `caller`, `client`, `headers` and `session`, in the Common Expression Language, such as
    /// `${{ client.name == 'old-bot' }}`. If it has no value, the client is refused.
    #[schemars(with = "String")]
    pub(crate) when: Spanned<String>,
    /// The status of the response, from 400 to 599. Default: 403.
    #[schemars(with = "Option<u16>")]
    pub(crate) status: Option<Spanned<u16>>,
    /// What the client learns.
    pub(crate) message: Option<String>,
    /// Headers of the response. `${NAME}` is replaced by the environment variable.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub(crate) headers: Option<Spanned<Headers>>,
}

/// A tool that decides about each new session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { tool = \"gate:admit\" }"
)]
pub(crate) struct OnSessionSection {
    /// The servlet and its own name for the tool, such as `gate:admit`. Clients do not see this tool.
    #[schemars(with = "String")]
    pub(crate) tool: Spanned<String>,
    /// Names of headers of the request that it gets.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) headers: Vec<Spanned<String>>,
    /// How long it may take. After that, the client gets status 503. Default: `5s`.
    pub(crate) timeout: Option<ShortTime>,
}

/// What servlets can read in addition to the session and the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Forward {
    /// The caller.
    Caller,
    /// The certificate of the client.
    Certificate,
}
