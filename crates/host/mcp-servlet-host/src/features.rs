//! What a servlet offers in addition to tools: resources, resource templates, prompts and completion.
//!
//! The exports of the servlet show which of these it has. The lists are read once, when the servlet
//! is loaded.

use std::collections::HashSet;

use mcp_servlet_call::JsonObject;
use mcp_servlet_common::shape;
use mcp_servlet_runtime::Guest;
use mcp_servlet_schema::Problem;
use mcp_servlet_types::FIXED_RESOURCES;
use serde_json::Value;

use crate::{FeatureKind, contract::check_output, error::LoadError};

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
    /// How many of the resources, from the first on, no function of the servlet lists.
    pub(crate) fixed_resources: usize,
    pub(crate) templates: Vec<Listed>,
    pub(crate) prompts: Vec<Listed>,
}

impl Features {
    /// Reads the lists for which the servlet has an export.
    pub(crate) fn read(servlet: &Guest) -> Result<Self, LoadError> {
        let resources = list(servlet, FeatureKind::Resource)?;
        Ok(Self {
            resources: resources.entries,
            fixed_resources: resources.fixed,
            templates: list(servlet, FeatureKind::ResourceTemplate)?.entries,
            prompts: list(servlet, FeatureKind::Prompt)?.entries,
        })
    }
}

/// A list of a servlet.
#[derive(Default)]
struct List {
    entries: Vec<Listed>,
    /// How many of them, from the first on, are always listed.
    fixed: usize,
}

fn list(servlet: &Guest, kind: FeatureKind) -> Result<List, LoadError> {
    let export = kind.list(servlet.abi()).export;
    if !servlet.module().can_call(export) {
        return Ok(List::default());
    }
    let failed = |source| LoadError::List {
        servlet: servlet.name().to_owned(),
        export,
        source: Box::new(source),
    };
    let output = servlet.list(export).map_err(failed)?;
    let list = entries(&output, kind).map_err(|Problem { at, message }| LoadError::BadList {
        servlet: servlet.name().to_owned(),
        export,
        at,
        problem: message,
    })?;
    check_output(servlet, export, &output)?;
    Ok(list)
}

/// How many entries of the output of `list_resources` are always listed, if functions list others.
pub(crate) fn fixed_resources(output: &JsonObject) -> Option<usize> {
    let count = output.get("_meta")?.get(FIXED_RESOURCES)?.as_u64()?;
    usize::try_from(count).ok()
}

fn entries(output: &[u8], kind: FeatureKind) -> Result<List, Problem> {
    let (member, key) = kind.members();
    let mut json: JsonObject =
        serde_json::from_slice(output).map_err(|error| Problem::syntax(&error))?;
    shape::drop_nulls(kind.method(), &mut json);
    let fixed = fixed_resources(&json);
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
    let mut keys = HashSet::with_capacity(list.len());
    for (at, entry) in list.into_iter().enumerate() {
        let at = format!("/{member}/{at}");
        let Value::Object(json) = entry else {
            return Err(Problem::expected(at, "an object", Some(&entry)));
        };
        let entry = Listed::with_key(key, json)
            .map_err(|problem| Problem::new(format!("{at}{}", problem.at), problem.message))?;
        let key = &entry.key;
        if !keys.insert(key.clone()) {
            return Err(Problem::new(at, format!("`{key}` is listed twice")));
        }
        entries.push(entry);
    }
    let fixed = fixed.unwrap_or(entries.len()).min(entries.len());
    Ok(List { entries, fixed })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nulls_of_generated_code_are_absent() {
        let list = json!({ "prompts": [
            { "name": "a", "title": null, "arguments": null },
            { "name": "b", "arguments": [{ "name": "x", "required": null }] },
        ], "nextCursor": null });
        let list = entries(list.to_string().as_bytes(), FeatureKind::Prompt).expect("a list");
        let prompts: Vec<_> = list.entries.iter().map(Listed::json).collect();
        let clean = json!([{ "name": "a" }, { "name": "b", "arguments": [{ "name": "x" }] }]);
        assert_eq!(json!(prompts), clean);

        let none = entries(br#"{"resources":null}"#, FeatureKind::Resource).expect("a list");
        assert!(none.entries.is_empty());
    }
}
