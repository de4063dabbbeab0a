//! Stores: what a file says about them, checked.

use std::{collections::BTreeMap, time::Duration};

use mcp_servlet_access::Secret;
use mcp_servlet_server::{Endpoint, EndpointTransport, SessionStorage, StoreOptions};
use toml::Spanned;
use url::Url;

use super::{
    Mode, Reader,
    file::{File, StoreSection},
};

/// The port of a Redis.
const REDIS_PORT: u16 = 6379;
/// How long a command may take.
const STORE_TIMEOUT: Duration = Duration::from_millis(500);

impl Reader<'_> {
    /// The stores of the file that can be used.
    pub(super) fn stores(&mut self, file: &File) -> BTreeMap<String, StoreOptions> {
        let sections = file.store.iter();
        let stores = sections.filter_map(|(name, section)| {
            let options = self.store(name, section.get_ref())?;
            Some((name.clone(), options))
        });
        stores.collect()
    }

    fn store(&mut self, name: &str, section: &StoreSection) -> Option<StoreOptions> {
        let url = self.redis_url(&section.redis)?;
        let decoded = |text: &str| {
            let text = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
            (!text.is_empty()).then(|| text.into_owned())
        };
        let mut password = url.password().and_then(decoded);
        if let Some(given) = &section.password {
            if password.is_some() {
                let message = "the URL in `redis` has a password already";
                self.problem(given.span(), message.to_owned());
            }
            password = self.expanded(given);
        }
        let is_tls = url.scheme() == "rediss";
        let ca = section.tls.ca.as_ref();
        if let Some(ca) = ca.filter(|_| !is_tls) {
            let message = "`ca` is for a URL that begins with `rediss://`";
            self.problem(ca.span(), message.to_owned());
        }
        let ca = ca.map(|ca| self.ca(ca));
        Some(StoreOptions {
            name: name.to_owned(),
            host: url.host_str()?.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(REDIS_PORT),
            tls: is_tls.then_some(ca),
            user: decoded(url.username()),
            password: password.map(Secret),
            database: url.path().trim_matches('/').parse().unwrap_or_default(),
            prefix: section
                .prefix
                .clone()
                .unwrap_or_else(|| "servlet".to_owned()),
            timeout: section.timeout.map_or(STORE_TIMEOUT, |timeout| timeout.0),
            ready: section.ready,
        })
    }

    /// The URL of a Redis. Messages do not show it, because it may have a password.
    fn redis_url(&mut self, given: &Spanned<String>) -> Option<Url> {
        let text = self.expanded(given)?;
        let url = Url::parse(&text).ok().filter(|url| {
            let database = url.path().trim_matches('/');
            matches!(url.scheme(), "redis" | "rediss")
                && url.host_str().is_some_and(|host| !host.is_empty())
                && (database.is_empty() || database.parse::<u16>().is_ok())
                && url.query().is_none()
        });
        // In the other modes, variables are empty.
        if url.is_none() && matches!(self.mode, Mode::Check | Mode::Load) {
            let message =
                "expected a URL such as `redis://redis.example:6379/0`, or `rediss://` for TLS";
            self.problem(given.span(), message.to_owned());
        }
        url
    }

    /// Warns of stores that no endpoint uses.
    pub(super) fn unused_stores(&mut self, file: &File, endpoints: &[Endpoint]) {
        let used: Vec<_> = endpoints.iter().filter_map(store_of).collect();
        for (name, section) in &file.store {
            if !used.contains(&name.as_str()) {
                let message = format!(
                    "no endpoint uses `[store.{name}]`; write `session.store = \"store:{name}\"` in an `[endpoint.NAME]`"
                );
                self.warn(section.span(), message);
            }
        }
    }
}

/// The name of the store that an endpoint uses.
fn store_of(endpoint: &Endpoint) -> Option<&str> {
    match &endpoint.transport {
        EndpointTransport::Http { options, .. } => match &options.session_storage {
            SessionStorage::Store(store) => Some(&store.name),
            _ => None,
        },
        EndpointTransport::Stdio => None,
    }
}
