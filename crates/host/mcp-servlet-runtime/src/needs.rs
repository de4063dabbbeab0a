//! What a servlet declares that it needs from its operator: configuration, hosts and directories.
//!
//! The declaration is a custom section of the module, so reading it does not run the servlet. A
//! declaration grants nothing.

use mcp_servlet_call::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::{
    json::syntax_error,
    options::{Grant, LoadOptions},
};

/// The custom section that `export!` writes.
pub(crate) const SECTION: &str = "mcp-servlet:needs";

/// What a servlet declares that it needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Needs {
    /// The configuration keys, in the order in which the servlet declares them.
    pub config: Vec<ConfigKey>,
    /// The hosts that it sends HTTP requests to; `*` and `?` match parts of a name. See also [`host_key`](Self::host_key).
    pub hosts: Vec<String>,
    /// The directories that it opens, by the names that it uses.
    pub paths: Vec<String>,
    /// The tools of other servlets and of remotes that it calls. What is no [`Grant`] is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Grant>,
    /// The resources of other servlets and of remotes that it reads. What is no [`Grant`] is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Grant>,
}

/// One configuration key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigKey {
    /// The key.
    pub name: String,
    /// Whether the servlet requires it.
    pub required: bool,
    /// Whether its value is a secret.
    pub secret: bool,
    /// The JSON Schema of its value.
    pub schema: Value,
}

/// The section as `export!` writes it. Unknown members of later releases are ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Declared {
    config: JsonObject,
    hosts: Vec<String>,
    paths: Vec<String>,
    calls: Vec<String>,
    reads: Vec<String>,
}

impl Needs {
    /// Reads the contents of the section.
    pub(crate) fn parse(section: &[u8]) -> Result<Self, String> {
        let problem = |error: serde_json::Error| syntax_error(&error);
        // serde would also accept an array, with the members in order.
        let declared: JsonObject = serde_json::from_slice(section).map_err(problem)?;
        let declared = Declared::deserialize(Value::Object(declared)).map_err(problem)?;
        Ok(Self {
            config: keys(&declared.config),
            hosts: declared.hosts,
            paths: declared.paths,
            calls: grants(&declared.calls),
            reads: grants(&declared.reads),
        })
    }

    /// Whether the servlet declares nothing.
    pub fn is_empty(&self) -> bool {
        self.config.is_empty()
            && self.hosts.is_empty()
            && self.paths.is_empty()
            && self.calls.is_empty()
            && self.reads.is_empty()
    }

    /// The configuration key `name`.
    pub fn key(&self, name: &str) -> Option<&ConfigKey> {
        self.config.iter().find(|key| key.name == name)
    }

    /// The configuration key whose value names this host, if the host is `config.KEY`. Other hosts are names, addresses or
    /// patterns.
    pub fn host_key(&self, host: &str) -> Option<&ConfigKey> {
        let name = host.strip_prefix("config.")?;
        // A permission is in lower case, as hosts are.
        let mut keys = self.config.iter();
        keys.find(|key| key.name.eq_ignore_ascii_case(name))
    }

    /// The hosts that the options allow. `config.KEY` becomes the host of that value, and nothing if there is none.
    pub fn allowed_hosts(&self, options: &LoadOptions) -> Vec<String> {
        let named = |host: &String| match self.host_key(host) {
            Some(key) => options
                .config
                .get(&key.name)
                .and_then(|value| configured_host(value)),
            None => Some(host.clone()),
        };
        options.allowed_hosts.iter().filter_map(named).collect()
    }
}

/// The host that a configuration value names, as a URL or by itself.
pub fn configured_host(value: &str) -> Option<String> {
    let value = value.trim();
    let url = if value.contains("://") {
        Url::parse(value)
    } else {
        Url::parse(&format!("http://{value}"))
    };
    let host = url.ok()?.host_str()?.to_owned();
    // A value is a host and no pattern, which would allow other hosts.
    (!host.contains('*')).then_some(host)
}

fn grants(texts: &[String]) -> Vec<Grant> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

fn keys(schema: &JsonObject) -> Vec<ConfigKey> {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    let key = |(name, schema): (&String, &Value)| ConfigKey {
        name: name.clone(),
        required: required.is_some_and(|all| all.iter().any(|one| one == name)),
        secret: schema["writeOnly"] == true,
        schema: schema.clone(),
    };
    properties.into_iter().flatten().map(key).collect()
}

impl ConfigKey {
    /// The description in the schema.
    pub fn description(&self) -> Option<&str> {
        self.schema["description"].as_str()
    }

    /// The environment variable from which configurations take the value, for a servlet with this name.
    pub fn variable(&self, servlet: &str) -> String {
        config_variable(servlet, &self.name)
    }
}

/// The environment variable from which configurations take the value of a key, for a servlet with this name.
pub fn config_variable(servlet: &str, key: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
        _ => '_',
    };
    let name: String = format!("{servlet}_{key}").chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_keys_with_their_requiredness_and_secrecy() {
        let section = json!({
            "config": {
                "type": "object",
                "properties": {
                    "api-key": { "type": "string", "description": "the key", "writeOnly": true },
                    "retries": { "type": "integer" },
                },
                "required": ["api-key"],
            },
            "hosts": ["api.example"],
            "later": 1,
        });
        let needs = Needs::parse(section.to_string().as_bytes()).expect("a declaration");
        let [key, retries] = &*needs.config else {
            panic!("{needs:?}")
        };
        assert_eq!(
            (&*key.name, key.required, key.secret),
            ("api-key", true, true)
        );
        assert_eq!(key.description(), Some("the key"));
        assert_eq!(key.variable("2nd weather"), "_2ND_WEATHER_API_KEY");
        assert!(!retries.required && !retries.secret);
        assert_eq!((needs.hosts.len(), needs.paths.len()), (1, 0));
    }

    #[test]
    fn a_configuration_value_names_a_host() {
        let section = json!({
            "config": { "properties": { "baseUrl": { "type": "string" } } },
            "hosts": ["config.baseUrl"],
        });
        let needs = Needs::parse(section.to_string().as_bytes()).expect("a declaration");
        let allowed = |value: Option<&str>| {
            let value = value.map(|value| ("baseUrl".to_owned(), value.to_owned()));
            let options = LoadOptions {
                config: value.into_iter().collect(),
                allowed_hosts: ["config.baseurl", "config.example"]
                    .map(str::to_owned)
                    .into(),
                ..LoadOptions::default()
            };
            needs.allowed_hosts(&options).join(" ")
        };
        for (value, expected) in [
            (
                "https://user:key@API.example:8443/v1?q",
                "api.example config.example",
            ),
            ("api.example:8080/v1", "api.example config.example"),
            ("127.0.0.1", "127.0.0.1 config.example"),
            ("http://[::1]:80", "[::1] config.example"),
            ("*.example", "config.example"),
            ("https://*/", "config.example"),
            ("file:///etc/hosts", "config.example"),
            ("two words", "config.example"),
            ("", "config.example"),
        ] {
            assert_eq!(allowed(Some(value)), expected, "{value}");
        }
        assert_eq!(allowed(None), "config.example");
    }

    #[test]
    fn a_section_that_is_something_else_is_a_problem() {
        for wrong in ["", "[]", r#"{"hosts":"api.example"}"#, "\u{fffd}"] {
            assert!(Needs::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
