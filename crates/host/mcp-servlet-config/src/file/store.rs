//! `[store.NAME]`: what several processes know together.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::Authorities;
use crate::{table::Table, units::ShortTime};

/// A store that several processes share. Read once, at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { redis = \"redis://redis.example:6379/0\" }"
)]
pub(crate) struct StoreSection {
    /// The URL of a Redis or a Valkey, such as `redis://redis.example:6379/0`. With `rediss`, the connection has TLS.
    #[schemars(with = "String")]
    pub(crate) redis: Spanned<String>,
    /// The password, unless the URL has it. `${NAME}` is replaced by the environment variable, `${file:PATH}` by the content of the file.
    #[schemars(with = "Option<String>")]
    pub(crate) password: Option<Spanned<String>>,
    /// How its keys begin. Default: `servlet`.
    pub(crate) prefix: Option<String>,
    /// How long a command may take. Default: `500ms`.
    #[schemars(with = "Option<ShortTime>")]
    pub(crate) timeout: Option<ShortTime>,
    /// Whether `/ready` returns 503 while the store cannot be reached. All processes do so at once. Default: false.
    #[serde(default)]
    pub(crate) ready: bool,
    /// The certificates of its TLS.
    #[serde(default)]
    pub(crate) tls: Table<Authorities>,
}
