//! `[requests]`: HTTP requests that servlets send.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { proxy = \"http://proxy.example:3128\" }"
)]
pub(crate) struct Requests {
    /// The URL of the HTTP proxy for these requests, or `none` (the default). `${NAME}` is replaced by the environment
    /// variable. `HTTP_PROXY` has no effect.
    #[schemars(with = "Option<String>")]
    pub(crate) proxy: Option<Spanned<String>>,
}
