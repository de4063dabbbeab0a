//! Several servlets behind one list of tools.

mod names;

use std::{collections::HashMap, sync::Arc};

use crate::{CallError, CallToolResult, Extras, JsonObject, LoadError, Servlet, Tool, notify};
pub use names::{Filter, Prefix};
pub(crate) use names::{MAX_NAME, name_problem};
use names::{Named, name_tools};

/// A servlet and how its tools appear.
#[derive(Clone, Debug)]
pub struct Mount {
    /// The servlet.
    pub servlet: Arc<Servlet>,
    /// What stands before the names of its tools.
    pub prefix: Prefix,
    /// Which of its tools appear.
    pub filter: Filter,
}

impl From<Servlet> for Mount {
    /// All tools under their own names.
    fn from(servlet: Servlet) -> Self {
        Self {
            servlet: Arc::new(servlet),
            prefix: Prefix::Never,
            filter: Filter::default(),
        }
    }
}

/// How a server introduces itself, where that is not left to the servlets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Introduction {
    /// The server's name.
    pub name: Option<String>,
    /// The server's version.
    pub version: Option<String>,
    /// How to use it, in words for a model.
    pub instructions: Option<String>,
}

/// Loaded servlets and the index of their tools.
#[derive(Debug)]
pub struct Host {
    servlets: Vec<Arc<Servlet>>,
    /// What it was composed of.
    mounts: Vec<Mount>,
    /// As clients see them, servlet by servlet.
    tools: Vec<Served>,
    /// From the name of a tool to its place in `tools`.
    index: HashMap<String, usize>,
    problems: Vec<LoadError>,
    introduction: Introduction,
}

/// A tool as clients see it, and where it is.
#[derive(Debug)]
struct Served {
    tool: Tool,
    servlet: usize,
    /// What its servlet calls it.
    original: String,
}

impl Host {
    /// Puts servlets side by side, in the given order, all tools under their own names.
    ///
    /// # Errors
    /// [`LoadError::DuplicateTool`] if two of them have a tool of the same name.
    pub fn new(servlets: Vec<Servlet>) -> Result<Self, LoadError> {
        Self::compose(servlets.into_iter().map(Mount::from).collect())
    }

    /// Puts servlets side by side, in the given order.
    ///
    /// A tool whose name clients would not accept does not appear; see [`Host::problems`].
    ///
    /// # Errors
    /// [`LoadError::DuplicateTool`] if two tools would have the same name.
    pub fn compose(mounts: Vec<Mount>) -> Result<Self, LoadError> {
        let Named { tools, problems } = name_tools(&mounts);
        let mut host = Self {
            servlets: mounts
                .iter()
                .map(|mount| Arc::clone(&mount.servlet))
                .collect(),
            mounts,
            tools: Vec::new(),
            index: HashMap::new(),
            problems,
            introduction: Introduction::default(),
        };
        for (servlet, name, tool) in tools {
            host.add(servlet, name, &tool)?;
        }
        host.problems.extend(host.duplicates());
        Ok(host)
    }

    /// The same with the lists as they are now, of those servlets that say when theirs change.
    pub(crate) fn relisted(&self) -> Result<Self, LoadError> {
        let mut mounts = self.mounts.clone();
        for mount in &mut mounts {
            if notify::changes_lists(mount.servlet.module()) {
                mount.servlet = Arc::new(mount.servlet.relisted()?);
            }
        }
        Ok(Self::compose(mounts)?.introduced(self.introduction.clone()))
    }

    fn add(&mut self, servlet: usize, name: String, tool: &Tool) -> Result<(), LoadError> {
        if let Some(first) = self.index.insert(name.clone(), self.tools.len()) {
            let origin = |at: usize| self.servlets[at].origin().to_owned();
            return Err(LoadError::DuplicateTool {
                tool: name,
                first: origin(self.tools[first].servlet),
                second: origin(servlet),
            });
        }
        self.tools.push(Served {
            tool: tool.renamed(name),
            servlet,
            original: tool.name().to_owned(),
        });
        Ok(())
    }

    /// Lets the server introduce itself in other words than those of its servlets.
    #[must_use]
    pub fn introduced(mut self, introduction: Introduction) -> Self {
        self.introduction = introduction;
        self
    }

    /// How the server introduces itself, where that is not left to the servlets.
    pub fn introduction(&self) -> &Introduction {
        &self.introduction
    }

    /// The servlets, in order.
    pub fn servlets(&self) -> &[Arc<Servlet>] {
        &self.servlets
    }

    /// Tools that do not appear, and patterns that choose nothing: what is wrong with each.
    pub fn problems(&self) -> &[LoadError] {
        &self.problems
    }

    /// See [`Host::problems`].
    pub fn into_problems(self) -> Vec<LoadError> {
        self.problems
    }

    /// All tools as clients see them: servlet by servlet, each in its own order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(|served| &served.tool)
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        Some(&self.served(name)?.tool)
    }

    /// The servlet that has the tool of that name.
    pub fn servlet_of(&self, tool: &str) -> Option<&Servlet> {
        Some(&self.servlets[self.served(tool)?.servlet])
    }

    fn served(&self, name: &str) -> Option<&Served> {
        self.tools.get(*self.index.get(name)?)
    }

    fn find(&self, tool: &str) -> Result<(&Servlet, &str), CallError> {
        match self.served(tool) {
            Some(served) => Ok((&self.servlets[served.servlet], &served.original)),
            None => Err(CallError::unknown_tool(tool, self.tools().map(Tool::name))),
        }
    }

    /// Calls a tool and waits for its result; see [`Servlet::call`].
    ///
    /// # Errors
    /// [`CallError`].
    pub fn call(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        let (servlet, tool) = self.find(tool)?;
        servlet.call(tool, arguments)
    }

    /// Calls a tool on a thread that may block; see [`Servlet::call_async`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call_async(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        self.call_with(tool, arguments, &Extras::default()).await
    }

    /// As [`Host::call_async`], with what the request has beside the arguments.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
        extras: &Extras,
    ) -> Result<CallToolResult, CallError> {
        let (servlet, tool) = self.find(tool)?;
        servlet.call_with(tool, arguments, extras).await
    }
}
