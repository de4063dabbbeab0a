//! `[audit]` and `[traces]`: what is recorded of requests.

use std::collections::BTreeMap;

use mcp_servlet_call::Limit;
use mcp_servlet_server::{TraceTrust, audit::WhenFull};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::Headers;
use crate::{
    table::Table,
    units::{Count, Size},
};

/// How many renamed files the audit log may have.
const MAX_KEPT_FILES: usize = 1000;

/// The audit log. Read once, at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { to = \"audit.jsonl\" }"
)]
pub(crate) struct AuditSection {
    /// A file, to whose end lines are written, or `stderr`.
    #[schemars(with = "String")]
    pub(crate) to: Spanned<String>,
    /// The size at which the file is renamed to `FILE.1`. Default: `none`.
    #[schemars(with = "Option<Size>")]
    pub(crate) rotate: Option<Spanned<Limit<u64>>>,
    /// How many renamed files are kept. Default: 10.
    #[schemars(with = "Option<Count<1, MAX_KEPT_FILES>>")]
    pub(crate) keep: Option<Spanned<Count<1, MAX_KEPT_FILES>>>,
    /// What happens while lines cannot be written: `refuse` (the default) refuses new calls, `drop` counts the lines.
    #[serde(default)]
    pub(crate) full: FullIs,
    /// How arguments appear in it: a `digest` under a key (the default), `none`, or their `text`.
    #[serde(default)]
    pub(crate) arguments: ArgumentsAre,
    /// With `arguments = "text"`: the paths of arguments that are masked, such as `password` or `to.iban`.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) mask: Option<Spanned<Vec<Spanned<String>>>>,
    /// With `arguments = "digest"`: a secret that the key is derived from, so that several processes have equal digests. Default: the
    /// first of `state_keys`, or a random one.
    #[schemars(with = "Option<String>")]
    pub(crate) secret: Option<Spanned<String>>,
    /// Whether it has requests for lists.
    #[serde(default)]
    pub(crate) lists: bool,
}

/// What happens while lines cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FullIs {
    #[default]
    Refuse,
    Drop,
}

/// How arguments appear in the audit log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ArgumentsAre {
    None,
    #[default]
    Digest,
    Text,
}

/// Spans for a collector. Read once, at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { otlp = \"https://collector.example:4318\" }"
)]
pub(crate) struct TracesSection {
    /// The URL of a collector that takes OTLP over HTTP, without `/v1/traces`.
    #[schemars(with = "String")]
    pub(crate) otlp: Spanned<String>,
    /// Headers of requests to it. `${NAME}` is replaced by the environment variable.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(crate) headers: Headers,
    /// The connection to it.
    #[serde(default)]
    pub(crate) tls: Table<Authorities>,
    /// The share of the traces that begin here which is recorded, from 0 to 1. Default: 1.
    #[schemars(with = "Option<f64>")]
    pub(crate) sample: Option<Spanned<f64>>,
    /// The trace that a client names: `parent` (the default) continues it, `new` begins another one with a link to it.
    #[serde(default)]
    pub(crate) trust: TrustIs,
    /// The name of the service. Default: `name` of `[server]`, or `mcp-servlet`.
    pub(crate) service: Option<String>,
}

/// The certificates that the server trusts for a connection.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ca = \"ca.pem\" }"
)]
pub(crate) struct Authorities {
    /// Certificate authorities in PEM that the server trusts for it, in addition to the public ones.
    #[schemars(with = "Option<String>")]
    pub(crate) ca: Option<Spanned<String>>,
}

/// The trace that a client names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TrustIs {
    #[default]
    Parent,
    New,
}

impl From<FullIs> for WhenFull {
    fn from(full: FullIs) -> Self {
        match full {
            FullIs::Refuse => Self::Refuse,
            FullIs::Drop => Self::Drop,
        }
    }
}

impl From<TrustIs> for TraceTrust {
    fn from(trust: TrustIs) -> Self {
        match trust {
            TrustIs::Parent => Self::Parent,
            TrustIs::New => Self::New,
        }
    }
}
