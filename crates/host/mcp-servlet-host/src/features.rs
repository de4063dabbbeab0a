//! What a servlet offers in addition to tools: resources, resource templates, prompts and completion.
//!
//! The exports of the servlet show which of these it has. The lists are read once, when the servlet
//! is loaded.

use mcp_servlet_runtime::{Guest, JsonObject};
use mcp_servlet_schema::Problem;
use serde_json::Value;

use crate::{FeatureKind, FeatureList, contract::check_output, error::LoadError};

/// The export that reads a resource.
pub(crate) const READ_RESOURCE: &str = "read_resource";
/// The export that fills in a prompt.
pub(crate) const GET_PROMPT: &str = "get_prompt";
/// The export that suggests values.
pub(crate) const COMPLETE: &str = "complete";

/// An item of a list: a resource, a resource template or a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    key: String,
    json: JsonObject,
}

impl Listed {
    /// Takes an item from a list of this kind.
    ///
    /// # Errors
    /// The member that identifies it is missing or no string.
    pub fn new(kind: FeatureKind, json: JsonObject) -> Result<Self, Problem> {
        Self::with_key(kind.members().1, json)
    }

    fn with_key(member: &str, json: JsonObject) -> Result<Self, Problem> {
        match json.get(member) {
            Some(Value::String(key)) => Ok(Self {
                key: key.clone(),
                json,
            }),
            other => Err(Problem::expected(format!("/{member}"), "a string", other)),
        }
    }

    /// What identifies the item in its list: the URI of a resource, the URI template of a resource
    /// template, or the name of a prompt.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The same prompt under another name.
    pub(crate) fn renamed(&self, name: String) -> Self {
        let mut json = self.json.clone();
        json.insert("name".to_owned(), name.clone().into());
        Self { key: name, json }
    }

    /// The name.
    pub fn name(&self) -> Option<&str> {
        self.json.get("name")?.as_str()
    }

    /// The description.
    pub fn description(&self) -> Option<&str> {
        self.json.get("description")?.as_str()
    }

    /// All members, as the servlet wrote them.
    pub fn json(&self) -> &JsonObject {
        &self.json
    }
}

/// The lists of a servlet.
#[derive(Debug, Default)]
pub(crate) struct Features {
    pub(crate) resources: Vec<Listed>,
    pub(crate) templates: Vec<Listed>,
    pub(crate) prompts: Vec<Listed>,
}

impl Features {
    /// Reads the lists for which the servlet has an export.
    pub(crate) fn read(servlet: &Guest) -> Result<Self, LoadError> {
        Ok(Self {
            resources: list(servlet, FeatureKind::Resource)?,
            templates: list(servlet, FeatureKind::ResourceTemplate)?,
            prompts: list(servlet, FeatureKind::Prompt)?,
        })
    }
}

fn list(servlet: &Guest, kind: FeatureKind) -> Result<Vec<Listed>, LoadError> {
    let FeatureList {
        export,
        member,
        key,
    } = kind.list(servlet.abi());
    if !servlet.module().can_call(export) {
        return Ok(Vec::new());
    }
    let failed = |source| LoadError::List {
        servlet: servlet.name().to_owned(),
        export,
        source: Box::new(source),
    };
    let output = servlet
        .call(export, servlet.abi().list_request())
        .map_err(failed)?;
    let entries =
        entries(&output, member, key).map_err(|Problem { at, message }| LoadError::BadList {
            servlet: servlet.name().to_owned(),
            export,
            at,
            problem: message,
        })?;
    check_output(servlet, export, &output)?;
    Ok(entries)
}

fn entries(output: &[u8], member: &str, key: &str) -> Result<Vec<Listed>, Problem> {
    let mut json: JsonObject =
        serde_json::from_slice(output).map_err(|error| Problem::syntax(&error))?;
    let list = match json.shift_remove(member) {
        Some(Value::Array(list)) => list,
        other => {
            return Err(Problem::expected(
                format!("/{member}"),
                "an array",
                other.as_ref(),
            ));
        }
    };
    let mut entries: Vec<Listed> = Vec::with_capacity(list.len());
    for (at, entry) in list.into_iter().enumerate() {
        let at = format!("/{member}/{at}");
        let Value::Object(json) = entry else {
            return Err(Problem::expected(at, "an object", Some(&entry)));
        };
        let entry = Listed::with_key(key, json)
            .map_err(|problem| Problem::new(format!("{at}{}", problem.at), problem.message))?;
        let key = &entry.key;
        if entries.iter().any(|entry| entry.key == *key) {
            return Err(Problem::new(at, format!("`{key}` is listed twice")));
        }
        entries.push(entry);
    }
    Ok(entries)
}
