//! Virtual tools, which call tools of servlets.

mod call;
mod thrown;

use std::{collections::HashMap, fmt, sync::Arc};

use mcp_servlet_bundle::{Problem, Proven, VirtualTool};
use mcp_servlet_schema::similar;

use super::index::Index;
use crate::{LoadError, Servlet, Tool};

/// A problem with a virtual tool that needs its servlet to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualToolError {
    /// The name of the bundle.
    pub bundle: String,
    /// The name of the tool.
    pub tool: String,
    /// What is wrong, and where.
    pub problem: Problem,
}

impl fmt::Display for VirtualToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            bundle,
            tool,
            problem,
        } = self;
        let message = &problem.message;
        write!(f, "invalid tool `{tool}` of bundle `{bundle}`: {message}")
    }
}

impl std::error::Error for VirtualToolError {}

/// A virtual tool with its servlet.
#[derive(Debug)]
pub(super) struct Served {
    tool: Tool,
    proven: Proven,
    handler: Arc<Servlet>,
}

impl Served {
    /// The tool as clients see it.
    pub(super) fn tool(&self) -> &Tool {
        &self.tool
    }

    /// The servlet that it calls.
    pub(super) fn handler(&self) -> &Servlet {
        &self.handler
    }
}

/// The virtual tools of a host.
#[derive(Debug, Default)]
pub(super) struct VirtualTools {
    all: Arc<[VirtualTool]>,
    served: Vec<Served>,
    places: HashMap<String, usize>,
    errors: Vec<VirtualToolError>,
    warnings: Vec<LoadError>,
}

impl VirtualTools {
    /// Keeps the tools that fit their servlets. The names of `tools` belong to servlets.
    pub(super) fn prove(
        all: Arc<[VirtualTool]>,
        servlets: &[Arc<Servlet>],
        tools: &Index<Tool>,
    ) -> Self {
        let mut virtual_tools = Self::default();
        for tool in &*all {
            let member = &tool.handler().member;
            let Some(servlet) = servlets.iter().find(|one| one.name() == member) else {
                let problem = format!("the servlet `{member}` is not loaded");
                virtual_tools.warn(tool, problem);
                continue;
            };
            let taken = tools
                .get(tool.name())
                .map(|served| &servlets[served.servlet]);
            match prove(tool, servlet, taken) {
                Ok(served) => virtual_tools.add(served),
                Err(problems) => virtual_tools.fail(tool, problems),
            }
        }
        Self {
            all,
            ..virtual_tools
        }
    }

    fn add(&mut self, served: Served) {
        let name = served.tool.name().to_owned();
        self.places.insert(name, self.served.len());
        self.served.push(served);
    }

    fn warn(&mut self, tool: &VirtualTool, problem: String) {
        self.warnings.push(LoadError::VirtualTool {
            bundle: tool.bundle().to_owned(),
            tool: tool.name().to_owned(),
            problem,
        });
    }

    fn fail(&mut self, tool: &VirtualTool, problems: Vec<Problem>) {
        for problem in problems {
            self.warn(tool, problem.message.clone());
            self.errors.push(VirtualToolError {
                bundle: tool.bundle().to_owned(),
                tool: tool.name().to_owned(),
                problem,
            });
        }
    }

    /// All tools, including those that are left out.
    pub(super) fn all(&self) -> Arc<[VirtualTool]> {
        Arc::clone(&self.all)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Served> {
        self.served.get(*self.places.get(name)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.served.iter().map(Served::tool)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Tool> {
        self.served.iter_mut().map(|served| &mut served.tool)
    }

    /// Why tools are left out.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &LoadError> {
        self.warnings.iter()
    }

    /// The problems of tools that do not fit their servlets.
    pub(super) fn errors(&self) -> &[VirtualToolError] {
        &self.errors
    }
}

impl super::Host {
    /// The errors of virtual tools that do not fit their servlets.
    pub(super) fn virtual_tool_errors(&self) -> Result<(), Vec<VirtualToolError>> {
        match self.virtual_tools.errors() {
            [] => Ok(()),
            errors => Err(errors.to_vec()),
        }
    }
}

fn prove(
    tool: &VirtualTool,
    servlet: &Arc<Servlet>,
    taken: Option<&Arc<Servlet>>,
) -> Result<Served, Vec<Problem>> {
    if let Some(other) = taken {
        let (name, other, origin) = (tool.name(), other.name(), other.origin());
        let message = format!(
            "the servlet `{other}` (`{origin}`) has a tool `{name}` as well: give that servlet a prefix"
        );
        return Err(vec![Problem::new(
            mcp_servlet_bundle::Place::default(),
            message,
        )]);
    }
    let wanted = &tool.handler().tool;
    let place = || mcp_servlet_bundle::Place::of("handler");
    let Some(handler) = servlet.tool(wanted) else {
        let known = similar(wanted, servlet.tools().iter().map(Tool::name));
        let known = known.map_or_else(String::new, |known| format!("; there is `{known}`"));
        let message = format!("servlet `{}` has no tool `{wanted}`{known}", servlet.name());
        return Err(vec![Problem::new(place(), message)]);
    };
    let proven = tool.prove(handler.json())?;
    let shown = Tool::new(proven.definition().clone());
    let shown = shown.map_err(|problem| vec![Problem::new(place(), problem.to_string())])?;
    Ok(Served {
        tool: shown,
        proven,
        handler: Arc::clone(servlet),
    })
}
