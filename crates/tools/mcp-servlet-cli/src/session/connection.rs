//! Options of a connection to a server.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use mcp_servlet_call::Limit;
use mcp_servlet_client::{
    Command, Era, Http, HttpTransport, Limits, Options, Retry, TargetError, Timeouts,
};

use super::access::{Access, first};
use crate::{
    failure::{Failure, Kind, indented},
    limits::{NEVER, Secret, key_value},
    variable::variable_name,
};

// How to connect to a server that is not a servlet.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Connection")]
pub(super) struct Connection {
    #[command(flatten)]
    pub(super) access: Access,

    /// How messages travel over HTTP
    ///
    /// [default: auto]
    #[arg(long, value_enum)]
    transport: Option<Transport>,

    /// Which generation of the protocol to use
    ///
    /// [default: auto]
    #[arg(long, value_enum)]
    era: Option<EraChoice>,

    /// Send the token from this environment variable
    #[arg(long, value_name = "NAME", conflicts_with = "basic", value_parser = Secret(variable_name))]
    bearer_env: Option<String>,

    /// Send this user name, and the password from the environment variable NAME
    #[arg(long, value_name = "USER:NAME", value_parser = Secret(user))]
    basic: Option<(String, String)>,

    /// Use the login with this `--client-id`, if several clients are logged in to the server
    #[arg(long, value_name = "ID")]
    pub(super) client_id: Option<String>,

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

    /// How often to try again to connect, and to send a request that only reads: a number, or `forever`
    ///
    /// [default: 0]
    #[arg(long, value_name = "TIMES", value_parser = times)]
    retry: Option<RetryTimes>,

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

/// A number of attempts; none is without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RetryTimes(Option<u32>);

impl Connection {
    /// Options that the library of the client takes. `request` is the time limit of a request.
    pub(super) fn options(&self, connect: Option<Duration>, request: Option<Duration>) -> Options {
        let mut timeouts = Timeouts::default();
        if let Some(limit) = self.connect_timeout {
            timeouts.connect = limit.value().unwrap_or(NEVER);
        } else if let Some(limit) = connect {
            timeouts.connect = limit;
        }
        timeouts.request = request.unwrap_or(timeouts.request);
        let mut limits = Limits::default();
        limits.entries = self.max_items.unwrap_or(limits.entries);
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
        let every = self
            .every
            .and_then(Limit::value)
            .unwrap_or(Duration::from_secs(1));
        match self.retry {
            None => Retry::never(),
            Some(RetryTimes(Some(times))) => Retry::times(times, every),
            Some(RetryTimes(None)) => Retry::forever(every),
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
    pub(super) fn http(&self, url: &str, transport: HttpTransport) -> Result<Http, Failure> {
        let transport = self.transport.map_or(transport, Into::into);
        self.credentials(self.access.http(url, transport)?)
    }

    fn credentials(&self, http: Http) -> Result<Http, Failure> {
        let has_header = http.has_header("authorization");
        Ok(match (&self.bearer_env, &self.basic) {
            (Some(_), _) if has_header => return Err(two_credentials("--bearer-env")),
            (None, Some(_)) if has_header => return Err(two_credentials("--basic")),
            (Some(name), _) => http.bearer_env(name)?,
            (None, Some((user, name))) => http.basic_env(user, name)?,
            (None, None) => http,
        })
    }

    /// The first of these options that was given.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let of_all = self.access.first_given().or_else(|| {
            first([
                ("--client-name", self.client_name.is_some()),
                ("--client-version", self.client_version.is_some()),
                ("--connect-timeout", self.connect_timeout.is_some()),
                ("--retry", self.retry.is_some()),
                ("--era", self.era.is_some()),
                ("--max-items", self.max_items.is_some()),
            ])
        });
        of_all
            .or_else(|| self.first_of_http())
            .or_else(|| self.first_of_command())
    }

    /// The first option that only a URL has.
    pub(super) fn first_of_http(&self) -> Option<&'static str> {
        let of_http = first([
            ("--transport", self.transport.is_some()),
            ("--bearer-env", self.bearer_env.is_some()),
            ("--basic", self.basic.is_some()),
            ("--client-id", self.client_id.is_some()),
        ]);
        of_http.or_else(|| self.access.first_of_http())
    }

    /// The first option with credentials for a server.
    pub(super) fn first_secret(&self) -> Option<&'static str> {
        let own = first([
            ("--bearer-env", self.bearer_env.is_some()),
            ("--basic", self.basic.is_some()),
            ("--env", !self.env.is_empty()),
        ]);
        self.access.first_secret().or(own)
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

/// A request has one header `Authorization`.
fn two_credentials(option: &str) -> Failure {
    let message = format!("`--header authorization` cannot be combined with `{option}`");
    Failure::with_help(Kind::Usage, message, "leave out one of them")
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        if let TargetError::PlainHttp { host } = &error {
            let message = format!("`{host}` is another machine, and `http` is not encrypted");
            let help = "write `https://`, or allow it with `--allow-http`";
            return Self::with_help(Kind::Usage, message, help);
        }
        Self::new(Kind::Usage, indented(&error.to_string(), "  "))
    }
}

/// Parses `USER:NAME`.
fn user(text: &str) -> Result<(String, String), String> {
    let (user, name) = text.split_once(':').ok_or("expected USER:NAME")?;
    Ok((user.to_owned(), variable_name(name)?))
}

fn times(text: &str) -> Result<RetryTimes, String> {
    if text == "forever" {
        return Ok(RetryTimes(None));
    }
    let times = text.parse().map_err(|_| "expected a number or `forever`")?;
    Ok(RetryTimes(Some(times)))
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
    const TYPED: [&str; 23] = [
        "--server=a",
        "--client-config=a",
        "--input=a=b",
        "--transport=sse",
        "--path=/a",
        "--era=handshake",
        "--header=a: b",
        "--bearer-env=A",
        "--basic=a:B",
        "--client-id=a",
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
            let words: Vec<_> = typed
                .split(" --")
                .enumerate()
                .map(|(at, word)| {
                    if at == 0 {
                        word.to_owned()
                    } else {
                        format!("--{word}")
                    }
                })
                .collect();
            let names = words.iter().filter_map(|word| word.split('=').next());
            seen.extend(names.map(str::to_owned));
            let only = Only::try_parse_from(["servlet".to_owned()].into_iter().chain(words));
            let given = only.expect(typed).connection.first_given();
            assert_eq!(given, typed.split('=').next(), "{typed}");
        }
        let command = Only::command();
        let all: BTreeSet<_> = command
            .get_arguments()
            .filter_map(|arg| arg.get_long())
            .map(|name| format!("--{name}"))
            .collect();
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
