//! Entries in the words of each client.

use serde_json::{Map, Value, json};

use crate::{
    server::{Connection, Secret, Transport},
    source::Source,
};

impl Source {
    /// The entry with which this client reaches a server, for [`ClientFile::set`](crate::ClientFile::set). None if its files
    /// have no servers at URLs.
    ///
    /// A value `${env:NAME}` of an environment variable or a header becomes the placeholder of the client. Clients that
    /// replace none ([`Source::placeholder`]) get an empty value, for the user to fill in.
    pub fn entry(self, connection: &Connection) -> Option<Map<String, Value>> {
        let entry = match connection {
            Connection::Command {
                command,
                args,
                env,
                cwd,
            } => self.of_command(command, args, env, cwd.as_deref()),
            Connection::Http {
                url,
                transport,
                headers,
            } => self.of_url(url, *transport, headers)?,
        };
        // Members without a value are left out.
        let is_empty =
            |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
        let Value::Object(mut entry) = entry else {
            unreachable!("an entry is an object")
        };
        entry.retain(|_, value| !is_empty(value));
        Some(entry)
    }

    /// The placeholder that this client replaces with a value, such as `${NAME}`: the value of an environment variable, or one that
    /// it asks the user for. None if it has no placeholders.
    pub fn placeholder(self, variable: &str) -> Option<String> {
        match self {
            Self::ClaudeCode | Self::Gemini => Some(format!("${{{variable}}}")),
            Self::Cursor | Self::Windsurf => Some(format!("${{env:{variable}}}")),
            // It asks for the value; an editor seldom has the variables of a terminal.
            Self::VsCode => Some(format!("${{input:{variable}}}")),
            Self::OpenCode => Some(format!("{{env:{variable}}}")),
            _ => None,
        }
    }

    fn of_command(
        self,
        command: &str,
        args: &[String],
        env: &[(String, Secret)],
        cwd: Option<&str>,
    ) -> Value {
        match self {
            Self::OpenCode => {
                let mut words = vec![command];
                words.extend(args.iter().map(String::as_str));
                json!({ "type": "local", "command": words, "cwd": cwd, "environment": self.values(env) })
            }
            // Codex passes variables of its own environment on by their names.
            Self::Codex => {
                let (passed, set): (Vec<_>, Vec<_>) = env
                    .iter()
                    .cloned()
                    .partition(|(name, value)| variable(value) == Some(name));
                let names: Vec<_> = passed.into_iter().map(|(name, _)| name).collect();
                let names = (!names.is_empty()).then_some(names);
                json!({ "command": command, "args": args, "cwd": cwd, "env_vars": names, "env": self.values(&set) })
            }
            _ => {
                let (kind, tools) = match self {
                    Self::VsCode => (Some("stdio"), None),
                    // Without `tools`, Copilot offers none.
                    Self::Copilot => (Some("local"), Some(["*"])),
                    _ => (None, None),
                };
                json!({
                    "type": kind, "command": command, "args": args, "cwd": cwd, "env": self.values(env), "tools": tools,
                })
            }
        }
    }

    fn of_url(
        self,
        url: &str,
        transport: Transport,
        headers: &[(String, Secret)],
    ) -> Option<Value> {
        let headers = self.values(headers);
        let kind = match transport {
            Transport::Sse => "sse",
            Transport::Auto | Transport::Http => "http",
        };
        Some(match self {
            Self::ClaudeDesktop => return None,
            // Without `type`, these assume an older transport, or guess.
            Self::ClaudeCode | Self::VsCode => {
                json!({ "type": kind, "url": url, "headers": headers })
            }
            Self::Copilot => {
                json!({ "type": kind, "url": url, "headers": headers, "tools": ["*"] })
            }
            Self::Cline if transport != Transport::Sse => {
                json!({ "type": "streamableHttp", "url": url, "headers": headers })
            }
            Self::Gemini if transport != Transport::Sse => {
                json!({ "httpUrl": url, "headers": headers })
            }
            Self::Windsurf => json!({ "serverUrl": url, "headers": headers }),
            Self::Codex => json!({ "url": url, "http_headers": headers }),
            Self::OpenCode => json!({ "type": "remote", "url": url, "headers": headers }),
            _ => json!({ "url": url, "headers": headers }),
        })
    }

    fn values(self, secrets: &[(String, Secret)]) -> Value {
        let value = |secret: &Secret| match variable(secret) {
            Some(name) => self.placeholder(name).unwrap_or_default(),
            None => secret.expose().to_owned(),
        };
        let values = secrets
            .iter()
            .map(|(name, secret)| (name.clone(), value(secret).into()));
        Value::Object(values.collect())
    }
}

/// The name in `${env:NAME}`.
fn variable(secret: &Secret) -> Option<&str> {
    secret.expose().strip_prefix("${env:")?.strip_suffix('}')
}
