//! The configuration that adds a server to an MCP client.

use std::{
    env,
    ffi::OsStr,
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub(crate) use mcp_client_config::Source as Client;
use mcp_client_config::{
    ClientFile, Connection, EditError, Places, Platform, ResolveError, Transport, Variables,
};
use mcp_servlet_common::public_url;
use mcp_servlet_runtime::Source;
use serde_json::{Map, Value};

use crate::{
    failure::{Failure, Kind},
    terminal::{self, note, one_line},
    variable::Variable,
};

/// Replaces a value that may be secret.
pub(crate) const HIDDEN: &str = "…";

/// Reads the name of a client whose files can be changed.
pub(crate) fn editable() -> impl TypedValueParser<Value = Client> {
    let clients = Client::ALL
        .into_iter()
        .filter(|client| client.can_be_edited());
    let names = clients.map(|client| {
        let name = PossibleValue::new(client.name());
        match client {
            Client::ClaudeCode => name.alias("claude"),
            _ => name,
        }
    });
    PossibleValuesParser::new(names).map(|name| {
        // Only the alias is not a name.
        Client::of_name(&name).unwrap_or(Client::ClaudeCode)
    })
}

/// The `servlet` command itself, with these arguments and environment variables of the client.
pub(crate) fn this_command<'a>(
    args: Vec<String>,
    variables: impl Iterator<Item = &'a String>,
) -> Result<Connection, Failure> {
    let program = this_program()?;
    let env = variables.map(|name| (name.clone(), format!("${{env:{name}}}").into()));
    Ok(Connection::Command {
        command: path_as_text(&program)?,
        args,
        env: env.collect(),
        cwd: None,
    })
}

/// A path of this program that is still valid after an update, if `PATH` has one.
fn this_program() -> Result<PathBuf, Failure> {
    let program = env::current_exe().map_err(|error| {
        let message = format!("cannot find the path of this command: {error}");
        Failure::new(Kind::Usage, message)
    })?;
    let found = env::var_os("PATH").and_then(|path| in_path(&path, &program));
    let program = found.unwrap_or(program);
    let Some(runner) = runner(&program) else {
        return Ok(program);
    };
    let message = format!(
        "`{}` is in the cache of {runner}, which may remove it at any time",
        program.display()
    );
    let help = "install `servlet`, and run the installed one";
    Err(Failure::with_help(Kind::Usage, message, help))
}

/// The `servlet` in a PATH that is this program. It may be a link to the program of one version.
fn in_path(path: &OsStr, program: &Path) -> Option<PathBuf> {
    let program = program.canonicalize().ok()?;
    let name = format!("servlet{}", env::consts::EXE_SUFFIX);
    let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
    let mut found = folders.map(|folder| folder.join(&name));
    found.find(|path| path.canonicalize().is_ok_and(|path| path == program))
}

/// Which program keeps packages in a cache with this path.
fn runner(program: &Path) -> Option<&'static str> {
    program.iter().find_map(|part| match part.to_str()? {
        "_npx" => Some("npx"),
        "archive-v0" => Some("uv"),
        _ => None,
    })
}

/// A server at a URL.
pub(crate) fn at_url(url: String, transport: Transport) -> Connection {
    Connection::Http {
        url,
        transport,
        headers: Vec::new(),
    }
}

/// The connection with the values of environment variables for their placeholders.
///
/// # Errors
/// A message that names the missing variable. Unlike that of `ResolveError`, it does not tell the user to remove the placeholder:
/// [`this_command`] has written it.
pub(crate) fn with_values(connection: &Connection) -> Result<Connection, String> {
    let places = Places::new(Platform::HERE, "", "", &|_| None);
    let resolved = connection.resolve(&Variables::new(&places, &|name| env::var(name).ok()));
    resolved.map_err(|error| match error {
        ResolveError::Variable { name, .. } => {
            format!("the environment variable `{name}` is not set")
        }
        other => other.to_string(),
    })
}

/// Whether the files of a client have an empty value for each variable, until the user writes one.
pub(crate) fn leaves_values_empty(client: Client) -> bool {
    // Codex passes its own variables on.
    client != Client::Codex && client.placeholder("").is_none()
}

/// The connection as it may be shown. It has placeholders for values.
pub(crate) fn without_secrets(connection: &Connection) -> Connection {
    match connection {
        Connection::Http { url, transport, .. } => at_url(public_url(url), *transport),
        command @ Connection::Command { .. } => command.clone(),
    }
}

/// The entry of a server in the files of a client.
pub(crate) fn entry(
    client: Client,
    connection: &Connection,
) -> Result<Map<String, Value>, Failure> {
    client.entry(connection).ok_or_else(|| {
        let message = format!("the files of {} have no servers at URLs", client.name());
        let help = "add the URL in its settings, as a connector";
        Failure::with_help(Kind::Usage, message, help)
    })
}

/// Prints a complete file, for a client without other servers.
pub(crate) fn print(client: Client, name: &str, connection: &Connection) -> Result<(), Failure> {
    let file = with_server(client, name, &entry(client, connection)?)
        .map_err(|error| Failure::new(Kind::Usage, error.to_string()))?;
    Ok(writeln!(terminal::json(), "{}", file.trim_end())?)
}

/// A file with one server.
pub(crate) fn with_server(
    client: Client,
    name: &str,
    entry: &Map<String, Value>,
) -> Result<String, EditError> {
    let mut file = ClientFile::parse(client, &[])?;
    file.set(name, entry)?;
    Ok(file.to_string())
}

/// Lists values that the user has to fill in, because they are not printed.
pub(crate) fn note_hidden_values(what: impl Iterator<Item = String>) {
    for what in what {
        note(format_args!(
            "note: {what} may be secret and is not printed: replace the `{HIDDEN}`"
        ));
    }
}

/// Lists the values that the server takes from the environment that the client gives it.
pub(crate) fn note_variables(client: Client, variables: &[Variable]) {
    for Variable { key, name } in variables {
        let key = one_line(key);
        if client == Client::VsCode {
            note(format_args!("note: Visual Studio Code asks for `{key}`"));
            continue;
        }
        let what_to_do = if leaves_values_empty(client) {
            "write it into the entry, or let `servlet install --write-secrets` do so"
        } else {
            "set it, or write its value into the entry"
        };
        note(format_args!(
            "note: `{key}` is the value of the environment variable {name}: {what_to_do}"
        ));
    }
}

/// A URL that is shown without its user, password or query, for [`note_hidden_values`].
pub(crate) fn hidden_url(source: &Source) -> Option<String> {
    let shown = source.to_string();
    (source.is_remote() && shown.contains(HIDDEN)).then(|| format!("the URL `{shown}`"))
}

/// A name that all clients accept. Some of them prefix the names of tools with it.
pub(crate) fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    match plain.trim_matches('-') {
        "" => "servlet".to_owned(),
        key => key.to_owned(),
    }
}

/// An absolute path, because the client may start the command in another directory.
pub(crate) fn absolute(path: &Path) -> Result<String, Failure> {
    let absolute = std::path::absolute(path)
        .ok()
        .filter(|path| path.exists())
        .ok_or_else(|| {
            let message = format!("cannot find `{}`", path.display());
            Failure::new(Kind::Usage, message)
        })?;
    path_as_text(&absolute)
}

fn path_as_text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().ok_or_else(|| {
        let message = format!("`{}` is not UTF-8", path.display());
        Failure::new(Kind::Usage, message)
    })?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_link_in_path_is_found_if_it_is_this_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let [other, bin, cellar] = ["other", "bin", "cellar"].map(|name| folder.path().join(name));
        for folder in [&other, &bin, &cellar] {
            std::fs::create_dir(folder).expect("a folder");
        }
        let program = cellar.join("servlet");
        for file in [&program, &other.join("servlet")] {
            std::fs::write(file, "").expect("a file");
        }
        let path = env::join_paths([&other, &bin]).expect("a PATH");
        assert_eq!(in_path(&path, &program), None);
        let link = bin.join("servlet");
        std::os::unix::fs::symlink(&program, &link).expect("a link");
        assert_eq!(in_path(&path, &program), Some(link));
    }

    #[test]
    fn a_program_in_a_cache_is_known() {
        for (path, expected) in [
            ("/home/a/.npm/_npx/1f/node_modules/x/servlet", Some("npx")),
            ("/home/a/.cache/uv/archive-v0/x/bin/servlet", Some("uv")),
            ("/usr/bin/servlet", None),
        ] {
            assert_eq!(runner(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn server_names_are_valid_for_all_clients() {
        for (name, expected) in [
            ("greet", "greet"),
            ("my servlet.v2", "my-servlet-v2"),
            ("é", "servlet"),
        ] {
            assert_eq!(key(name), expected);
        }
    }
}
