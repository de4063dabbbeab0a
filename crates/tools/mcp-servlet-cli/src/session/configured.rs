//! Servers in the configurations of MCP clients.

use std::{env, fs, io, path::Path};

use mcp_client_config::{
    Connection as Configured, Found, Places, Platform, Secret, Server, Source, Transport,
    Variables, read_file,
};
use mcp_servlet_client::{Command, Http, HttpTransport, Target, TargetError};
use mcp_servlet_schema::similar;

use super::{
    Opening,
    access::{Access, Lookup},
    connection::Connection,
};
use crate::{
    failure::{Failure, Kind, indented},
    terminal::{note, one_line},
};

/// Reads the configurations of all clients, or the only one that is looked at. Nothing is started.
pub(crate) fn discover(lookup: &Lookup) -> Result<Found, Failure> {
    let places = places()?;
    let Some(path) = &lookup.client_config else {
        return Ok(mcp_client_config::discover(&places, |path: &Path| {
            fs::read(path)
        }));
    };
    let bytes = fs::read(path).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Failure::new(Kind::Usage, message)
    })?;
    Ok(read_file(Source::File, path, &bytes, &places))
}

/// The server of a name, ready to be connected to.
pub(super) fn find(name: &str, connection: &Connection) -> Result<Opening, Failure> {
    let (server, resolved) = resolve(name, &connection.access)?;
    Ok(Opening {
        server: target(name, resolved, connection)?,
        name: Some(name.to_owned()),
        connect: server.startup_timeout,
        request: server.timeout,
    })
}

/// A server of a configuration, without options.
pub(super) fn plain(server: &Configured) -> Result<Target, Failure> {
    Ok(match server {
        Configured::Command {
            command,
            args,
            env,
            cwd,
        } => started(command, args, env, cwd.as_deref()).into(),
        Configured::Http {
            url,
            transport,
            headers,
        } => {
            // No option allows `http` here.
            let http = Http::new(url)
                .map_err(|error| Failure::new(Kind::Usage, indented(&error.to_string(), "  ")))?;
            with_headers(http.transport(how(*transport)), headers)?.into()
        }
    })
}

fn started(
    program: &str,
    args: &[String],
    env: &[(String, Secret)],
    folder: Option<&str>,
) -> Command {
    let command = with_variables(Command::new(program).args(args), env);
    match folder {
        Some(folder) => command.current_dir(folder),
        None => command,
    }
}

/// The server of a name, if it is at a URL.
pub(super) fn find_http(name: &str, access: &Access) -> Result<Option<Http>, Failure> {
    match resolve(name, access)?.1 {
        Configured::Command { .. } => Ok(None),
        Configured::Http {
            url,
            transport,
            headers,
        } => {
            let http = access.http(&url, how(transport))?;
            Ok(Some(with_headers(http, &headers)?.name(name)))
        }
    }
}

/// The server of a name, and its command or URL with the values of placeholders.
fn resolve(name: &str, access: &Access) -> Result<(Server, Configured), Failure> {
    let found = discover(&access.lookup)?;
    let is_explicit = access.server.is_some();
    let server = found
        .find(name)
        .or_else(|| found.named(name).next().filter(|_| is_explicit));
    let Some(server) = server else {
        return Err(unknown(name, &found));
    };
    let places = places()?;
    let variables = Variables::new(&places, &variable);
    let inputs = access.input.iter();
    let variables = inputs.fold(variables, |variables, (id, value)| {
        variables.input(id, value)
    });
    let resolved = server.connection.resolve(&variables).map_err(|error| {
        let message = format!("server `{name}` in `{}`: {error}", server.path.display());
        let help = "`--input ID=VALUE` passes an input";
        Failure::with_help(Kind::Usage, indented(&message, "  "), help)
    })?;
    Ok((server.clone(), resolved))
}

/// A server as the configuration and the options describe it.
fn target(name: &str, server: Configured, options: &Connection) -> Result<Target, Failure> {
    Ok(match server {
        Configured::Command {
            command,
            args,
            env,
            cwd,
        } => {
            refuse(name, "command", options.first_of_http())?;
            let command = started(&command, &args, &env, cwd.as_deref());
            options.adjust(command).into()
        }
        Configured::Http {
            url,
            transport,
            headers,
        } => {
            refuse(name, "URL", options.first_of_command())?;
            let http = options.http(&url, how(transport))?;
            with_headers(http, &headers)?.name(name).into()
        }
    })
}

fn with_variables(command: Command, variables: &[(String, Secret)]) -> Command {
    let variables = variables.iter();
    variables.fold(command, |command, (name, value)| {
        command.env(name, value.expose())
    })
}

fn how(transport: Transport) -> HttpTransport {
    match transport {
        Transport::Auto => HttpTransport::Auto,
        Transport::Http => HttpTransport::Streamable,
        Transport::Sse => HttpTransport::Sse,
    }
}

/// Adds the headers of a configuration, unless an option has replaced them. Headers that the protocol sets are common in
/// configurations, and have no effect in other clients either.
fn with_headers(http: Http, headers: &[(String, Secret)]) -> Result<Http, TargetError> {
    let options = http.clone();
    let mut headers = headers.iter().filter(|(name, _)| !options.has_header(name));
    headers.try_fold(http, |http, (name, value)| {
        match http.clone().literal_header(name, value.expose()) {
            Err(TargetError::ReservedHeader { name }) => {
                tracing::warn!(
                    name,
                    "the configuration sets a header that only the protocol sets"
                );
                Ok(http)
            }
            added => added,
        }
    })
}

fn refuse(name: &str, kind: &str, option: Option<&str>) -> Result<(), Failure> {
    let Some(option) = option else {
        return Ok(());
    };
    let message = format!("`{option}` does not apply to `{name}`, which is a {kind}");
    Err(Failure::new(Kind::Usage, message))
}

/// A name that no configuration has, or that only disabled servers have.
fn unknown(name: &str, found: &Found) -> Failure {
    if let Some(server) = found.named(name).next() {
        let message = format!("server `{name}` is disabled in `{}`", server.path.display());
        let help = format!("`--server {name}` uses it");
        return Failure::with_help(Kind::Usage, message, help);
    }
    // The file may be the one that has the server.
    for warning in &found.warnings {
        note(format_args!("warning: {}", one_line(&warning.to_string())));
    }
    let names = found.servers.iter().map(|server| &*server.name);
    let help = match similar(name, names) {
        Some(similar) => format!("there is a server `{similar}`"),
        None => format!(
            "`servlet servers` lists the servers of MCP clients; a file is `./{name}`, a command comes after `--`"
        ),
    };
    let message = format!("no configuration of an MCP client has a server `{name}`");
    Failure::with_help(Kind::Usage, message, help)
}

/// Where clients keep their files.
pub(crate) fn places() -> io::Result<Places> {
    let home = env::home_dir().unwrap_or_default();
    let folder = env::current_dir()?;
    Ok(Places::new(Platform::HERE, home, folder, &variable))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}
