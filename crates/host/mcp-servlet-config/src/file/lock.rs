//! The keys of `[lock]`, and of `lock` of a remote.

use mcp_servlet_host::OnChange;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::names;

/// Whether there must be a lock.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { required = true }"
)]
pub(crate) struct LockSection {
    /// Whether the server does not start without `servlet.lock`. Default: false.
    pub(crate) required: bool,
}

/// How a remote is compared with the lock.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ignore = [\"/description\"] }"
)]
pub(crate) struct RemoteLockSection {
    /// JSON pointers to members of entries that may change, such as `/description`. Clients see their approved values.
    #[schemars(with = "Vec<String>")]
    pub(crate) ignore: Vec<Spanned<String>>,
    /// What happens to entries that are new or have changed: `hide` (the default) hides them, `refuse` hides everything of the
    /// remote, `warn` serves them with a warning.
    #[schemars(schema_with = "names::schema::<OnChange>")]
    pub(crate) on_change: OnChange,
}
