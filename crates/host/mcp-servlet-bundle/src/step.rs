//! The calls that a virtual tool makes.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde_json::Value;

use crate::{
    JsonObject,
    problem::Place,
    spec::Inputs,
    template::{Single, Template},
};

/// A call of a tool, or the reading of a resource. A tool with `handler` has one step without a name.
#[derive(Clone)]
pub struct Step {
    pub(crate) name: Option<String>,
    pub(crate) target: Target,
    pub(crate) inputs: Inputs,
    pub(crate) when: Option<Single>,
    pub(crate) each: Option<Each>,
    /// The numbers of the steps that must be over before this one begins.
    pub(crate) waits_for: BTreeSet<usize>,
    /// Whether `after` is set, even to nothing.
    pub(crate) has_after: bool,
    pub(crate) may_fail: bool,
    pub(crate) timeout: Option<Duration>,
    /// What other steps and the result read of its value.
    pub(crate) kept: Kept,
    pub(crate) is_in_result: bool,
}

/// One call for each item of a list.
#[derive(Clone)]
pub(crate) struct Each {
    pub(crate) list: Single,
    /// How many calls may run at once.
    pub(crate) parallel: usize,
    /// How long the list may be.
    pub(crate) most: usize,
}

/// The members of a step's value that expressions read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    All,
    Members(BTreeSet<String>),
}

impl Default for Kept {
    fn default() -> Self {
        Self::Members(BTreeSet::new())
    }
}

/// The members of every result.
pub(crate) const RESULT: [&str; 4] = ["content", "structuredContent", "isError", "_meta"];

/// What a step calls or reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A tool.
    Tool(Handler),
    /// A resource.
    Resource(Resource),
}

/// The tool that a step calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handler {
    /// The name of the servlet or remote.
    pub member: String,
    /// The member's own name for the tool.
    pub tool: String,
}

/// The resource that a step reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    /// The name of the servlet or remote.
    pub member: String,
    /// A URI, or a URI template of level 1 (RFC 6570), whose variables are the inputs of the step.
    pub template: String,
}

impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.member, self.tool)
    }
}

impl fmt::Display for Target {
    /// As in a file: `weather:get_weather`, or the template of a resource.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(handler) => handler.fmt(f),
            Self::Resource(resource) => f.write_str(&resource.template),
        }
    }
}

impl Target {
    /// The name of the servlet or remote.
    pub fn member(&self) -> &str {
        match self {
            Self::Tool(handler) => &handler.member,
            Self::Resource(resource) => &resource.member,
        }
    }

    /// What messages call an input.
    pub(crate) fn input(&self) -> &'static str {
        match self {
            Self::Tool(_) => "argument",
            Self::Resource(_) => "variable",
        }
    }
}

impl Resource {
    /// The names of the variables.
    ///
    /// # Errors
    /// Why the template is not one of level 1.
    pub(crate) fn variables(&self) -> Result<Vec<&str>, String> {
        let mut names = Vec::new();
        let mut rest = self.template.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            let variable = rest[at..]
                .strip_prefix('{')
                .and_then(|behind| behind.split_once('}'));
            let is_name = |name: &str| {
                let mut letters = name.chars();
                letters.all(|one| one.is_ascii_alphanumeric() || one == '_') && !name.is_empty()
            };
            let Some((name, behind)) = variable.filter(|(name, _)| is_name(name)) else {
                return Err(format!(
                    "expected variables such as `{{country}}` in `{}`",
                    self.template
                ));
            };
            names.push(name);
            rest = behind;
        }
        Ok(names)
    }

    /// The URI for these values of the variables.
    pub fn uri(&self, values: &JsonObject) -> String {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let texts: Vec<_> = values.values().map(text).collect();
        let names = values.keys().map(String::as_str);
        let variables: Vec<_> = names
            .zip(texts.iter().map(|text| Some(text.as_str())))
            .collect();
        mcp_caller::expand(&self.template, &variables)
    }
}

impl fmt::Debug for Step {
    /// Constants may be secret, so they are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("name", &self.name)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl Step {
    /// The name. `None` if the tool has `handler` instead of steps.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What it calls or reads.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Whether its failure does not end the call.
    pub fn may_fail(&self) -> bool {
        self.may_fail
    }

    /// How long each of its calls may take.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Whether it can be skipped, or run more than once.
    pub fn is_conditional(&self) -> bool {
        self.when.is_some() || self.each.is_some()
    }

    /// The place of its table. A tool with `handler` has the keys of its step itself.
    pub fn place(&self) -> Place {
        match &self.name {
            Some(name) => Place::of("step").key(name),
            None => Place::default(),
        }
    }

    /// The place of the inputs.
    pub(crate) fn inputs_place(&self) -> Place {
        self.place().key(self.inputs.key())
    }

    /// The template of an input.
    pub(crate) fn input(&self, name: &str) -> Option<&Template> {
        let mut inputs = self.inputs.templates().iter();
        inputs.find_map(|(known, template)| (known == name).then_some(template))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resource(template: &str) -> Resource {
        Resource {
            member: "docs".to_owned(),
            template: template.to_owned(),
        }
    }

    #[test]
    fn a_resource_is_a_uri_or_a_template_of_level_1() {
        for (template, variables) in [
            ("file:///a.md", Some(vec![])),
            ("rules://{country}/{year}", Some(vec!["country", "year"])),
            ("rules://{+path}", None),
            ("rules://{a,b}", None),
            ("rules://{}", None),
            ("rules://{a", None),
            ("rules://a}", None),
        ] {
            assert_eq!(resource(template).variables().ok(), variables, "{template}");
        }
        let values = json!({ "country": "a/é", "year": 2026 });
        let uri = resource("rules://{country}/{year}").uri(values.as_object().expect("an object"));
        assert_eq!(uri, "rules://a%2F%C3%A9/2026");
    }
}
