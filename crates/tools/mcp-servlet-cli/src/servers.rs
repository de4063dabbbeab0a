//! `servlet servers`: the servers in the configurations of MCP clients.

mod shown;

use std::io::{self, Write};

use clap::Args;
use mcp_client_config::{Found, Server};
use serde_json::Value;

use self::shown::Shown;
use crate::{
    clients::Client,
    failure::Failure,
    format::Format,
    session::{Lookup, discover},
    terminal::{self, Style, Visible, note, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct Servers {
    /// List only the servers of this client, such as cursor
    #[arg(long, value_name = "CLIENT", value_parser = Client::ALL.map(Client::name))]
    source: Option<String>,

    /// `json` prints a list
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    lookup: Lookup,
}

impl Servers {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let found = discover(&self.lookup)?;
        for warning in &found.warnings {
            note(format_args!("warning: {}", one_line(&warning.to_string())));
        }
        let servers = self.rows(&found);
        match self.format {
            Format::Human => Ok(write(&mut terminal::out(), &servers)?),
            Format::Json => {
                let list: Value = servers.iter().map(Shown::to_json).collect();
                Ok(writeln!(terminal::json(), "{list}")?)
            }
        }
    }

    fn rows<'a>(&self, found: &'a Found) -> Vec<Shown<'a>> {
        let wanted = |server: &&Server| {
            let source = self.source.as_deref();
            source.is_none_or(|source| source == server.source.name())
        };
        let servers = found.servers.iter().filter(wanted);
        servers
            .map(|server| {
                let used = found.find(&server.name);
                let is_used = used.is_some_and(|used| std::ptr::eq(used, server));
                Shown::new(server, is_used)
            })
            .collect()
    }
}

fn write<W: Write>(out: &mut Visible<W>, servers: &[Shown<'_>]) -> io::Result<()> {
    if servers.is_empty() {
        return writeln!(out, "no servers found");
    }
    let length = |text: &str| one_line(text).chars().count();
    let names = servers
        .iter()
        .map(|server| length(server.name()))
        .max()
        .unwrap_or_default();
    let sources = servers
        .iter()
        .map(|server| length(server.source()))
        .max()
        .unwrap_or_default();
    for server in servers {
        out.styled(Style::Name, server.name())?;
        write!(out, "{:1$}", "", names - length(server.name()) + 2)?;
        write!(out, "{:sources$}  ", server.source())?;
        write!(out, "{}", one_line(&server.connection()))?;
        if let Some(state) = server.state() {
            out.styled(Style::Problem, &format!("  ({state})"))?;
        }
        write!(out, "  ")?;
        out.styled(Style::Faint, &server.path())?;
        writeln!(out)?;
    }
    Ok(())
}
