//! `[listener.NAME]`: addresses of endpoints over HTTP.

use std::{ops::Range, path::Path, time::Duration};

use mcp_servlet_call::Limit;
use mcp_servlet_server::{ClientCertificates, HttpOptions, TlsFile, TlsOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{MAX_COUNT, saturated, set};
use crate::{
    table::Table,
    units::{Count, MinVersion, Network, Size, Time},
};

/// An address that endpoints listen on. Read once, at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { address = \"127.0.0.1:8080\" }"
)]
pub(crate) struct ListenerSection {
    /// The address and port, such as `127.0.0.1:8080`.
    #[schemars(with = "String")]
    pub(crate) address: Spanned<String>,
    /// Maximum number of connections. Default: as in `[http]`.
    connections: Option<Count<1, MAX_COUNT>>,
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
    /// HTTPS instead of HTTP.
    pub(crate) tls: Option<Table<ListenerTls>>,
}

/// HTTPS. All files are PEM, and are read again when they change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { cert = \"cert.pem\", key = \"key.pem\" }"
)]
pub(crate) struct ListenerTls {
    /// The certificate of the server, followed by those that lead to its root.
    #[schemars(with = "String")]
    cert: Spanned<String>,
    /// The key of that certificate.
    #[schemars(with = "String")]
    key: Spanned<String>,
    /// The least version of TLS: `1.2` (the default) or `1.3`.
    min: Option<MinVersion>,
    /// Whether clients can use HTTP/2. Default: true.
    http2: Option<bool>,
    /// Certificates of clients. Default: the server asks for none.
    clients: Option<Table<TlsClients>>,
}

/// Certificates of clients.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { ca = \"clients.pem\" }"
)]
pub(crate) struct TlsClients {
    /// The roots of the certificates, in PEM.
    #[schemars(with = "String")]
    ca: Spanned<String>,
    /// Whether each client needs a certificate. Default: true.
    required: Option<bool>,
    /// Lists of revoked certificates, in PEM.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    crl: Vec<Spanned<String>>,
    /// Whether only the client's own certificate is looked up in the lists, and not those that lead to its root.
    #[serde(default)]
    only_end_entity: bool,
    /// Whether certificates pass whose issuer has no list, or an expired one.
    #[serde(default)]
    soft_fail: bool,
}

impl ListenerTls {
    /// The options. Paths are relative to the folder of the configuration.
    pub(crate) fn options(&self, folder: &Path) -> TlsOptions {
        let path = |path: &Spanned<String>| folder.join(path.get_ref());
        let mut options = TlsOptions::new(path(&self.cert), path(&self.key));
        options.only_http1 = self.http2 == Some(false);
        options.only_tls13 = matches!(self.min, Some(MinVersion::Tls13));
        options.clients = self.clients.as_ref().map(|clients| {
            let mut options = ClientCertificates::new(path(&clients.ca));
            options.required = clients.required.unwrap_or(true);
            options.crl = clients.crl.iter().map(path).collect();
            options.only_end_entity = clients.only_end_entity;
            options.soft_fail = clients.soft_fail;
            options
        });
        options
    }

    /// Whether clients are asked for certificates.
    pub(crate) fn asks_clients(&self) -> bool {
        self.clients.is_some()
    }

    /// Where the configuration names a file.
    pub(crate) fn place(&self, file: TlsFile) -> Range<usize> {
        let clients = self.clients.as_deref();
        let place = match file {
            TlsFile::Cert => None,
            TlsFile::Key => Some(&self.key),
            TlsFile::Ca => clients.map(|clients| &clients.ca),
            TlsFile::Crl(at) => clients.and_then(|clients| clients.crl.get(at)),
        };
        place.unwrap_or(&self.cert).span()
    }
}

impl ListenerSection {
    /// Applies the section to `options`.
    pub(crate) fn apply(&self, options: &mut HttpOptions) {
        let connections = self.connections.map(|limit| limit.0);
        set(&mut options.connections, connections);
        options.head_time = self.head_time.resolve(options.head_time);
        options.body_time = self.body_time.resolve(options.body_time);
        let body = self.body.map(saturated).resolve(Some(options.body));
        options.body = body.unwrap_or(usize::MAX);
        let proxies = self
            .trusted_proxies
            .as_ref()
            .map(|proxies| proxies.iter().map(|network| network.0).collect());
        set(&mut options.trusted_proxies, proxies);
    }
}
