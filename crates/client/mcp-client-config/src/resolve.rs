//! Replaces placeholders such as `${HOME}` and `${input:key}`.

use std::{collections::HashMap, path::PathBuf};

use crate::{
    places::Places,
    server::{Connection, Secret},
};

/// What placeholders stand for.
pub struct Variables<'a> {
    environment: &'a dyn Fn(&str) -> Option<String>,
    home: PathBuf,
    folder: PathBuf,
    inputs: HashMap<String, String>,
}

/// A placeholder that cannot be replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// An environment variable is not set.
    #[error(
        "the environment variable `{name}` is not set; set it, or remove `{placeholder}` from the configuration"
    )]
    Variable {
        /// The variable.
        name: String,
        /// The placeholder as the configuration has it.
        placeholder: String,
    },
    /// An input has no value.
    #[error("the configuration asks for the input `{id}`; pass its value")]
    Input {
        /// The name of the input.
        id: String,
    },
    /// No client has such a placeholder.
    #[error("unknown placeholder `{placeholder}`; expected an environment variable or an input")]
    Unknown {
        /// The placeholder as the configuration has it.
        placeholder: String,
    },
}

impl<'a> Variables<'a> {
    /// Variables without inputs.
    pub fn new(places: &Places, environment: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            environment,
            home: places.home.clone(),
            folder: places.folder.clone(),
            inputs: HashMap::new(),
        }
    }

    /// The same with the value of an input, which `${input:id}` stands for.
    #[must_use]
    pub fn input(mut self, id: impl Into<String>, value: impl Into<String>) -> Self {
        self.inputs.insert(id.into(), value.into());
        self
    }

    fn resolve(&self, text: &str) -> Result<String, ResolveError> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, placeholder, after)) = next_placeholder(rest) {
            out += before;
            out += &self.value(placeholder)?;
            rest = after;
        }
        Ok(out + rest)
    }

    /// What a placeholder with its braces stands for.
    fn value(&self, placeholder: &str) -> Result<String, ResolveError> {
        let inner = placeholder
            .trim_start_matches('$')
            .strip_prefix('{')
            .and_then(|inner| inner.strip_suffix('}'))
            .unwrap_or_default();
        if let Some(id) = inner.strip_prefix("input:") {
            let value = self.inputs.get(id).cloned();
            return value.ok_or_else(|| ResolveError::Input { id: id.to_owned() });
        }
        match inner {
            "userHome" => Ok(self.home.display().to_string()),
            "workspaceFolder" => Ok(self.folder.display().to_string()),
            inner => self.variable(inner.strip_prefix("env:").unwrap_or(inner), placeholder),
        }
    }

    /// The value of `NAME`, or of `NAME:-default`.
    fn variable(&self, text: &str, placeholder: &str) -> Result<String, ResolveError> {
        let (name, default) = match text.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (text, None),
        };
        let placeholder = placeholder.to_owned();
        if name.is_empty() || name.contains(|one: char| one != '_' && !one.is_ascii_alphanumeric())
        {
            return Err(ResolveError::Unknown { placeholder });
        }
        let value = (self.environment)(name);
        let value = match default {
            // As in a shell, an empty variable counts as one that is not set.
            Some(default) => value
                .filter(|value| !value.is_empty())
                .or_else(|| Some(default.to_owned())),
            None => value,
        };
        let name = name.to_owned();
        value.ok_or(ResolveError::Variable { name, placeholder })
    }

    fn resolve_secrets(
        &self,
        secrets: &[(String, Secret)],
    ) -> Result<Vec<(String, Secret)>, ResolveError> {
        let secrets = secrets.iter();
        let resolved =
            secrets.map(|(name, value)| Ok((name.clone(), self.resolve(value.expose())?.into())));
        resolved.collect()
    }
}

/// The text before the first placeholder, the placeholder, and the text after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let starts = ["${", "{env:", "{file:"];
    let start = starts.iter().filter_map(|start| text.find(start)).min()?;
    let length = text[start..].find('}')? + 1;
    let (before, rest) = text.split_at(start);
    let (placeholder, after) = rest.split_at(length);
    Some((before, placeholder, after))
}

impl Connection {
    /// The connection without placeholders.
    ///
    /// # Errors
    /// [`ResolveError`] for the first placeholder that has no value. Nothing becomes an empty text.
    pub fn resolve(&self, variables: &Variables<'_>) -> Result<Self, ResolveError> {
        Ok(match self {
            Self::Command {
                command,
                args,
                env,
                cwd,
            } => Self::Command {
                command: variables.resolve(command)?,
                args: args
                    .iter()
                    .map(|arg| variables.resolve(arg))
                    .collect::<Result<_, _>>()?,
                env: variables.resolve_secrets(env)?,
                cwd: cwd
                    .as_deref()
                    .map(|cwd| variables.resolve(cwd))
                    .transpose()?,
            },
            Self::Http {
                url,
                transport,
                headers,
            } => Self::Http {
                url: variables.resolve(url)?,
                transport: *transport,
                headers: variables.resolve_secrets(headers)?,
            },
        })
    }
}
