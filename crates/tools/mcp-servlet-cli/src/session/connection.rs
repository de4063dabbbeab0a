//! Options of a connection to a server.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use mcp_servlet_client::{
    Command, Era, Http, HttpTransport, Limits, Options, Retry, TargetError, Timeouts, Tls,
    TlsVersion,
};
use mcp_servlet_runtime::Limit;

use crate::{
    failure::{Failure, Kind, indented},
    limits::{NEVER, Secret, key_value},
};

/// How to connect to a server that is not a servlet.
#[derive(Args, Debug)]
#[command(next_help_heading = "Connection")]
pub(super) struct Connection {
    /// The name of a server in the configuration of an MCP client, instead of TARGET
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,

    #[command(flatten)]
    pub(super) lookup: Lookup,

    /// The value of an input that the configuration asks for; may be repeated
    #[arg(long, value_name = "ID=VALUE", value_parser = Secret(key_value))]
    pub(super) input: Vec<(String, String)>,

    /// How messages travel over HTTP
    ///
    /// [default: auto]
    #[arg(long, value_enum)]
    transport: Option<Transport>,

    /// The path of the URL, instead of /mcp
    #[arg(long)]
    path: Option<String>,

    /// Which generation of the protocol to use
    ///
    /// [default: auto]
    #[arg(long, value_enum)]
    era: Option<EraChoice>,

    /// A header of every request; `${NAME}` in its value is replaced by an environment variable; may be repeated
    #[arg(long, value_name = "NAME: VALUE", value_parser = Secret(header))]
    header: Vec<(String, String)>,

    /// Send the token from this environment variable
    #[arg(long, value_name = "NAME", conflicts_with = "basic")]
    bearer_env: Option<String>,

    /// Send this user name, and the password from the environment variable NAME
    #[arg(long, value_name = "USER:NAME", value_parser = user)]
    basic: Option<(String, String)>,

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

    /// Set an environment variable of the command; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = Secret(key_value))]
    env: Vec<(String, String)>,

    /// Start the command in this folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// The name of the client that the server sees
    ///
    /// [default: servlet]
    #[arg(long, value_name = "NAME")]
    client_name: Option<String>,

    /// The version of the client that the server sees
    #[arg(long, value_name = "VERSION")]
    client_version: Option<String>,

    /// Time limit of an attempt to connect
    ///
    /// [default: 30s]
    #[arg(long, value_name = "TIME")]
    connect_timeout: Option<Limit<Duration>>,

    /// How often to try again to connect: a number, or `forever`
    ///
    /// [default: 0]
    #[arg(long, value_name = "TIMES", value_parser = times)]
    retry: Option<Times>,

    /// The pause between these attempts
    ///
    /// [default: 1s]
    #[arg(long, value_name = "TIME", requires = "retry")]
    every: Option<Limit<Duration>>,

    /// The maximum number of entries in a list
    ///
    /// [default: 10000]
    #[arg(long, value_name = "COUNT")]
    max_items: Option<usize>,
}

/// Where names are looked up.
#[derive(Args, Debug)]
pub(crate) struct Lookup {
    /// Look up names in this configuration file only
    #[arg(long, value_name = "FILE")]
    pub(super) client_config: Option<PathBuf>,
}

/// How messages travel over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Transport {
    /// Streamable HTTP, or HTTP+SSE if the server refuses that
    Auto,
    /// Streamable HTTP, the transport since 2025-03-26
    Http,
    /// HTTP+SSE, the transport of 2024-11-05
    Sse,
}

impl From<Transport> for HttpTransport {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Auto => Self::Auto,
            Transport::Http => Self::Streamable,
            Transport::Sse => Self::Sse,
        }
    }
}

/// A generation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EraChoice {
    /// Ask the server
    Auto,
    /// The handshake, up to 2025-11-25
    Handshake,
    /// Requests without a session, since 2026-07-28
    Stateless,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TlsMin {
    #[value(name = "1.2")]
    V12,
    #[value(name = "1.3")]
    V13,
}

/// A number of attempts; none is without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times(Option<u32>);

impl Connection {
    /// Options that the library of the client takes. `request` is the time limit of a request.
    pub(super) fn options(&self, connect: Option<Duration>, request: Option<Duration>) -> Options {
        let mut timeouts = Timeouts::default();
        if let Some(limit) = self.connect_timeout {
            timeouts.connect = limit.resolve(None).unwrap_or(NEVER);
        } else if let Some(limit) = connect {
            timeouts.connect = limit;
        }
        timeouts.request = request.unwrap_or(timeouts.request);
        let mut limits = Limits::default();
        limits.items = self.max_items.unwrap_or(limits.items);
        let name = self.client_name.as_deref().unwrap_or("servlet");
        let version = self.client_version.as_deref();
        Options::new()
            .client(name, version.unwrap_or(env!("CARGO_PKG_VERSION")))
            .era(self.era())
            .timeouts(timeouts)
            .limits(limits)
            .retry(self.retry())
    }

    fn era(&self) -> Era {
        match self.era {
            None | Some(EraChoice::Auto) => Era::Auto,
            Some(EraChoice::Handshake) => Era::Handshake,
            Some(EraChoice::Stateless) => Era::Stateless,
        }
    }

    fn retry(&self) -> Retry {
        let every = self.every.map(|every| every.resolve(None));
        let every = every.flatten().unwrap_or(Duration::from_secs(1));
        match self.retry {
            None => Retry::never(),
            Some(Times(Some(times))) => Retry::times(times, every),
            Some(Times(None)) => Retry::forever(every),
        }
    }

    /// A command with the variables and the folder of these options.
    pub(super) fn command(&self, words: &[OsString]) -> Command {
        let (program, arguments) = words.split_first().expect("clap gives no empty command");
        self.adjust(Command::new(program).args(arguments))
    }

    /// Adds the variables and the folder of these options.
    pub(super) fn adjust(&self, command: Command) -> Command {
        let variables = self.env.iter();
        let command = variables.fold(command, |command, (name, value)| command.env(name, value));
        match &self.cwd {
            Some(folder) => command.current_dir(folder),
            None => command,
        }
    }

    /// The server at a URL, with headers, credentials and TLS. `transport` is the one that `--transport` replaces.
    pub(super) fn http(&self, url: &str, transport: HttpTransport) -> Result<Http, TargetError> {
        let mut http = if self.allow_http {
            Http::without_encryption(url)?
        } else {
            Http::new(url)?
        };
        if let Some(path) = &self.path {
            http = http.path(path);
        }
        http = http.transport(self.transport.map_or(transport, Into::into));
        for (name, value) in &self.header {
            http = http.header(name, value)?;
        }
        Ok(self.credentials(http)?.tls(self.tls()?))
    }

    fn credentials(&self, http: Http) -> Result<Http, TargetError> {
        match (&self.bearer_env, &self.basic) {
            (Some(name), _) => http.bearer_env(name),
            (None, Some((user, name))) => http.basic_env(user, name),
            (None, None) => Ok(http),
        }
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

    /// The first of these options that was given.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--server", self.server.is_some()),
            ("--client-config", self.lookup.client_config.is_some()),
            ("--input", !self.input.is_empty()),
            ("--client-name", self.client_name.is_some()),
            ("--client-version", self.client_version.is_some()),
            ("--connect-timeout", self.connect_timeout.is_some()),
            ("--retry", self.retry.is_some()),
            ("--era", self.era.is_some()),
            ("--max-items", self.max_items.is_some()),
        ];
        let first = given.into_iter().find(|(_, is_given)| *is_given);
        first
            .map(|(name, _)| name)
            .or_else(|| self.first_of_http())
            .or_else(|| self.first_of_command())
    }

    /// The first option that only a URL has.
    pub(super) fn first_of_http(&self) -> Option<&'static str> {
        let given = [
            ("--transport", self.transport.is_some()),
            ("--path", self.path.is_some()),
            ("--header", !self.header.is_empty()),
            ("--bearer-env", self.bearer_env.is_some()),
            ("--basic", self.basic.is_some()),
            ("--tls-ca", !self.tls_ca.is_empty()),
            ("--tls-cert", self.tls_cert.is_some()),
            ("--tls-min", self.tls_min.is_some()),
            ("--insecure", self.insecure),
            ("--allow-http", self.allow_http),
        ];
        let first = given.into_iter().find(|(_, is_given)| *is_given);
        first.map(|(name, _)| name)
    }

    /// The first option that only a command has.
    pub(super) fn first_of_command(&self) -> Option<&'static str> {
        match (self.env.is_empty(), &self.cwd) {
            (false, _) => Some("--env"),
            (true, Some(_)) => Some("--cwd"),
            (true, None) => None,
        }
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self::new(Kind::Usage, indented(&error.to_string(), "  "))
    }
}

/// Parses `NAME: VALUE`.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("expected `NAME: VALUE`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Parses `USER:NAME`.
fn user(text: &str) -> Result<(String, String), String> {
    let (user, name) = text.split_once(':').ok_or("expected USER:NAME")?;
    Ok((user.to_owned(), name.to_owned()))
}

fn times(text: &str) -> Result<Times, String> {
    if text == "forever" {
        return Ok(Times(None));
    }
    let times = text.parse().map_err(|_| "expected a number or `forever`")?;
    Ok(Times(Some(times)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        connection: Connection,
    }

    /// The options as someone types them. The first one of each line is the one that is named.
    const TYPED: [&str; 22] = [
        "--server=a",
        "--client-config=a",
        "--input=a=b",
        "--transport=sse",
        "--path=/a",
        "--era=handshake",
        "--header=a: b",
        "--bearer-env=A",
        "--basic=a:B",
        "--tls-ca=a",
        "--tls-cert=a --tls-key=b",
        "--tls-ca=a --tls-crl=b",
        "--tls-min=1.3",
        "--insecure",
        "--allow-http",
        "--env=a=b",
        "--cwd=a",
        "--client-name=a",
        "--client-version=1",
        "--connect-timeout=1s",
        "--retry=forever --every=1s",
        "--max-items=1",
    ];

    #[test]
    fn every_option_counts_as_given() {
        let mut seen = BTreeSet::new();
        for typed in TYPED {
            let words = typed.split(" --").enumerate();
            let words = words.map(|(at, word)| {
                if at == 0 {
                    word.to_owned()
                } else {
                    format!("--{word}")
                }
            });
            let words: Vec<_> = words.collect();
            let names = words.iter().filter_map(|word| word.split('=').next());
            seen.extend(names.map(str::to_owned));
            let only = Only::try_parse_from(["servlet".to_owned()].into_iter().chain(words));
            let given = only.expect(typed).connection.first_given();
            assert_eq!(given, typed.split('=').next(), "{typed}");
        }
        let command = Only::command();
        let all = command.get_arguments().filter_map(|arg| arg.get_long());
        let all: BTreeSet<_> = all.map(|name| format!("--{name}")).collect();
        assert_eq!(seen, all);
        assert_eq!(
            Only::try_parse_from(["servlet"])
                .expect("no options")
                .connection
                .first_given(),
            None
        );
    }
}
