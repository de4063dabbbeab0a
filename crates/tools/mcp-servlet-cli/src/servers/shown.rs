//! One server, without what may be secret.

use std::borrow::Cow;

use mcp_client_config::{Connection, Secret, Server, Transport};
use mcp_servlet_common::public_url;
use serde_json::{Value, json};

use crate::session::Target;

/// Takes the place of an argument that may be secret.
const HIDDEN: &str = "…";
/// Parts of names of options and variables whose values are secret.
const SECRETS: [&str; 8] = [
    "key",
    "token",
    "secret",
    "pass",
    "auth",
    "header",
    "bearer",
    "credential",
];
/// A word with letters and digits, and without a separator, is probably a key if it is this long.
const MIN_KEY_LENGTH: usize = 20;

/// A server and whether its name leads to it.
pub(super) struct Shown<'a> {
    server: &'a Server,
    is_used: bool,
}

impl<'a> Shown<'a> {
    pub(super) fn new(server: &'a Server, is_used: bool) -> Self {
        Self { server, is_used }
    }

    pub(super) fn name(&self) -> &str {
        &self.server.name
    }

    pub(super) fn source(&self) -> &str {
        self.server.source.name()
    }

    pub(super) fn path(&self) -> String {
        self.server.path.display().to_string()
    }

    /// Why the name does not lead to this server.
    pub(super) fn state(&self) -> Option<String> {
        if self.server.is_disabled {
            return Some("disabled".to_owned());
        }
        let qualified = format!("{}:{}", self.source(), self.name());
        let is_name = matches!(Target::parse(self.name()), Ok(Target::Name(_)));
        if self.is_used && !is_name {
            return Some(format!("use `--server {}`", self.name()));
        }
        (!self.is_used).then(|| format!("use `{qualified}`, because another client has this name"))
    }

    /// The command or the URL.
    pub(super) fn connection(&self) -> String {
        match &self.server.connection {
            Connection::Command { command, args, .. } => {
                let words = public_arguments(args);
                words.fold(command.clone(), |line, word| line + " " + &word)
            }
            Connection::Http { url, .. } => public_url(url),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut json = json!({
            "name": self.name(),
            "source": self.source(),
            "path": self.path(),
            "disabled": self.server.is_disabled,
            "used": self.is_used,
        });
        match &self.server.connection {
            Connection::Command {
                command, args, env, ..
            } => {
                json["transport"] = "stdio".into();
                json["command"] = command.as_str().into();
                json["args"] = public_arguments(args).collect();
                json["env"] = names(env);
            }
            Connection::Http {
                url,
                transport,
                headers,
            } => {
                json["transport"] = transport_name(*transport).into();
                json["url"] = public_url(url).into();
                json["headers"] = names(headers);
            }
        }
        json
    }
}

fn names(secrets: &[(String, Secret)]) -> Value {
    secrets.iter().map(|(name, _)| name.as_str()).collect()
}

fn transport_name(transport: Transport) -> &'static str {
    match transport {
        Transport::Auto => "auto",
        Transport::Http => "http",
        Transport::Sse => "sse",
    }
}

/// Arguments with `…` instead of each that may be secret. People write keys and headers there, too.
fn public_arguments(arguments: &[String]) -> impl Iterator<Item = Cow<'_, str>> {
    // Up to the next option, because an option for headers may have several values.
    let mut are_secret = false;
    arguments.iter().map(move |argument| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        if argument.starts_with('-') {
            are_secret = value.is_empty() && (name == "-H" || is_secret_name(name));
        } else if are_secret || is_key(argument) || is_header(argument) {
            return HIDDEN.into();
        }
        if argument.contains("://") {
            return public_url(argument).into();
        }
        if !value.is_empty() && (is_secret_name(name) || is_key(value)) {
            return format!("{name}={HIDDEN}").into();
        }
        argument.into()
    })
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|part| name.contains(part))
}

/// Whether a word is a header with credentials, or the value of one.
fn is_header(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let has_scheme = ["bearer ", "basic "].iter().any(|one| lower.contains(one));
    let name = word.split_once(':').map(|(name, _)| name);
    has_scheme || name.is_some_and(|name| !word.contains("://") && is_secret_name(name))
}

fn is_key(word: &str) -> bool {
    let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
    word.len() >= MIN_KEY_LENGTH
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !word.contains(['/', '\\', '.', '@', ' ', '$', '='])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_may_be_secret_are_hidden() {
        let shown = |text: &str| {
            let words: Vec<_> = text.split(' ').map(|word| word.replace('+', " ")).collect();
            public_arguments(&words).collect::<Vec<_>>().join(" ")
        };
        for (arguments, expected) in [
            ("-y @scope/server-demo@1.2.3", "-y @scope/server-demo@1.2.3"),
            ("--api-key abc --port 8080", "--api-key … --port 8080"),
            ("--token=abc --name=demo", "--token=… --name=demo"),
            ("API_KEY=abc", "API_KEY=…"),
            ("--header Authorization:${T}", "--header …"),
            ("--headers Authorization Bearer+abc -y", "--headers … … -y"),
            ("-H Authorization:+Bearer+abc", "-H …"),
            ("--with X-Api-Key:+abc Basic+abc", "--with … …"),
            ("--token=sk-live-0123456789abcdef", "--token=…"),
            ("sk-live-0123456789abcdef", "…"),
            ("x=sk-live-0123456789abcdef", "x=…"),
            ("https://u:p@h/mcp?key=abc", "https://…@h/mcp?…"),
            (
                "/srv/data/2026 --auth --verbose",
                "/srv/data/2026 --auth --verbose",
            ),
        ] {
            assert_eq!(shown(arguments), expected);
        }
    }
}
