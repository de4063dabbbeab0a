//! A servlet that is loaded, described and ready to be called.

mod answers;
mod features;
mod reading;
mod resource_cache;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use mcp_servlet_call::{CallError, CallErrorKind, JsonObject, RequestMeta, file_help};
use mcp_servlet_common::quoted;
use mcp_servlet_runtime::{
    Abi, CheckArguments, Fetched, Guest, Instances, Isolation, Job, LoadError as ModuleError,
    LoadOptions, Module, Source, UnknownArguments,
};
use mcp_servlet_schema::Schemas;

use crate::{
    CallToolResult, LoadError, ServletLock, Shape, Tool, contract, description::Description,
    error::unknown_tool, features::Features, host::single_name_problem,
};
use reading::Reading;
use resource_cache::ResourceCache;

/// Outputs at least this large are parsed on a blocking thread.
const LARGE: usize = 256 << 10;

/// A loaded servlet.
///
/// It can be called from any number of threads and tasks. [`LoadOptions::instances`] limits how
/// many calls run at the same time; the others wait in order.
pub struct Servlet {
    guest: Guest,
    description: Description,
    features: Features,
    /// The schemas by the names of tools.
    schemas: HashMap<String, Arc<Schemas>>,
    resources: Arc<ResourceCache>,
    lock: ServletLock,
    /// What clients get of the results of tools, by the names of these.
    shapes: Arc<BTreeMap<String, Shape>>,
}

impl std::fmt::Debug for Servlet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Servlet")
            .field("origin", &self.origin())
            .finish_non_exhaustive()
    }
}

impl Servlet {
    /// Reads, checks and compiles a module and reads its description. It blocks the thread, as [`Guest::load`] does.
    ///
    /// # Errors
    /// [`LoadError`] says which step failed.
    pub fn load(source: impl Into<Source>, options: &LoadOptions) -> Result<Self, LoadError> {
        Self::from_fetched(source.into().fetch()?, options, &ServletLock::Off)
    }

    /// Checks and compiles a module and reads its description.
    pub(crate) fn from_fetched(
        fetched: Fetched,
        options: &LoadOptions,
        lock: &ServletLock,
    ) -> Result<Self, LoadError> {
        let servlet = Self::locked(Guest::from_fetched(fetched, options)?, lock)?;
        servlet.warn_about_single_name();
        Ok(servlet)
    }

    fn warn_about_single_name(&self) {
        let Description {
            is_single: true,
            tools,
            ..
        } = &self.description
        else {
            return;
        };
        for tool in tools {
            if let Some(problem) = single_name_problem(self.name(), tool.name()) {
                tracing::warn!("{problem}");
            }
        }
    }

    /// Reads the description of a module.
    ///
    /// # Errors
    /// [`LoadError`] if the module cannot describe itself, or if the description is not valid.
    pub fn new(guest: Guest) -> Result<Self, LoadError> {
        Self::locked(guest, &ServletLock::Off)
    }

    fn locked(guest: Guest, lock: &ServletLock) -> Result<Self, LoadError> {
        let servlet = Self {
            guest,
            description: Description::default(),
            features: Features::default(),
            schemas: HashMap::new(),
            resources: Arc::default(),
            lock: lock.clone(),
            shapes: Arc::default(),
        };
        servlet.with_lists()
    }

    /// The same module under other options.
    pub(crate) fn with_options(
        self: Arc<Self>,
        options: &LoadOptions,
    ) -> Result<Arc<Self>, LoadError> {
        if self.options() == options {
            return Ok(self);
        }
        Self::from_fetched(self.guest.to_fetched(), options, &self.lock).map(Arc::new)
    }

    /// The same module with its current lists, which may have changed since it was loaded.
    pub(crate) fn relisted(&self) -> Result<Self, LoadError> {
        let mut servlet = Self::locked(self.guest.clone(), &self.lock)?;
        servlet.resources = Arc::clone(&self.resources);
        Ok(servlet.shaped(&self.shapes))
    }

    /// Gives the results of tools these shapes.
    pub(crate) fn shaped(mut self, shapes: &Arc<BTreeMap<String, Shape>>) -> Self {
        for tool in &mut self.description.tools {
            if let Some(shape) = shapes.get(tool.name()) {
                tool.set_shape(shape);
            }
        }
        self.shapes = Arc::clone(shapes);
        self
    }

    /// The same module with other shapes.
    pub(crate) fn with_shapes(
        self: Arc<Self>,
        shapes: &Arc<BTreeMap<String, Shape>>,
    ) -> Result<Arc<Self>, LoadError> {
        if self.shapes == *shapes {
            return Ok(self);
        }
        let mut servlet = Self::locked(self.guest.clone(), &self.lock)?;
        servlet.resources = Arc::clone(&self.resources);
        Ok(Arc::new(servlet.shaped(shapes)))
    }

    fn with_lists(mut self) -> Result<Self, LoadError> {
        contract::check_exports(&self.guest)?;
        self.description = self.describe()?;
        self.check_options()?;
        self.features = Features::read(&self.guest)?;
        self.lock.check_lists(&self)?;
        self.schemas = self.compile_schemas()?;
        Ok(self)
    }

    /// What the operator has approved of it.
    pub(crate) fn lock(&self) -> &ServletLock {
        &self.lock
    }

    /// The module, whose exports run as they are: without checks of arguments and results.
    pub fn guest(&self) -> &Guest {
        &self.guest
    }

    /// The name in logs and errors.
    pub fn name(&self) -> &str {
        self.guest.name()
    }

    /// The file or URL that the module was loaded from, or its name.
    pub fn origin(&self) -> &str {
        self.guest.origin()
    }

    /// The SHA-256 digest of the module.
    pub fn digest(&self) -> [u8; 32] {
        self.guest.digest()
    }

    /// The digest of the image, such as `sha256:…`, if the module comes from a registry.
    pub fn image(&self) -> Option<&str> {
        self.guest.image()
    }

    /// The fingerprints of the keys that have signed the module, if its source names keys.
    pub fn signed_with(&self) -> &BTreeSet<String> {
        self.guest.signed_with()
    }

    /// The exports, imports and sections of the module.
    pub fn module(&self) -> &Module {
        self.guest.module()
    }

    /// Whether it can be called, and its lists do not just come from the [contract](LoadOptions::from_contract) in its module.
    pub fn is_compiled(&self) -> bool {
        self.guest.is_compiled()
    }

    /// The ABI of the servlet.
    pub fn abi(&self) -> Abi {
        self.guest.abi()
    }

    /// The options of the servlet.
    pub fn options(&self) -> &LoadOptions {
        self.guest.options()
    }

    /// What the calls of the servlet share.
    pub fn isolation(&self) -> Isolation {
        self.guest.isolation()
    }

    /// How many instances the servlet may have.
    pub fn instances(&self) -> Instances {
        self.guest.instances()
    }

    /// Whether it calls tools or reads resources of other members, and its options allow some.
    pub fn makes_calls(&self) -> bool {
        self.module().calls_tools() && self.options().grants().next().is_some()
    }

    /// The output of `describe`, or of `list_tools`, byte for byte.
    pub fn description(&self) -> &str {
        &self.description.text
    }

    /// The tools, in the order in which the servlet lists them.
    pub fn tools(&self) -> &[Tool] {
        &self.description.tools
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools().iter().find(|tool| tool.name() == name)
    }

    /// The `serverInfo` of MCP (name and version), if the servlet provides it.
    pub fn server_info(&self) -> Option<&JsonObject> {
        self.description.server_info.as_ref()
    }

    /// A text in `serverInfo`, such as `version`, unless it is empty.
    pub fn server_text(&self, name: &str) -> Option<&str> {
        let text = self.server_info()?.get(name)?.as_str()?;
        (!text.is_empty()).then_some(text)
    }

    /// Instructions for a model.
    pub fn instructions(&self) -> Option<&str> {
        self.description.instructions.as_deref()
    }

    /// Whether it can report the progress of a call to a client that sends a `progressToken`.
    pub fn reports_progress(&self) -> bool {
        self.module().reports_progress()
    }

    /// Advice for the operator about an error result. If a WASI servlet says that it could not open
    /// a file, this names the option that opens directories.
    pub fn help(&self, result: &CallToolResult) -> Option<String> {
        if !result.is_error() || !self.module().uses_wasi() {
            return None;
        }
        let help = result.texts().find_map(file_help)?;
        let opened: Vec<_> = self
            .options()
            .allowed_paths
            .iter()
            .map(|path| path.guest.display())
            .collect();
        Some(match &*opened {
            [] => help,
            some => format!("{help}; it may open {}", quoted(some)),
        })
    }

    /// Its resources, resource templates and prompts.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// Calls a tool. Needs a tokio runtime with timers enabled, or [`block_on`](mcp_servlet_runtime::block_on). It does not block
    /// the thread for more than a moment, however long the tool runs.
    ///
    /// Dropping the future cancels this call and no other: a waiting call will not run, and a
    /// running call is interrupted.
    ///
    /// # Errors
    /// [`CallError`]. A tool that ran and failed is not an error here: see [`CallToolResult::is_error`].
    pub async fn call(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        self.call_with(tool, arguments, &RequestMeta::default())
            .await
    }

    /// Like [`Servlet::call`], with the other parts of the request in `request_meta`.
    ///
    /// # Errors
    /// See [`Servlet::call`].
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<CallToolResult, CallError> {
        match self.checked_arguments(tool, arguments).await? {
            Ok(arguments) => self.run_tool(tool, arguments, request_meta).await,
            // The model gets the message.
            Err(text) => Ok(CallToolResult::error(text)),
        }
    }

    /// The arguments with which a call of the tool runs, or a message for the model.
    pub(crate) async fn checked_arguments(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<Result<Option<JsonObject>, String>, CallError> {
        let schemas = self.schemas(tool)?;
        let arguments = self.known_arguments(schemas, arguments);
        let arguments = arguments.as_deref();
        let how = self.options().arguments;
        if how == CheckArguments::Off || !schemas.takes_long(arguments) {
            return Ok(checked(how, schemas, arguments));
        }
        let (schemas, arguments) = (Arc::clone(schemas), arguments.cloned());
        let check = move || checked(how, &schemas, arguments.as_ref());
        self.guest.run_blocking(check).await
    }

    /// Calls a tool with arguments that were checked.
    pub(crate) async fn run_tool(
        &self,
        tool: &str,
        arguments: Option<JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<CallToolResult, CallError> {
        let schemas = self.schemas(tool)?;
        if let Some(guard) = &request_meta.guard
            && let Err(denied) = guard.may_run(arguments.as_ref())
        {
            return Ok(CallToolResult::denied(denied));
        }
        let job = self.tool_job(tool, arguments, request_meta);
        let output = self.guest.run(job).await?;
        let reading = self.reading(tool, schemas);
        if output.len() < LARGE {
            return reading.result(&output);
        }
        self.guest
            .run_blocking(move || reading.result(&output))
            .await?
    }

    /// The arguments with which a call of the tool runs, or a message for the model.
    pub(crate) fn accepted(
        &self,
        tool: &str,
        arguments: &JsonObject,
    ) -> Result<Option<JsonObject>, String> {
        let Some(schemas) = self.schemas.get(tool) else {
            return Ok(Some(arguments.clone()));
        };
        let arguments = self.known_arguments(schemas, Some(arguments));
        checked(self.options().arguments, schemas, arguments.as_deref())
    }

    fn schemas(&self, tool: &str) -> Result<&Arc<Schemas>, CallError> {
        self.schemas.get(tool).ok_or_else(|| {
            let known = self.tools().iter().map(Tool::name);
            unknown_tool(tool, known)
        })
    }

    /// The arguments for the tool, without unknown ones if the options say so.
    fn known_arguments<'a>(
        &self,
        schemas: &Schemas,
        arguments: Option<&'a JsonObject>,
    ) -> Option<Cow<'a, JsonObject>> {
        arguments.map(|arguments| match self.options().unknown {
            UnknownArguments::Refuse => Cow::Borrowed(arguments),
            UnknownArguments::Drop => schemas.without_unknown(arguments),
        })
    }

    /// How many of these arguments a call of the tool would drop.
    pub(crate) fn count_dropped(&self, tool: &str, arguments: &JsonObject) -> usize {
        match (self.options().unknown, self.schemas.get(tool)) {
            (UnknownArguments::Drop, Some(schemas)) => schemas.unknown(arguments).count(),
            _ => 0,
        }
    }

    fn tool_job(
        &self,
        tool: &str,
        arguments: Option<JsonObject>,
        request_meta: &RequestMeta,
    ) -> Job {
        self.guest
            .tool_request(tool, &params(tool, arguments), request_meta)
    }

    fn reading(&self, tool: &str, schemas: &Arc<Schemas>) -> Reading {
        Reading {
            servlet: self.name().to_owned(),
            tool: tool.to_owned(),
            export: self.abi().call_tool(),
            checks: self.options().results,
            schemas: Arc::clone(schemas),
            shapes: Arc::clone(&self.shapes),
        }
    }

    fn describe(&self) -> Result<Description, LoadError> {
        let export = self.abi().list_tools();
        if !self.module().can_call(export) {
            return Ok(Description::default());
        }
        let output = self.guest.list(export).map_err(|error| match error {
            CallError {
                kind: CallErrorKind::Start { message },
                ..
            } => ModuleError::Start {
                servlet: self.name().to_owned(),
                message,
            }
            .into(),
            source => LoadError::Describe {
                servlet: self.name().to_owned(),
                source: Box::new(source),
            },
        })?;
        let mut description = Description::parse(self.name(), export, output)?;
        contract::check_output(&self.guest, export, description.text.as_bytes())?;
        check_names(self.origin(), &description.tools)?;
        description.tools.retain(|tool| self.takes_object(tool));
        let call_tool = self.abi().call_tool();
        if !description.tools.is_empty() && !self.module().can_call(call_tool) {
            return Err(self.guest.missing_export(call_tool).into());
        }
        Ok(description)
    }

    /// Whether clients accept the type of a tool's input schema.
    fn takes_object(&self, tool: &Tool) -> bool {
        let Err(reason) = tool.check_input_type() else {
            return true;
        };
        let (servlet, tool) = (self.name(), tool.name());
        tracing::warn!(servlet, tool, %reason, "tool of a servlet left out");
        false
    }

    fn compile_schemas(&self) -> Result<HashMap<String, Arc<Schemas>>, LoadError> {
        let tools = self.tools().iter();
        let compile = |tool: &Tool| {
            let schemas = Schemas::of(tool.json()).map_err(|error| LoadError::Schema {
                servlet: self.name().to_owned(),
                tool: tool.name().to_owned(),
                at: error.at,
                problem: error.message,
            })?;
            Ok((tool.name().to_owned(), Arc::new(schemas)))
        };
        tools.map(compile).collect()
    }

    /// Refuses tool options that have no effect, which would otherwise be ignored silently.
    fn check_options(&self) -> Result<(), LoadError> {
        // If the lists can change, the tool may still appear. Until then the host reports it.
        let unknown = self.unknown_tools().next();
        if let Some(problem) = unknown.filter(|_| !self.module().changes_lists()) {
            return Err(problem);
        }
        match self.guest.tool_without_memory() {
            None => Ok(()),
            Some(tool) => Err(LoadError::ToolMemory {
                servlet: self.name().to_owned(),
                tool: tool.to_owned(),
            }),
        }
    }

    /// An error for each tool that has options and is not listed.
    pub(crate) fn unknown_tools(&self) -> impl Iterator<Item = LoadError> {
        let names = self.options().tools.keys();
        let unknown = names.filter(|name| self.tool(name).is_none());
        unknown.map(|name| LoadError::NoSuchTool {
            servlet: self.name().to_owned(),
            pattern: name.clone(),
        })
    }
}

/// The arguments for the call, or a message for the model.
fn checked(
    how: CheckArguments,
    schemas: &Schemas,
    arguments: Option<&JsonObject>,
) -> Result<Option<JsonObject>, String> {
    match how {
        CheckArguments::Off => Ok(arguments.cloned()),
        CheckArguments::Check => schemas.arguments(false, arguments),
        CheckArguments::Coerce => schemas.arguments(true, arguments),
    }
}

/// The parameters of the call. Absent arguments stay absent instead of null: servlets may treat
/// these differently.
fn params(tool: &str, arguments: Option<JsonObject>) -> JsonObject {
    let mut params = JsonObject::new();
    params.insert("name".to_owned(), tool.into());
    if let Some(arguments) = arguments {
        params.insert("arguments".to_owned(), arguments.into());
    }
    params
}

fn check_names(origin: &str, tools: &[Tool]) -> Result<(), LoadError> {
    let mut seen = HashSet::new();
    match tools.iter().find(|tool| !seen.insert(tool.name())) {
        None => Ok(()),
        Some(tool) => Err(LoadError::DuplicateTool {
            origin: origin.to_owned(),
            tool: tool.name().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use mcp_servlet_types::{CallToolRequest, CallToolRequestParams, RawJson, ServletDescription};
    use mcp_servlet_types::{Implementation, ToolDescription};
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_not_checked_where_the_options_say_so() {
        let tool = json!({ "inputSchema": { "properties": { "n": { "type": "integer" } } } });
        let schemas = Schemas::of(tool.as_object().expect("an object")).expect("schemas");
        let given = json!({ "n": "1" });
        let check = |how| checked(how, &schemas, given.as_object());
        assert!(check(CheckArguments::Check).is_err());
        assert_eq!(check(CheckArguments::Off), Ok(given.as_object().cloned()));
        let coerced = json!({ "n": 1 }).as_object().cloned();
        assert_eq!(check(CheckArguments::Coerce), Ok(coerced));
    }

    #[test]
    fn sends_requests_that_the_shared_types_read() {
        let arguments = json!({"b": [1.5, null], "a": "\u{e9}\n"});
        let request = |tool, arguments| {
            let input = Abi::Servlet.request(&params(tool, arguments), &RequestMeta::default());
            String::from_utf8(input).expect("text")
        };
        let text = request("t \"1\"", arguments.as_object().cloned());
        let read: CallToolRequest = mcp_servlet_json::from_str(&text).expect("a request");
        let arguments = RawJson::parse(&arguments.to_string()).expect("JSON");
        let sent = CallToolRequestParams::new("t \"1\"");
        assert_eq!(
            read,
            CallToolRequest::new(CallToolRequestParams {
                arguments: Some(arguments),
                ..sent
            })
        );
        assert_eq!(request("t", None), r#"{"params":{"name":"t"}}"#);
    }

    #[test]
    fn reads_descriptions_that_the_shared_types_write() {
        let tool = ToolDescription::new("t", "does it", RawJson::object());
        let written = ServletDescription {
            tools: Some(vec![tool]),
            server_info: Some(Implementation::new("s", "1")),
            instructions: Some("Ask.".to_owned()),
            ..ServletDescription::default()
        };
        let text = mcp_servlet_json::to_string(&written).expect("JSON");
        let read = Description::parse("s", "describe", text.into()).expect("a description");
        assert_eq!(read.tools[0].description(), Some("does it"));
        assert_eq!(read.server_info.expect("info")["name"], "s");
        assert_eq!(read.instructions.as_deref(), Some("Ask."));
    }
}
