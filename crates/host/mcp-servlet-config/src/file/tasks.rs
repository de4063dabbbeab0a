//! `[tasks]`: calls whose results clients fetch later.

use mcp_servlet_server::TaskOptions;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Limit, MAX_COUNT, set};
use crate::units::{Count, ShortTime, Size};

/// When calls become tasks, and what is kept of them.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ttl = \"30m\" }"
)]
pub(crate) struct Tasks {
    /// Maximum number of tasks, including finished ones whose result was not fetched. Default: 1000. 0 turns tasks off.
    max: Option<Count<0, MAX_COUNT>>,
    /// Maximum number of tasks of one client on standard input and output. Default: 100.
    max_per_connection: Option<Count<1, MAX_COUNT>>,
    /// How long a call runs before it becomes a task. Default: `2s`.
    after: Option<ShortTime>,
    /// How long a task lives from its creation, at most a day. Default: `30m`.
    ttl: Option<ShortTime>,
    /// How large the results and input requests of all tasks may be together. Default: `64MiB`.
    #[schemars(with = "Size")]
    results: Limit<u64>,
}

impl Tasks {
    /// The options that the section describes.
    pub(crate) fn options(self) -> TaskOptions {
        let mut options = TaskOptions::default();
        set(&mut options.max, self.max.map(|limit| limit.0));
        set(
            &mut options.max_per_connection,
            self.max_per_connection.map(|limit| limit.0),
        );
        set(&mut options.after, self.after.map(|time| time.0));
        set(&mut options.ttl, self.ttl.map(|time| time.0));
        options.results = self.results.resolve(options.results);
        options
    }
}
