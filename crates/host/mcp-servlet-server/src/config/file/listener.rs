//! `[listener.NAME]`: addresses of endpoints over HTTP.

use std::time::Duration;

use mcp_servlet_runtime::Limit;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{MOST, saturated, set};
use crate::{
    HttpOptions,
    config::units::{Count, Network, Size, Time},
};

/// An address that endpoints listen on. Read once, at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { address = \"127.0.0.1:8080\" }"
)]
pub(in crate::config) struct ListenerSection {
    /// The address and port, such as `127.0.0.1:8080`.
    #[schemars(with = "String")]
    pub(in crate::config) address: Spanned<String>,
    /// Maximum number of connections. Default: as in `[http]`.
    connections: Option<Count<1, MOST>>,
    /// How long a client may take for the head of a request. An idle connection is closed after the same time. Default: as in
    /// `[http]`.
    #[serde(default)]
    #[schemars(with = "Time")]
    head_time: Limit<Duration>,
    /// How long a client may take for the body of a request, and may leave a response unread. Default: as in `[http]`.
    #[serde(default)]
    #[schemars(with = "Time")]
    body_time: Limit<Duration>,
    /// How large a request may be. Default: as in `[http]`.
    #[serde(default)]
    #[schemars(with = "Size")]
    body: Limit<u64>,
    /// Addresses of proxies that name their clients in `X-Forwarded-For`. Default: as in `[http]`.
    trusted_proxies: Option<Vec<Network>>,
}

impl ListenerSection {
    /// Applies the section to `options`.
    pub(in crate::config) fn apply(&self, options: &mut HttpOptions) {
        let connections = self.connections.map(|limit| limit.0);
        set(&mut options.connections, connections);
        options.head_time = self.head_time.resolve(options.head_time);
        options.body_time = self.body_time.resolve(options.body_time);
        let body = self.body.map(saturated).resolve(Some(options.body));
        options.body = body.unwrap_or(usize::MAX);
        let proxies = self.trusted_proxies.as_ref();
        let proxies = proxies.map(|proxies| proxies.iter().map(|network| network.0).collect());
        set(&mut options.trusted_proxies, proxies);
    }
}
