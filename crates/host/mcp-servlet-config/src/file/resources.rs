//! `resources` of a servlet.

use schemars::JsonSchema;
use serde::Deserialize;

use mcp_servlet_runtime::LoadOptions;

use crate::units::ShortTime;

/// The cache of the resources of a servlet.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { cache = \"60s\" }"
)]
pub(crate) struct Resources {
    /// How long the result of a read is cached, by URI. At most a day. Default: the servlet runs for each read.
    cache: Option<ShortTime>,
    /// Whether the callers of an endpoint with `auth` share the cache. Default: each caller has their own.
    shared: bool,
}

impl Resources {
    /// Applies the section to `options`.
    pub(crate) fn apply(self, options: &mut LoadOptions) {
        options.resource_cache = self.cache.map(|time| time.0);
        options.resource_cache_shared = self.shared;
    }
}
