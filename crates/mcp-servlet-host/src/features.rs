//! What a servlet offers beside tools: resources, resource templates, prompts and completion.
//!
//! Which of these there are, its exports say. The lists are read once, when the servlet is loaded.

mod answers;
mod kind;
mod overlap;
mod route;

use mcp_servlet_runtime::{Abi, CallError, Extras, Job, JsonObject, syntax_error};
use mcp_servlet_schema::expected;
use serde_json::Value;

use crate::{LoadError, Servlet, error::unknown_prompt};
pub use kind::FeatureKind;
pub(crate) use overlap::shared_uris;

/// The export that reads a resource.
pub(crate) const READ_RESOURCE: &str = "read_resource";
/// The export that fills in a prompt.
pub(crate) const GET_PROMPT: &str = "get_prompt";
/// The export that suggests values.
pub(crate) const COMPLETE: &str = "complete";

/// One entry of a list: a resource, a resource template or a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    key: String,
    json: JsonObject,
}

impl Listed {
    /// What tells entries of a list apart: the address of a resource, the template of a family, the name of a prompt.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The same prompt under another name.
    pub(crate) fn renamed(&self, name: String) -> Self {
        let mut json = self.json.clone();
        json.insert("name".to_owned(), name.clone().into());
        Self { key: name, json }
    }

    /// The name for programs.
    pub fn name(&self) -> Option<&str> {
        self.json.get("name")?.as_str()
    }

    /// What it is, in words.
    pub fn description(&self) -> Option<&str> {
        self.json.get("description")?.as_str()
    }

    /// Everything that the servlet said of it.
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

/// An export that lists something: its name, the member with the list, and what tells entries apart.
type List = (&'static str, &'static str, &'static str);

const RESOURCES: List = ("list_resources", "resources", "uri");
const TEMPLATES: List = (
    "list_resource_templates",
    "resourceTemplates",
    "uriTemplate",
);
const PROMPTS: List = ("list_prompts", "prompts", "name");

impl Features {
    /// Asks a servlet for its lists, each if it exports one.
    pub(crate) fn read(servlet: &Servlet) -> Result<Self, LoadError> {
        Ok(Self {
            resources: list(servlet, RESOURCES)?,
            templates: list(servlet, TEMPLATES)?,
            prompts: list(servlet, PROMPTS)?,
        })
    }
}

fn list(servlet: &Servlet, (export, member, key): List) -> Result<Vec<Listed>, LoadError> {
    if !servlet.module().can_call(export) {
        return Ok(Vec::new());
    }
    let failed = |source| LoadError::List {
        servlet: servlet.name().to_owned(),
        export,
        source: Box::new(source),
    };
    let output = servlet
        .run(servlet.job(export, servlet.abi().list_request()))
        .map_err(failed)?;
    entries(&output, member, key).map_err(|(at, problem)| LoadError::BadList {
        servlet: servlet.name().to_owned(),
        export,
        at,
        problem,
    })
}

/// A place in the output and what is wrong there.
type Problem = (String, String);

fn entries(output: &[u8], member: &str, key: &str) -> Result<Vec<Listed>, Problem> {
    let mut json: JsonObject =
        serde_json::from_slice(output).map_err(|error| syntax_error(&error))?;
    let list = match json.shift_remove(member) {
        Some(Value::Array(list)) => list,
        other => {
            return Err((format!("/{member}"), expected("an array", other.as_ref())));
        }
    };
    let mut entries: Vec<Listed> = Vec::with_capacity(list.len());
    for (at, entry) in list.into_iter().enumerate() {
        let place = format!("/{member}/{at}");
        let Value::Object(json) = entry else {
            return Err((place, expected("an object", Some(&entry))));
        };
        let Some(Value::String(value)) = json.get(key) else {
            return Err((
                format!("{place}/{key}"),
                expected("a string", json.get(key)),
            ));
        };
        let key = value.clone();
        if entries.iter().any(|entry| entry.key == key) {
            return Err((place, format!("`{key}` is listed twice")));
        }
        entries.push(Listed { key, json });
    }
    Ok(entries)
}

impl Servlet {
    /// The resources with fixed addresses, in the order in which the servlet lists them.
    pub fn resources(&self) -> &[Listed] {
        &self.features().resources
    }

    /// The families of resources, in the order in which the servlet lists them.
    pub fn resource_templates(&self) -> &[Listed] {
        &self.features().templates
    }

    /// The prompts, in the order in which the servlet lists them.
    pub fn prompts(&self) -> &[Listed] {
        &self.features().prompts
    }

    /// Whether it suggests values for arguments.
    pub fn completes(&self) -> bool {
        self.module().can_call(COMPLETE)
    }

    /// Whether it has resources, listed or not.
    pub fn reads_resources(&self) -> bool {
        self.module().can_call(READ_RESOURCE)
    }

    /// Reads a resource and waits for its contents: MCP's result of `resources/read`.
    ///
    /// # Errors
    /// [`CallError::UnknownResource`] if there is nothing at this address, and the other ones of [`CallError`].
    pub fn read_resource(&self, uri: &str) -> Result<JsonObject, CallError> {
        let job = self.read_job(uri, &Extras::default())?;
        answers::resource(self, uri, self.run(job))
    }

    /// As [`Servlet::read_resource`], on a thread that may block, with what the request has beside the address.
    ///
    /// # Errors
    /// As of [`Servlet::read_resource`].
    pub async fn read_resource_with(
        &self,
        uri: &str,
        extras: &Extras,
    ) -> Result<JsonObject, CallError> {
        let job = self.read_job(uri, extras)?;
        answers::resource(self, uri, self.run_async(job).await)
    }

    /// Fills in a prompt and waits for its messages: MCP's result of `prompts/get`.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn get_prompt(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<JsonObject, CallError> {
        let job = self.prompt_job(prompt, arguments, &Extras::default())?;
        answers::prompt(self, &self.run(job)?)
    }

    /// As [`Servlet::get_prompt`], on a thread that may block, with what the request has beside the arguments.
    ///
    /// # Errors
    /// As of [`Servlet::get_prompt`].
    pub async fn get_prompt_with(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
        extras: &Extras,
    ) -> Result<JsonObject, CallError> {
        let job = self.prompt_job(prompt, arguments, extras)?;
        answers::prompt(self, &self.run_async(job).await?)
    }

    /// Asks for suggestions and waits for them: MCP's result of `completion/complete`. `params` are those of the
    /// request; a servlet that suggests nothing has no values.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn complete(&self, params: &JsonObject) -> Result<JsonObject, CallError> {
        if !self.completes() {
            return Ok(answers::no_completion());
        }
        answers::completion(self, &self.run(self.complete_job(params))?)
    }

    /// As [`Servlet::complete`], on a thread that may block.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn complete_async(&self, params: &JsonObject) -> Result<JsonObject, CallError> {
        if !self.completes() {
            return Ok(answers::no_completion());
        }
        answers::completion(self, &self.run_async(self.complete_job(params)).await?)
    }

    fn read_job(&self, uri: &str, extras: &Extras) -> Result<Job, CallError> {
        if !self.reads_resources() {
            return Err(CallError::UnknownResource {
                uri: uri.to_owned(),
            });
        }
        let params = JsonObject::from_iter([("uri".to_owned(), uri.into())]);
        Ok(self.request(READ_RESOURCE, &params, extras))
    }

    fn prompt_job(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
        extras: &Extras,
    ) -> Result<Job, CallError> {
        if !self.prompts().iter().any(|entry| entry.key() == prompt) {
            let known = self.prompts().iter().map(Listed::key);
            return Err(unknown_prompt(prompt, known));
        }
        let mut params = JsonObject::from_iter([("name".to_owned(), prompt.into())]);
        if let Some(arguments) = arguments {
            params.insert("arguments".to_owned(), arguments.clone().into());
        }
        Ok(self.request(GET_PROMPT, &params, extras))
    }

    fn complete_job(&self, params: &JsonObject) -> Job {
        let mut params = params.clone();
        if self.abi() == Abi::HyperMcpV2
            && let Some(Value::String(kind)) =
                params.get_mut("ref").and_then(|of| of.get_mut("type"))
        {
            // As hyper-mcp has it.
            *kind = kind.trim_start_matches("ref/").to_owned();
        }
        self.job(COMPLETE, self.abi().request(&params, &Extras::default()))
    }
}
