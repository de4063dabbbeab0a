//! `servlet install` and `servlet uninstall`: servers in the configurations of MCP clients.
//!
//! All files are edited in the same way, including that of Claude Code: its own `claude mcp add-json` shows nothing before it writes,
//! keeps no copy, and would be a second way with other rules.

mod file;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use mcp_client_config::Connection;
use mcp_servlet_client::ErrorKind;
use mcp_servlet_common::quoted;
use mcp_servlet_config::Config;
use serde_json::{Map, Value};

use self::file::{Backup, InstalledIn};
use crate::{
    clients::{self, Client, with_values},
    config::count,
    failure::{Failure, Kind, indented},
    serve::{ClientEntry, Options},
    session::{self, Environment, Target, places},
    terminal::{self, note, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct Install {
    /// The client to add the server to
    #[arg(value_parser = clients::editable())]
    client: Client,

    #[command(flatten)]
    place: Place,

    /// The name of the server in the client; default: from the configuration, the file or the host of the URL
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Replace the connection to a server of the same name
    #[arg(long)]
    force: bool,

    /// Do not start the server to see whether it answers
    #[arg(long)]
    no_check: bool,

    /// Write the values of environment variables into the file, for a client that has no placeholders for them
    #[arg(long)]
    write_secrets: bool,

    #[command(flatten)]
    server: Options,
}

#[derive(Args, Debug)]
pub(crate) struct Uninstall {
    /// The client to remove the server from
    #[arg(value_parser = clients::editable())]
    client: Client,

    /// The name of the server in the client
    name: String,

    #[command(flatten)]
    place: Place,
}

// Which file of the client, and whether to change it.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
struct Place {
    /// Whose configuration to change
    #[arg(long, value_enum, default_value_t)]
    scope: Scope,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Change the file without asking
    #[arg(long)]
    yes: bool,
}

/// Whose configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// Your own, for all projects
    #[default]
    User,
    /// The one of the project in this folder
    Project,
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
        })
    }
}

impl Install {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut server = self.entry()?;
        let shown = clients::entry(self.client, &clients::without_secrets(&server.connection))?;
        if self.write_secrets {
            server = server.with_values()?;
        }
        let name = clients::key(self.name.as_ref().unwrap_or(&server.name));
        let entry = clients::entry(self.client, &server.connection)?;
        let by_hand = |problem| self.by_hand(problem, &name, &shown);
        let path = self.place.path(self.client)?;
        let edited = || -> Result<_, Failure> {
            let mut file = InstalledIn::read(self.client, path.clone()).map_err(by_hand)?;
            let before = file.server(&name);
            file.set(&name, &entry).map_err(by_hand)?;
            Ok((file, before))
        };
        let (file, before) = edited()?;
        if !file.has_changed() {
            note(format_args!("nothing to do: {} has `{name}`", file.shown()));
            return Ok(());
        }
        if let Some(before) = before.as_ref().filter(|_| !self.force) {
            return Err(is_taken(&file, &name, before, &entry));
        }
        show(&file, &name, &shown);
        let after = file.server(&name);
        if let [first, rest @ ..] = &*kept(before.as_ref(), after.as_ref()) {
            let names = rest
                .iter()
                .fold(first.clone(), |names, name| names + ", " + name);
            note(format_args!("  unchanged: {}", one_line(&names)));
        }
        let signers = self.server.signers()?;
        for line in server.can().iter().chain(&signers) {
            note(format_args!("  {}", one_line(line)));
        }
        server.note(self.client);
        if self.place.dry_run {
            return Ok(());
        }
        self.place
            .ask(&format!("add `{name}` to {}?", file.shown()))?;
        if !self.no_check {
            let without_values = server.without_values(self.client);
            check_connection(&name, &server.connection, &without_values)?;
        }
        // The client may have written its file meanwhile. Its other servers do not matter.
        let (file, now) = edited()?;
        if now != before {
            return Err(has_just_changed(&file, &name));
        }
        write(file, self.write_secrets, &format!("added `{name}` to"))?;
        if self.client == Client::ClaudeDesktop {
            note(format_args!(
                "restart Claude Desktop: it reads the file when it starts"
            ));
        }
        Ok(())
    }

    fn entry(&self) -> Result<ClientEntry, Failure> {
        if let [file] = self.server.files()
            && let Target::Url(url) = Target::parse(file)?
        {
            if self.server.has_settings() {
                let message = "limits, `--prefix` and `--schemas-for` only apply to servlets";
                return Err(Failure::new(Kind::Usage, message));
            }
            let name = host(&url);
            return Ok(ClientEntry::at_url(name, url));
        }
        let config = self.server.config(Config::read_for_elsewhere)?;
        let entry = self.server.client_entry(config.as_ref())?;
        match entry.hidden() {
            [] => Ok(entry),
            [secret, ..] => Err(Failure::with_help(
                Kind::Usage,
                format!("{secret} may be secret, and the file of a client would show it"),
                "write a `servlet.toml` with it, and install that",
            )),
        }
    }

    /// A file that cannot be changed, with what to add to it.
    fn by_hand(&self, problem: Failure, name: &str, entry: &Map<String, Value>) -> Failure {
        let Failure::Message { kind, message, .. } = problem else {
            return problem;
        };
        let Ok(text) = clients::with_server(self.client, name, entry) else {
            return Failure::new(kind, message);
        };
        let help = format!(
            "nothing was changed; mend the file, or add this yourself:\n{}",
            text.trim_end()
        );
        Failure::with_help(kind, message, indented(&help, "  "))
    }
}

impl Uninstall {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Self {
            client,
            name,
            place,
        } = self;
        let mut file = InstalledIn::read(client, place.path(client)?)?;
        // The name as `install` writes it, unless the file has the name itself.
        let plain = clients::key(&name);
        let is_plain = file.server(&name).is_none() && file.server(&plain).is_some();
        let name = if is_plain { plain } else { name };
        if !file.remove(&name)? {
            let message = format!("{} has no server `{name}`", file.shown());
            let other = match place.scope {
                Scope::User => "`--scope project` looks at the file of the project in this folder",
                Scope::Project => "without `--scope project`, the command looks at your own file",
            };
            return Err(Failure::with_help(Kind::Usage, message, other));
        }
        if place.dry_run {
            note(format_args!("would remove `{name}` from {}", file.shown()));
            return Ok(());
        }
        place.ask(&format!("remove `{name}` from {}?", file.shown()))?;
        write(file, false, &format!("removed `{name}` from"))
    }
}

impl Place {
    /// Asks whether to change the file. Without a terminal, the command line is the answer.
    fn ask(&self, question: &str) -> Result<(), Failure> {
        if self.yes || terminal::agrees(question) != Some(false) {
            return Ok(());
        }
        Err(Failure::new(Kind::Usage, "nothing was changed"))
    }

    /// The first file that exists, or else the first one in a folder that exists, or else the first one that the client reads.
    fn path(&self, client: Client) -> Result<PathBuf, Failure> {
        let places = places()?;
        let mut files = match self.scope {
            Scope::User => client.user_files(&places),
            Scope::Project => client.project_files(&places),
        };
        if self.scope == Scope::Project {
            // A file in a folder above belongs to another project.
            files.retain(|path| path.starts_with(places.folder()));
        }
        let has_folder = |path: &&PathBuf| path.parent().is_some_and(Path::exists);
        let existing = files.iter().find(|path| path.exists());
        let path = existing
            .or_else(|| files.iter().find(has_folder))
            .or(files.first());
        path.cloned().ok_or_else(|| {
            let message = format!("{} has no configuration for a project", client.name());
            Failure::with_help(Kind::Usage, message, "leave out `--scope project`")
        })
    }
}

/// Shows what is added.
fn show(file: &InstalledIn, name: &str, entry: &Map<String, Value>) {
    note(format_args!("`{name}` in {}:", file.shown()));
    for (member, value) in entry {
        let value = match value {
            Value::Object(values) => {
                let names = values.keys().map(String::as_str);
                names.collect::<Vec<_>>().join(", ")
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        note(format_args!("  {member}: {}", one_line(&value)));
    }
}

/// The variables and headers that an entry had before and keeps, with their values.
fn kept(before: Option<&Value>, after: Option<&Value>) -> Vec<String> {
    let members = after.and_then(Value::as_object).into_iter().flatten();
    let values = members.filter_map(|(member, values)| {
        let old = before?.get(member)?.as_object()?;
        Some(
            values
                .as_object()?
                .keys()
                .filter(|name| old.contains_key(*name)),
        )
    });
    values.flatten().cloned().collect()
}

fn write(mut file: InstalledIn, has_secrets: bool, done: &str) -> Result<(), Failure> {
    file.write(has_secrets)?;
    note(format_args!("{done} {}", file.shown()));
    if let Some(Backup { path, is_new }) = &file.backup {
        let path = path.display().to_string();
        let path = one_line(&path);
        if *is_new {
            note(format_args!("a copy of the old file is {path}"));
        } else {
            note(format_args!(
                "{path} is still the copy from before an earlier change"
            ));
        }
    }
    Ok(())
}

/// Starts the server as the client will, and lists its tools. A server whose variables are not set here is not started. The file of
/// the client may have no values for some of them.
fn check_connection(
    name: &str,
    connection: &Connection,
    without_values: &[&str],
) -> Result<(), Failure> {
    let resolved = match with_values(connection) {
        Ok(resolved) => resolved,
        Err(problem) => {
            note(format_args!(
                "note: `{name}` was not started to check it: {problem}"
            ));
            return Ok(());
        }
    };
    let works = |tools| {
        let tools = count(tools, "tool");
        if without_values.is_empty() {
            note(format_args!("`{name}` answers, with {tools}"));
        } else {
            let names = without_values.join(", ");
            note(format_args!(
                "note: with the variables of this terminal, `{name}` has {tools}; its entry has no value for {names} yet"
            ));
        }
    };
    let failure = match session::count_tools(&resolved, Environment::Desktop) {
        Ok(tools) => {
            works(tools);
            return Ok(());
        }
        Err(failure) => failure,
    };
    if matches!(&failure, Failure::Server { error, .. } if error.kind() == ErrorKind::Authentication)
    {
        note(format_args!(
            "note: the server of `{name}` requires a login: log in with the client"
        ));
        return Ok(());
    }
    // What ended at once may lack a variable that only terminals have.
    let has_ended = matches!(&failure, Failure::Server { error, .. } if error.kind() == ErrorKind::Connectivity);
    let is_command = matches!(resolved, Connection::Command { .. });
    if is_command
        && has_ended
        && let Ok(tools) = session::count_tools(&resolved, Environment::Terminal)
    {
        works(tools);
        note(format_args!(
            "warning: the server of `{name}` only starts with the environment of this terminal; clients that start from the desktop do not have it"
        ));
        return Ok(());
    }
    note(format_args!(
        "`{name}` does not work, so nothing was changed; `--no-check` adds it anyway"
    ));
    Err(failure)
}

/// An entry that is no longer the one that the user has seen.
fn has_just_changed(file: &InstalledIn, name: &str) -> Failure {
    let shown = file.shown();
    let message = format!("`{name}` in {shown} has just been changed by another program");
    Failure::with_help(Kind::Usage, message, "run the command again")
}

/// A name that is already used.
fn is_taken(file: &InstalledIn, name: &str, before: &Value, after: &Map<String, Value>) -> Failure {
    let differs = after
        .iter()
        .filter(|(member, value)| before.get(member) != Some(value));
    let message = format!(
        "{} has another server `{name}`: {} would change",
        file.shown(),
        quoted(differs.map(|(member, _)| member))
    );
    let help = "`--force` changes it, `--name` adds the server under another name";
    Failure::with_help(Kind::Usage, message, help)
}

/// A name for the server at a URL.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.to_owned()
}
