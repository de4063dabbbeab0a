//! The configuration that adds a server to an MCP client.

use std::{collections::BTreeMap, io::Write as _, path::Path};

use clap::ValueEnum;
use mcp_servlet_runtime::Source;
use serde::Serialize;
use serde_json::json;

use crate::{
    failure::{Failure, Kind},
    terminal::{self, note, one_line},
    variable::Variable,
};

/// Replaces a value that may be secret.
pub(crate) const HIDDEN: &str = "…";

/// An MCP client with a format of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// `.mcp.json` of a project, or `claude_desktop_config.json`
    Claude,
    /// `.cursor/mcp.json`, of a project or in your home
    Cursor,
    /// `.vscode/mcp.json` of a workspace of Visual Studio Code
    Vscode,
    /// `.codex/config.toml`, of a project or in your home
    Codex,
}

/// How a client connects to a server.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Way {
    /// The client starts a command.
    Command {
        /// The program.
        command: String,
        /// The arguments.
        args: Vec<String>,
        /// Environment variables of the command, with placeholders for their values.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
    },
    /// The client connects to a URL.
    Http {
        /// The URL.
        url: String,
    },
    /// The client connects to a URL, over HTTP+SSE.
    Sse {
        /// The URL.
        url: String,
    },
}

impl Way {
    /// The `servlet` command itself, with other arguments.
    pub(crate) fn this_command(args: Vec<String>) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| {
            let message = format!("cannot find the path of this command: {error}");
            Failure::new(Kind::Usage, message)
        })?;
        let command = text(&program)?;
        let env = BTreeMap::new();
        Ok(Self::Command { command, args, env })
    }

    /// Adds environment variables with placeholders for their values.
    pub(crate) fn with_variables<'a>(mut self, names: impl Iterator<Item = &'a String>) -> Self {
        if let Self::Command { env, .. } = &mut self {
            env.extend(names.map(|name| (name.clone(), String::new())));
        }
        self
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Command { .. } => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
        }
    }
}

impl Client {
    /// Prints a complete file, for a client without other servers.
    pub(crate) fn print(self, name: &str, way: &Way) -> Result<(), Failure> {
        let text = self.config(&key(name), way);
        let mut out = terminal::out();
        Ok(writeln!(out, "{}", text.trim_end())?)
    }

    /// Fills in placeholders that the client replaces by values, or else placeholders for people to replace.
    fn with_placeholders(self, way: &Way) -> Way {
        let mut way = way.clone();
        if let Way::Command { env, .. } = &mut way {
            for (name, value) in env {
                *value = match self {
                    Self::Claude => format!("${{{name}}}"),
                    Self::Cursor | Self::Vscode => format!("${{env:{name}}}"),
                    Self::Codex => format!("<{name}>"),
                };
            }
        }
        way
    }

    fn config(self, name: &str, way: &Way) -> String {
        let way = &self.with_placeholders(way);
        let mut server = json!(way);
        // Without `type`, some clients assume an older transport for a URL, or guess.
        let says_kind = match self {
            Self::Vscode => true,
            Self::Claude => !matches!(way, Way::Command { .. }),
            Self::Cursor | Self::Codex => false,
        };
        if says_kind {
            server["type"] = way.kind().into();
        }
        match self {
            Self::Claude | Self::Cursor => {
                format!("{:#}", json!({ "mcpServers": { name: server } }))
            }
            Self::Vscode => format!("{:#}", json!({ "servers": { name: server } })),
            Self::Codex => {
                let servers = BTreeMap::from([("mcp_servers", BTreeMap::from([(name, way)]))]);
                toml::to_string(&servers).expect("texts and lists of them are TOML")
            }
        }
    }
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
pub(crate) fn note_variables(variables: &[Variable]) {
    for Variable { key, name } in variables {
        let key = one_line(key);
        note(format_args!(
            "note: `{key}` is the value of the environment variable {name}: set it, or replace its placeholder in `env`"
        ));
    }
}

/// A URL that is shown without its user, password or query, for [`note_hidden_values`].
pub(crate) fn hidden_url(source: &Source) -> Option<String> {
    let shown = source.to_string();
    (source.is_remote() && shown.contains(HIDDEN)).then(|| format!("the URL `{shown}`"))
}

/// A name that all clients accept. Some of them prefix the names of tools with it.
fn key(name: &str) -> String {
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
    let absolute = std::path::absolute(path);
    let absolute = absolute.ok().filter(|path| path.exists());
    let absolute = absolute.ok_or_else(|| {
        let message = format!("cannot find `{}`", path.display());
        Failure::new(Kind::Usage, message)
    })?;
    text(&absolute)
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().ok_or_else(|| {
        let message = format!("`{}` is not UTF-8", path.display());
        Failure::new(Kind::Usage, message)
    })?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_transport_is_named() {
        let url = "http://localhost:1/sse".to_owned();
        let text = Client::Claude.config("greet", &Way::Sse { url });
        let config: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(config["mcpServers"]["greet"]["type"], "sse");
    }

    fn ways() -> [Way; 2] {
        let command = Way::Command {
            command: "/bin/servlet".into(),
            args: vec!["dev".into(), "/a \"b\"".into()],
            env: BTreeMap::new(),
        };
        let http = Way::Http {
            url: "http://localhost:1/mcp".into(),
        };
        [command, http]
    }

    fn configs(client: Client) -> [serde_json::Value; 2] {
        ways().map(|way| {
            let text = client.config("greet", &way);
            match client {
                Client::Codex => json!(toml::from_str::<toml::Table>(&text).expect("TOML")),
                _ => serde_json::from_str(&text).expect("JSON"),
            }
        })
    }

    #[test]
    fn each_client_gets_its_own_format() {
        let command = json!({ "command": "/bin/servlet", "args": ["dev", "/a \"b\""] });
        let url = json!({ "url": "http://localhost:1/mcp" });
        let with = |mut server: serde_json::Value, kind: &str| {
            server["type"] = kind.into();
            server
        };
        let file = |key: &str, server| json!({ key: { "greet": server } });
        assert_eq!(
            configs(Client::Claude),
            [
                file("mcpServers", command.clone()),
                file("mcpServers", with(url.clone(), "http")),
            ]
        );
        assert_eq!(
            configs(Client::Cursor),
            [
                file("mcpServers", command.clone()),
                file("mcpServers", url.clone()),
            ]
        );
        assert_eq!(
            configs(Client::Vscode),
            [
                file("servers", with(command.clone(), "stdio")),
                file("servers", with(url.clone(), "http")),
            ]
        );
        assert_eq!(
            configs(Client::Codex),
            [file("mcp_servers", command), file("mcp_servers", url)]
        );
    }

    #[test]
    fn environment_variables_are_placeholders() {
        let [command, _] = ways();
        let name = "WEATHER_KEY".to_owned();
        let command = command.with_variables([&name].into_iter());
        for (client, expected) in [
            (Client::Claude, "\"WEATHER_KEY\": \"${WEATHER_KEY}\""),
            (Client::Cursor, "\"WEATHER_KEY\": \"${env:WEATHER_KEY}\""),
            (Client::Vscode, "\"WEATHER_KEY\": \"${env:WEATHER_KEY}\""),
            (Client::Codex, "WEATHER_KEY = \"<WEATHER_KEY>\""),
        ] {
            let text = client.config("weather", &command);
            assert!(text.contains(expected), "{text}");
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
