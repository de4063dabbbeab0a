//! One servlet: loaded, described, ready to be called.

mod failure;
mod reading;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{
    Abi, CallError, CallToolResult, Extras, Instances, JsonObject, LoadError, LoadOptions, Module,
    Source, Tool, UnknownArguments,
    description::Description,
    engine::{self, Job, Pool},
    limits::Limits,
    notify,
    schema::Schemas,
    source::{Fetched, check_interface, check_paths, missing_exports, read_module},
    surface::Surface,
};
use reading::Reading;

/// Output of as many bytes is read where nobody waits for it.
const LARGE: usize = 256 << 10;

/// A loaded servlet.
///
/// It can be called from any number of threads and tasks. As many calls run at the same time as
/// [`LoadOptions::instances`] allows; the others wait, in order.
pub struct Servlet {
    name: String,
    origin: String,
    module: Module,
    abi: Abi,
    description: Description,
    surface: Surface,
    /// By the names of tools.
    schemas: HashMap<String, Arc<Schemas>>,
    options: LoadOptions,
    digest: [u8; 32],
    pool: Arc<Pool>,
}

impl std::fmt::Debug for Servlet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Servlet")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl Servlet {
    /// Reads, checks and compiles a module and asks it to describe itself.
    ///
    /// # Errors
    /// [`LoadError`] says which of these steps did not succeed.
    pub fn load(source: impl Into<Source>, options: &LoadOptions) -> Result<Self, LoadError> {
        Self::from_fetched(source.into().fetch()?, options)
    }

    /// Checks and compiles a module and asks it to describe itself.
    pub(crate) fn from_fetched(fetched: Fetched, options: &LoadOptions) -> Result<Self, LoadError> {
        let digest = fetched.digest();
        let Fetched { name, origin, wasm } = fetched;
        let module = read_module(&name, &wasm)?;
        let abi = check_interface(&name, &module)?;
        check_paths(&name, &module, options)?;
        let pool = Pool::new(&name, wasm, &module, options)?;
        let servlet = Self {
            name,
            origin,
            module,
            abi,
            description: Description::default(),
            surface: Surface::default(),
            schemas: HashMap::new(),
            options: options.clone(),
            digest,
            pool,
        };
        servlet.with_lists()
    }

    /// The same module under these options.
    pub(crate) fn with_options(
        self: Arc<Self>,
        options: &LoadOptions,
    ) -> Result<Arc<Self>, LoadError> {
        if self.options == *options {
            return Ok(self);
        }
        let fetched = Fetched {
            name: self.name.clone(),
            origin: self.origin.clone(),
            wasm: self.pool.wasm()?.into_owned(),
        };
        Self::from_fetched(fetched, options).map(Arc::new)
    }

    /// The same with what it lists now, which is not what it listed when it was loaded.
    pub(crate) fn relisted(&self) -> Result<Self, LoadError> {
        let servlet = Self {
            name: self.name.clone(),
            origin: self.origin.clone(),
            module: self.module.clone(),
            abi: self.abi,
            description: Description::default(),
            surface: Surface::default(),
            schemas: HashMap::new(),
            options: self.options.clone(),
            digest: self.digest,
            pool: Arc::clone(&self.pool),
        };
        servlet.with_lists()
    }

    fn with_lists(mut self) -> Result<Self, LoadError> {
        self.description = self.describe()?;
        self.check_options()?;
        self.surface = Surface::read(&self)?;
        self.schemas = self.compile_schemas()?;
        Ok(self)
    }

    /// The name that logs and errors use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file it was loaded from, or its name.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The SHA-256 digest of the module.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// What the module consists of.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The interface that it has.
    pub fn abi(&self) -> Abi {
        self.abi
    }

    /// What it is given and how far it may go.
    pub fn options(&self) -> &LoadOptions {
        &self.options
    }

    /// How many instances it may have.
    pub fn instances(&self) -> &Instances {
        self.pool.instances()
    }

    /// The output of `describe`, or of `list_tools`, byte for byte.
    pub fn description(&self) -> &str {
        &self.description.text
    }

    /// The tools, in the order in which the servlet lists them.
    pub fn tools(&self) -> &[Tool] {
        &self.description.tools
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools().iter().find(|tool| tool.name() == name)
    }

    /// Name and version as MCP's `serverInfo`, if the servlet gives them.
    pub fn server_info(&self) -> Option<&JsonObject> {
        self.description.server_info.as_ref()
    }

    /// How to use the servlet, in words for a model.
    pub fn instructions(&self) -> Option<&str> {
        self.description.instructions.as_deref()
    }

    /// Whether it can tell how far a call is, to a client that sends a `progressToken`.
    pub fn reports_progress(&self) -> bool {
        self.module.imports(notify::USER, notify::PROGRESS)
    }

    /// What it offers beside tools.
    pub(crate) fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Calls a tool and waits for its result. In asynchronous code, use [`Servlet::call_async`].
    ///
    /// # Errors
    /// [`CallError`]. A tool that ran and did not succeed is no error here: see [`CallToolResult::is_error`].
    pub fn call(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        let schemas = self.schemas(tool)?;
        let arguments = self.known_arguments(schemas, arguments);
        let arguments = match schemas.arguments(self.options.arguments, arguments.as_deref()) {
            Ok(arguments) => arguments,
            Err(text) => return Ok(CallToolResult::error(text)),
        };
        let output = self.run(self.tool_job(tool, arguments, &Extras::default()))?;
        self.reading(tool, schemas).result(&output)
    }

    /// Calls a tool on a thread that may block, within a tokio runtime that has timers.
    ///
    /// Dropping the future cancels exactly this call: if it waits, it will not run; if it runs, it is interrupted.
    ///
    /// # Errors
    /// As of [`Servlet::call`].
    pub async fn call_async(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        self.call_with(tool, arguments, &Extras::default()).await
    }

    /// As [`Servlet::call_async`], with what the request has beside the arguments.
    ///
    /// # Errors
    /// As of [`Servlet::call`].
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
        extras: &Extras,
    ) -> Result<CallToolResult, CallError> {
        let schemas = self.schemas(tool)?;
        let arguments = self.known_arguments(schemas, arguments);
        let arguments = arguments.as_deref();
        let how = self.options.arguments;
        let checked = if schemas.takes_long(how, arguments) {
            let (schemas, arguments) = (Arc::clone(schemas), arguments.cloned());
            let check = move || schemas.arguments(how, arguments.as_ref());
            self.apart(check).await?
        } else {
            schemas.arguments(how, arguments)
        };
        let arguments = match checked {
            Ok(arguments) => arguments,
            // The model should read it.
            Err(text) => return Ok(CallToolResult::error(text)),
        };
        let job = self.tool_job(tool, arguments, extras);
        let output = self.run_async(job).await?;
        let reading = self.reading(tool, schemas);
        if output.len() < LARGE {
            return reading.result(&output);
        }
        self.apart(move || reading.result(&output)).await?
    }

    fn schemas(&self, tool: &str) -> Result<&Arc<Schemas>, CallError> {
        self.schemas.get(tool).ok_or_else(|| {
            let known = self.tools().iter().map(Tool::name);
            CallError::unknown_tool(tool, known)
        })
    }

    /// The arguments for the tool, without unknown ones if the options say so.
    fn known_arguments<'a>(
        &self,
        schemas: &Schemas,
        arguments: Option<&'a JsonObject>,
    ) -> Option<Cow<'a, JsonObject>> {
        arguments.map(|arguments| match self.options.unknown {
            UnknownArguments::Refuse => Cow::Borrowed(arguments),
            UnknownArguments::Drop => schemas.without_unknown(arguments),
        })
    }

    /// How many of these arguments a call of the tool drops.
    pub(crate) fn count_dropped(&self, tool: &str, arguments: &JsonObject) -> usize {
        match (self.options.unknown, self.schemas.get(tool)) {
            (UnknownArguments::Drop, Some(schemas)) => schemas.unknown(arguments).count(),
            _ => 0,
        }
    }

    fn tool_job(&self, tool: &str, arguments: Option<JsonObject>, extras: &Extras) -> Job {
        let params = params(tool, arguments);
        let mut job = self.request(self.abi.call_tool(), &params, extras);
        job.limits = Limits::of_tool(&self.options, tool);
        job
    }

    fn reading(&self, tool: &str, schemas: &Arc<Schemas>) -> Reading {
        Reading {
            servlet: self.name.clone(),
            tool: tool.to_owned(),
            export: self.abi.call_tool(),
            checks: self.options.results,
            schemas: Arc::clone(schemas),
        }
    }

    /// The outcome of what would keep others waiting if it were done here.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CallError> {
        let outcome = engine::apart(work).await;
        outcome.map_err(|stop| self.error(self.abi.call_tool(), &Limits::of(&self.options), stop))
    }

    fn describe(&self) -> Result<Description, LoadError> {
        let export = self.abi.list_tools();
        if !self.module.can_call(export) {
            return Ok(Description::default());
        }
        let output = self
            .run(self.job(export, self.abi.list_request()))
            .map_err(|error| match error {
                CallError::Start { servlet, message } => LoadError::Start { servlet, message },
                source => LoadError::Describe {
                    servlet: self.name.clone(),
                    source: Box::new(source),
                },
            })?;
        let description = Description::parse(&self.name, export, output)?;
        check_names(&self.origin, &description.tools)?;
        let call_tool = self.abi.call_tool();
        if !description.tools.is_empty() && !self.module.can_call(call_tool) {
            return Err(missing_exports(&self.name, &self.module, &[call_tool]));
        }
        Ok(description)
    }

    fn compile_schemas(&self) -> Result<HashMap<String, Arc<Schemas>>, LoadError> {
        let tools = self.tools().iter();
        let compile = |tool: &Tool| {
            let schemas = Schemas::of(&self.name, tool)?;
            Ok((tool.name().to_owned(), Arc::new(schemas)))
        };
        tools.map(compile).collect()
    }

    /// Options for tools that cannot be kept would be ignored in silence.
    fn check_options(&self) -> Result<(), LoadError> {
        // A tool that is not there now may come, where lists change; until then the host says so.
        let unknown = self.unknown_tools().next();
        if let Some(problem) = unknown.filter(|_| !notify::changes_lists(&self.module)) {
            return Err(problem);
        }
        match self.options.tool_without_memory(*self.instances()) {
            None => Ok(()),
            Some(tool) => Err(LoadError::ToolMemory {
                servlet: self.name.clone(),
                tool: tool.to_owned(),
            }),
        }
    }

    /// What is said of tools that it does not have.
    pub(crate) fn unknown_tools(&self) -> impl Iterator<Item = LoadError> {
        let names = self.options.tools.keys();
        let unknown = names.filter(|name| self.tool(name).is_none());
        unknown.map(|name| LoadError::NoSuchTool {
            servlet: self.name.clone(),
            pattern: name.clone(),
        })
    }

    /// A run of one export, within the limits of the servlet.
    pub(crate) fn job(&self, export: &'static str, input: Vec<u8>) -> Job {
        Job::new(export, input, Limits::of(&self.options))
    }

    /// A run that answers a request of a client.
    pub(crate) fn request(
        &self,
        export: &'static str,
        params: &JsonObject,
        extras: &Extras,
    ) -> Job {
        self.job(export, self.abi.request(params, extras))
            .of(extras)
    }

    /// Runs an export while this thread waits.
    pub(crate) fn run(&self, job: Job) -> Result<Vec<u8>, CallError> {
        let (export, limits) = (job.export, job.limits);
        let output = self.pool.run(job);
        output.map_err(|stop| self.error(export, &limits, stop))
    }

    /// Runs an export on a thread that may block; dropping the future stops it.
    pub(crate) async fn run_async(&self, job: Job) -> Result<Vec<u8>, CallError> {
        let (export, limits) = (job.export, job.limits);
        let output = self.pool.run_async(job).await;
        output.map_err(|stop| self.error(export, &limits, stop))
    }
}

/// Which tool, and with what. A servlet may take absent arguments for an error, but not null, so they stay away.
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
    fn sends_requests_that_the_shared_types_read() {
        let arguments = json!({"b": [1.5, null], "a": "\u{e9}\n"});
        let request = |tool, arguments| {
            let input = Abi::Servlet.request(&params(tool, arguments), &Extras::default());
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
