//! Options for the server and its URL, which sessions and logins have.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mcp_servlet_client::{Http, HttpTransport, TargetError, Tls, TlsVersion};

use crate::limits::{Secret, key_value};

// The server, and how to reach its URL.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Access {
    /// The name of a server in the configuration of an MCP client, instead of TARGET
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,

    #[command(flatten)]
    pub(super) lookup: Lookup,

    /// The value of an input that the configuration asks for; may be repeated
    #[arg(long, value_name = "ID=VALUE", value_parser = Secret(key_value))]
    pub(super) input: Vec<(String, String)>,

    /// Replace the path of the URL; a URL without one has /mcp
    #[arg(long)]
    path: Option<String>,

    /// A header of every request; `${NAME}` in its value is replaced by an environment variable; may be repeated
    #[arg(long, value_name = "NAME: VALUE", value_parser = Secret(header))]
    header: Vec<(String, String)>,

    /// Trust only the certificates in this PEM file; may be repeated
    #[arg(long, value_name = "FILE")]
    tls_ca: Vec<PathBuf>,

    /// Identify with the certificate in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Refuse the certificates that the lists in this PEM file revoke; needs --tls-ca; may be repeated
    #[arg(long, value_name = "FILE", requires = "tls_ca")]
    tls_crl: Vec<PathBuf>,

    /// The minimum version of TLS
    ///
    /// [default: 1.2]
    #[arg(long, value_enum, value_name = "VERSION")]
    tls_min: Option<TlsMin>,

    /// Accept every certificate; others can then read and change the messages
    #[arg(long)]
    insecure: bool,

    /// Allow `http` without encryption to other machines
    #[arg(long)]
    allow_http: bool,
}

// The file in which to look up names.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
pub(crate) struct Lookup {
    /// Look up names in this configuration file only
    #[arg(long, value_name = "FILE")]
    pub(super) client_config: Option<PathBuf>,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TlsMin {
    #[value(name = "1.2")]
    V12,
    #[value(name = "1.3")]
    V13,
}

impl Access {
    /// The server at a URL, with headers and TLS.
    pub(super) fn http(&self, url: &str, transport: HttpTransport) -> Result<Http, TargetError> {
        let mut http = if self.allow_http {
            Http::without_encryption(url)?
        } else {
            Http::new(url)?
        };
        if let Some(path) = &self.path {
            http = http.path(path);
        }
        http = http.transport(transport);
        for (name, value) in &self.header {
            http = http.header(name, value)?;
        }
        Ok(http.tls(self.tls()?))
    }

    fn tls(&self) -> Result<Tls, TargetError> {
        let mut tls = Tls::default();
        for path in &self.tls_ca {
            tls = tls.roots(path)?;
        }
        for path in &self.tls_crl {
            tls = tls.revoked(path)?;
        }
        if let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) {
            tls = tls.identity(certificate, key)?;
        }
        if let Some(version) = self.tls_min {
            tls = tls.least_version(match version {
                TlsMin::V12 => TlsVersion::Tls12,
                TlsMin::V13 => TlsVersion::Tls13,
            });
        }
        if self.insecure {
            tls = tls.accept_invalid_certificates();
        }
        Ok(tls)
    }

    /// The first of these options that was given, and that every server has.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        first([
            ("--server", self.server.is_some()),
            ("--client-config", self.lookup.client_config.is_some()),
            ("--input", !self.input.is_empty()),
        ])
    }

    /// The first of these options that was given, and that only a URL has.
    pub(super) fn first_of_http(&self) -> Option<&'static str> {
        let secret = self.first_secret();
        secret.or_else(|| {
            first([
                ("--path", self.path.is_some()),
                ("--tls-ca", !self.tls_ca.is_empty()),
                ("--tls-min", self.tls_min.is_some()),
                ("--insecure", self.insecure),
                ("--allow-http", self.allow_http),
            ])
        })
    }

    /// The first of these options that was given, and that has credentials.
    pub(super) fn first_secret(&self) -> Option<&'static str> {
        first([
            ("--header", !self.header.is_empty()),
            ("--tls-cert", self.tls_cert.is_some()),
        ])
    }
}

/// The first option that was given.
pub(super) fn first<const N: usize>(given: [(&'static str, bool); N]) -> Option<&'static str> {
    let first = given.into_iter().find(|(_, is_given)| *is_given);
    first.map(|(name, _)| name)
}

/// Parses `NAME: VALUE`.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("expected `NAME: VALUE`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
