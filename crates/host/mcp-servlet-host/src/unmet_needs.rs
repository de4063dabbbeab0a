//! Needs that a servlet declares and its operator did not meet.

use std::fmt;

use mcp_servlet_runtime::{ConfigKey, JsonObject, LoadOptions, Needs, glob_matches};
use mcp_servlet_schema::{matches, schema_in_words};
use serde_json::Value;

use crate::Servlet;

/// What a servlet needs and was not given. The servlet is still served, because not every tool
/// needs everything.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmetNeeds {
    /// The name of the servlet.
    pub servlet: String,
    /// Required configuration keys that are not set.
    pub missing: Vec<ConfigKey>,
    /// Configuration keys with values that do not match their schemas.
    pub invalid: Vec<ConfigKey>,
    /// Hosts that it may not send requests to.
    pub hosts: Vec<String>,
    /// Directories that it may not open.
    pub paths: Vec<String>,
}

impl Servlet {
    /// The declared needs that the options do not meet; `None` if they meet all.
    pub fn unmet_needs(&self) -> Option<UnmetNeeds> {
        UnmetNeeds::of(self.name(), self.module().needs(), self.options())
    }
}

impl UnmetNeeds {
    /// The needs of the servlet with this name that the options do not meet; `None` if they meet all.
    pub fn of(servlet: &str, needs: &Needs, options: &LoadOptions) -> Option<Self> {
        let is_missing = |key: &&ConfigKey| key.required && !options.config.contains_key(&key.name);
        let is_invalid = |key: &&ConfigKey| {
            let value = options.config.get(&key.name);
            value.is_some_and(|value| !fits(&key.schema, value))
        };
        let unmet = Self {
            servlet: servlet.to_owned(),
            missing: needs.config.iter().filter(is_missing).cloned().collect(),
            invalid: needs.config.iter().filter(is_invalid).cloned().collect(),
            hosts: without(&needs.hosts, |host| allows_host(options, host)),
            paths: without(&needs.paths, |path| allows_path(options, path)),
        };
        (!unmet.is_empty()).then_some(unmet)
    }

    /// Whether everything that the servlet needs was given.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty()
            && self.invalid.is_empty()
            && self.hosts.is_empty()
            && self.paths.is_empty()
    }

    /// The missing command-line options, with placeholders for values. Secrets are in environment variables.
    pub fn options(&self) -> String {
        let config = self.missing.iter().chain(&self.invalid);
        let config = config.map(|key| {
            let ConfigKey { name, secret, .. } = key;
            if *secret {
                format!("--config-env {name}={}", key.variable(&self.servlet))
            } else {
                format!("--config {name}=…")
            }
        });
        let hosts = self.hosts.iter().map(|host| format!("--allow-host {host}"));
        let paths = self
            .paths
            .iter()
            .map(|path| format!("--allow-path …:{path}"));
        let all: Vec<_> = config.chain(hosts).chain(paths).collect();
        all.join(" ")
    }
}

impl fmt::Display for UnmetNeeds {
    /// Does not show values, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing = self.missing.iter();
        let missing = missing.map(|key| match key.description() {
            Some(text) => format!("config `{}` is not set ({})", key.name, one_line(text)),
            None => format!("config `{}` is not set", key.name),
        });
        let invalid = self.invalid.iter().map(|key| {
            let expected = type_in_words(key);
            format!("config `{}` is invalid: expected {expected}", key.name)
        });
        let hosts = self.hosts.iter();
        let hosts = hosts.map(|host| format!("host `{host}` is not allowed"));
        let paths = self.paths.iter();
        let paths = paths.map(|path| format!("directory `{path}` is not allowed"));
        let all: Vec<_> = missing.chain(invalid).chain(hosts).chain(paths).collect();
        write!(
            f,
            "servlet `{}` has unmet needs: {}",
            self.servlet,
            all.join("; ")
        )
    }
}

/// The type of a configuration key in words, such as "integer from 0 to 255".
pub fn type_in_words(key: &ConfigKey) -> String {
    schema_in_words(&JsonObject::new(), &key.schema)
}

fn without(all: &[String], given: impl Fn(&str) -> bool) -> Vec<String> {
    all.iter().filter(|one| !given(one)).cloned().collect()
}

fn allows_host(options: &LoadOptions, host: &str) -> bool {
    let mut patterns = options.allowed_hosts.iter();
    patterns.any(|pattern| glob_matches(pattern, host))
}

fn allows_path(options: &LoadOptions, path: &str) -> bool {
    let mut paths = options.allowed_paths.iter();
    paths.any(|allowed| std::path::Path::new(path).starts_with(&allowed.guest))
}

/// Whether a configured string matches the schema: as a string or as JSON, which are the two ways
/// to read it.
fn fits(schema: &Value, text: &str) -> bool {
    let json = || serde_json::from_str::<Value>(text.trim()).ok();
    matches(schema, &text.into()) || json().is_some_and(|json| matches(schema, &json))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
