//! `quota` of `[endpoint.NAME]`: how much callers may use.

use mcp_servlet_server::quota::Per;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::MAX_COUNT;
use crate::units::Count;

/// A limit for the calls of an endpoint.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { per = \"caller\", calls = \"60/m\" }"
)]
pub(crate) struct QuotaSection {
    /// Whose calls it counts together: those of each `caller`, or all of the `endpoint`.
    pub(crate) per: PerIs,
    /// The tools that it is about, as the endpoint lists them; `*` matches any text. Default: all requests that servlets and remotes
    /// answer.
    #[schemars(with = "Option<String>")]
    pub(crate) tool: Option<Spanned<String>>,
    /// How many calls may begin, such as `60/m`; units are `s`, `m`, `h` and `d`.
    #[schemars(with = "Option<String>")]
    pub(crate) calls: Option<Spanned<String>>,
    /// How many calls may begin at once after a pause. Default: the calls of one period.
    #[schemars(with = "Option<Count<1, MAX_COUNT>>")]
    pub(crate) burst: Option<Spanned<Count<1, MAX_COUNT>>>,
    /// How many calls may run at once.
    pub(crate) running: Option<Count<1, MAX_COUNT>>,
    /// How many bytes arguments and results may have, such as `1GiB/h`.
    #[schemars(with = "Option<String>")]
    pub(crate) bytes: Option<Spanned<String>>,
    /// How much fuel calls may take, such as `1e12/h`.
    #[schemars(with = "Option<String>")]
    pub(crate) fuel: Option<Spanned<String>>,
}

/// Whose calls a quota counts together.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PerIs {
    Caller,
    Endpoint,
}

impl From<PerIs> for Per {
    fn from(per: PerIs) -> Self {
        match per {
            PerIs::Caller => Self::Caller,
            PerIs::Endpoint => Self::Endpoint,
        }
    }
}
