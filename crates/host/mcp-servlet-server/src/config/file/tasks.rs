//! `[tasks]`: calls whose results clients fetch later.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{MOST, set};
use crate::{
    TaskOptions,
    config::units::{Count, ShortTime, Size},
};

/// When calls become tasks, and what is kept of them.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ttl = \"30m\" }"
)]
pub(in crate::config) struct Tasks {
    /// How many tasks there may be at once, with those whose results wait to be fetched; by default 1000, and none with 0.
    max: Option<Count<0, MOST>>,
    /// How many of them may belong to one client on standard input and output; by default 100.
    max_per_connection: Option<Count<1, MOST>>,
    /// How long a call runs before it becomes a task; by default `2s`.
    after: Option<ShortTime>,
    /// How long a task lives from its creation; by default `30m`, and at most a day.
    ttl: Option<ShortTime>,
    /// How large the results that wait to be fetched may be together; by default `64MiB`.
    results: Size,
}

impl Tasks {
    /// The options that the section describes.
    pub(in crate::config) fn options(self) -> TaskOptions {
        let mut options = TaskOptions::default();
        set(&mut options.max, self.max.map(|limit| limit.0));
        set(
            &mut options.max_per_connection,
            self.max_per_connection.map(|limit| limit.0),
        );
        set(&mut options.after, self.after.map(|time| time.0));
        set(&mut options.ttl, self.ttl.map(|time| time.0));
        options.results = self.results.0.resolve(options.results);
        options
    }
}
