//! Needs that a servlet declares and its operator did not meet.

use std::{collections::BTreeMap, fmt};

use mcp_servlet_call::JsonObject;
use mcp_servlet_runtime::{ConfigKey, Grant, LoadOptions, Needs, configured_host, glob_matches};
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
    /// For missing keys whose values should come from empty environment variables: the names of these variables, by key.
    pub empty_variables: BTreeMap<String, String>,
    /// Configuration keys with values that do not match their schemas.
    pub invalid: Vec<ConfigKey>,
    /// Configuration keys that [`hosts`](Needs::hosts) refer to, and whose values name no host.
    pub hostless: Vec<ConfigKey>,
    /// Configuration keys whose values are placeholders such as `${NAME}` that nothing has replaced, and the placeholders.
    pub placeholders: Vec<(String, String)>,
    /// Hosts that it may not send requests to. `config.KEY` is the host of a configuration value.
    pub hosts: Vec<String>,
    /// Directories that it may not open.
    pub paths: Vec<String>,
    /// Tools of other servlets and of remotes that it may not call.
    pub calls: Vec<Grant>,
    /// Resources of other servlets and of remotes that it may not read.
    pub reads: Vec<Grant>,
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
        let placeholders = options
            .config
            .iter()
            .filter(|(_, value)| is_placeholder(value));
        let hosts = Hosts { needs, options };
        let missing: Vec<_> = needs.config.iter().filter(is_missing).cloned().collect();
        let variables = options.empty_variables.iter();
        let of_missing =
            variables.filter(|(key, _)| missing.iter().any(|missing| missing.name == **key));
        let unmet = Self {
            servlet: servlet.to_owned(),
            empty_variables: of_missing
                .map(|(key, variable)| (key.clone(), variable.clone()))
                .collect(),
            missing,
            invalid: needs.config.iter().filter(is_invalid).cloned().collect(),
            hostless: hosts.hostless(),
            placeholders: placeholders
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            hosts: without(&needs.hosts, |host| hosts.are_met(host)),
            paths: without(&needs.paths, |path| allows_path(options, path)),
            calls: without_grants(&needs.calls, &options.allowed_tools),
            reads: without_grants(&needs.reads, &options.allowed_resources),
        };
        (!unmet.is_empty()).then_some(unmet)
    }

    /// Whether everything that the servlet needs was given.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty()
            && self.invalid.is_empty()
            && self.hostless.is_empty()
            && self.placeholders.is_empty()
            && self.hosts.is_empty()
            && self.paths.is_empty()
            && self.calls.is_empty()
            && self.reads.is_empty()
    }

    /// What to do: the environment variables to set, and the missing command-line options.
    pub fn help(&self) -> Option<String> {
        let variables: Vec<_> = self.empty_variables.values().cloned().collect();
        let (variables, options) = (variables.join(", "), self.options());
        let steps = [("set", variables), ("add", options)];
        let steps = steps.iter().filter(|(_, what)| !what.is_empty());
        let steps: Vec<_> = steps.map(|(verb, what)| format!("{verb} {what}")).collect();
        (!steps.is_empty()).then(|| steps.join("; "))
    }

    /// The missing command-line options, with placeholders for values. Secrets are in environment variables.
    pub fn options(&self) -> String {
        let config = self
            .missing
            .iter()
            .filter(|key| !self.empty_variables.contains_key(&key.name))
            .chain(&self.invalid)
            .chain(&self.hostless)
            .map(|key| {
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
        let calls = self.calls.iter().map(|one| format!("--allow-tool {one}"));
        let reads = self
            .reads
            .iter()
            .map(|one| format!("--allow-resource {one}"));
        let all: Vec<_> = config
            .chain(hosts)
            .chain(paths)
            .chain(calls)
            .chain(reads)
            .collect();
        all.join(" ")
    }
}

impl fmt::Display for UnmetNeeds {
    /// Does not show values, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing = self.missing.iter().map(|key| match key.description() {
            Some(text) => format!("config `{}` is not set ({})", key.name, one_line(text)),
            None => format!("config `{}` is not set", key.name),
        });
        let invalid = self.invalid.iter().map(|key| {
            let expected = type_in_words(key);
            format!("config `{}` is invalid: expected {expected}", key.name)
        });
        let hostless = self.hostless.iter().map(|key| {
            let name = &key.name;
            format!("config `{name}` is invalid: expected a URL or a host")
        });
        let placeholders = self.placeholders.iter().map(|(key, value)| {
            format!("config `{key}` is the placeholder `{value}`, which nothing has replaced")
        });
        let all: Vec<_> = missing
            .chain(invalid)
            .chain(hostless)
            .chain(placeholders)
            .chain(not_allowed("host", &self.hosts))
            .chain(not_allowed("directory", &self.paths))
            .chain(not_allowed("tool", &self.calls))
            .chain(not_allowed("resource", &self.reads))
            .collect();
        write!(
            f,
            "servlet `{}` has unmet needs: {}",
            self.servlet,
            all.join("; ")
        )
    }
}

fn not_allowed(what: &str, names: &[impl fmt::Display]) -> impl Iterator<Item = String> {
    names
        .iter()
        .map(move |name| format!("{what} `{name}` is not allowed"))
}

/// The type of a configuration key in words, such as "integer from 0 to 255".
pub fn type_in_words(key: &ConfigKey) -> String {
    schema_in_words(&JsonObject::new(), &key.schema)
}

fn without(all: &[String], given: impl Fn(&str) -> bool) -> Vec<String> {
    all.iter().filter(|one| !given(one)).cloned().collect()
}

fn without_grants(all: &[Grant], given: &[Grant]) -> Vec<Grant> {
    let is_given = |one: &&Grant| given.iter().any(|grant| grant.covers(one));
    let missing = all.iter().filter(|one| !is_given(one));
    missing.cloned().collect()
}

/// The hosts that a servlet declares, and those that its options allow.
struct Hosts<'a> {
    needs: &'a Needs,
    options: &'a LoadOptions,
}

impl Hosts<'_> {
    /// Whether requests to this host are allowed. The host of a value that is not set is needed only if the value is required.
    fn are_met(&self, host: &str) -> bool {
        let Some(key) = self.needs.host_key(host) else {
            return self.allow(host);
        };
        let is_listed = |allowed: &String| self.needs.host_key(allowed) == Some(key);
        if self.options.allowed_hosts.iter().any(is_listed) {
            return true;
        }
        match self.options.config.get(&key.name) {
            // Without a host, only the value is the problem.
            Some(value) => configured_host(value).is_none_or(|host| self.allow(&host)),
            None => !key.required,
        }
    }

    fn allow(&self, host: &str) -> bool {
        let allowed = self.needs.allowed_hosts(self.options);
        allowed.iter().any(|pattern| glob_matches(pattern, host))
    }

    /// The keys whose values should name hosts, and do not.
    fn hostless(&self) -> Vec<ConfigKey> {
        let keys = self
            .needs
            .hosts
            .iter()
            .filter_map(|host| self.needs.host_key(host));
        let value = |key: &ConfigKey| self.options.config.get(&key.name);
        let hostless =
            keys.filter(|key| value(key).is_some_and(|value| configured_host(value).is_none()));
        hostless.cloned().collect()
    }
}

/// Whether a value is `${NAME}`, as in the files of clients, and no client has replaced it.
pub fn is_placeholder(value: &str) -> bool {
    let name = value
        .strip_prefix("${")
        .and_then(|name| name.strip_suffix('}'));
    let is_name = |one: char| one.is_ascii_alphanumeric() || "_-.:".contains(one);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_name))
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
