//! Virtual tools, which call tools of servlets and remotes.

mod call;
mod mapping;
mod thrown;

use std::{collections::HashMap, fmt, sync::Arc};

use mcp_servlet_bundle::{Problem, Proven, VirtualTool};
use mcp_servlet_schema::similar;

use super::Mount;
use super::index::Index;
use crate::{LoadError, Member, Tool};

/// A problem with a virtual tool that can only be found with the member that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualToolError {
    /// The name of the bundle.
    pub bundle: String,
    /// The name of the tool.
    pub tool: String,
    /// What is wrong, and where.
    pub problem: Problem,
    /// The servlet or remote that has a tool of the same name, if that is the problem.
    pub owner: Option<String>,
}

impl fmt::Display for VirtualToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            bundle,
            tool,
            problem,
            ..
        } = self;
        let message = &problem.message;
        write!(f, "invalid tool `{tool}` of bundle `{bundle}`: {message}")
    }
}

impl std::error::Error for VirtualToolError {}

/// A virtual tool, and where it is listed.
#[derive(Clone, Debug)]
pub struct PlacedTool {
    /// The tool.
    pub tool: VirtualTool,
    /// How many members of the host are listed before it.
    pub after: usize,
}

/// A virtual tool and the member that it calls.
#[derive(Debug)]
pub(super) struct Served {
    after: usize,
    tool: Tool,
    proven: Arc<Proven>,
    handler: Member,
}

impl Served {
    /// The tool as clients see it.
    pub(super) fn tool(&self) -> &Tool {
        &self.tool
    }

    /// The member that it calls.
    pub(super) fn handler(&self) -> &Member {
        &self.handler
    }
}

/// The virtual tools of a host.
#[derive(Debug, Default)]
pub(super) struct VirtualTools {
    all: Arc<[PlacedTool]>,
    /// Members that they can call in addition to those that the host serves.
    handlers: Vec<Member>,
    served: Vec<Served>,
    places: HashMap<String, usize>,
    errors: Vec<VirtualToolError>,
    warnings: Vec<LoadError>,
}

impl VirtualTools {
    /// Keeps the tools that fit their members. The names of `tools` belong to members.
    pub(super) fn prove(
        all: Arc<[PlacedTool]>,
        handlers: Vec<Member>,
        mounts: &[Mount],
        tools: &Index<Tool>,
    ) -> Self {
        let mut virtual_tools = Self::default();
        for PlacedTool { tool, after } in &*all {
            if virtual_tools.places.contains_key(tool.name()) {
                let problem = format!("another bundle has a tool `{}` as well", tool.name());
                virtual_tools.warn(tool, problem);
                continue;
            }
            let member = &tool.handler().member;
            let members = mounts.iter().map(|mount| &mount.member);
            let Some(member) = members.chain(&handlers).find(|one| one.name() == member) else {
                let problem = format!("there is no servlet or remote `{member}` at the moment");
                virtual_tools.warn(tool, problem);
                continue;
            };
            if let Some(why) = unknown_tools(member) {
                virtual_tools.warn(tool, why);
                continue;
            }
            let taken = tools
                .get(tool.name())
                .map(|served| &mounts[served.member].member);
            if let Some(owner) = taken {
                virtual_tools.fail(tool, vec![same_name(tool, owner)], Some(owner));
                continue;
            }
            match prove(tool, *after, member) {
                Ok(served) => virtual_tools.add(served),
                Err(problems) => virtual_tools.fail(tool, problems, None),
            }
        }
        Self {
            all,
            handlers,
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

    fn fail(&mut self, tool: &VirtualTool, problems: Vec<Problem>, owner: Option<&Member>) {
        for problem in problems {
            self.warn(tool, problem.message.clone());
            self.errors.push(VirtualToolError {
                bundle: tool.bundle().to_owned(),
                tool: tool.name().to_owned(),
                problem,
                owner: owner.map(|owner| owner.name().to_owned()),
            });
        }
    }

    /// All tools, including those that are left out.
    pub(super) fn all(&self) -> Arc<[PlacedTool]> {
        Arc::clone(&self.all)
    }

    /// Members that they can call in addition to those that the host serves.
    pub(super) fn handlers(&self) -> &[Member] {
        &self.handlers
    }

    pub(super) fn get(&self, name: &str) -> Option<&Served> {
        self.served.get(*self.places.get(name)?)
    }

    /// A tool by its number among those that are served.
    pub(super) fn at(&self, number: usize) -> &Tool {
        self.served[number].tool()
    }

    /// How many members are listed before each tool.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.served.iter().map(|served| served.after)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Tool> {
        self.served.iter_mut().map(|served| &mut served.tool)
    }

    /// Why tools are left out.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &LoadError> {
        self.warnings.iter()
    }

    /// The problems of tools that do not fit their members.
    pub(super) fn errors(&self) -> &[VirtualToolError] {
        &self.errors
    }
}

impl super::Host {
    /// The errors of virtual tools that do not fit their members. These tools are left out.
    pub fn virtual_tool_errors(&self) -> &[VirtualToolError] {
        self.virtual_tools.errors()
    }

    /// Members that virtual tools can call in addition to those that the host serves.
    pub fn handlers(&self) -> &[Member] {
        self.virtual_tools.handlers()
    }
}

/// Why the tools of a member are not known yet. A remote has none until it was reached.
fn unknown_tools(member: &Member) -> Option<String> {
    let is_unknown = member.as_remote().is_some() && member.tools().is_empty();
    is_unknown.then(|| {
        format!(
            "the tools of the remote `{}` are not known yet",
            member.name()
        )
    })
}

/// The problem of a tool whose name belongs to a tool of `owner`.
fn same_name(tool: &VirtualTool, owner: &Member) -> Problem {
    let (kind, name) = (owner.kind(), tool.name());
    let (owner, origin) = (owner.name(), owner.origin());
    let message = format!(
        "the {kind} `{owner}` (`{origin}`) has a tool `{name}` as well: give that {kind} another prefix"
    );
    Problem::new(mcp_servlet_bundle::Place::default(), message)
}

fn prove(tool: &VirtualTool, after: usize, member: &Member) -> Result<Served, Vec<Problem>> {
    let wanted = &tool.handler().tool;
    let place = || mcp_servlet_bundle::Place::of("handler");
    let mut tools = member.tools().iter();
    let Some(handler) = tools.find(|tool| tool.name() == wanted) else {
        let known = similar(wanted, member.tools().iter().map(Tool::name));
        let known = known.map_or_else(String::new, |known| format!("; there is `{known}`"));
        let message = format!(
            "{} `{}` has no tool `{wanted}`{known}",
            member.kind(),
            member.name()
        );
        return Err(vec![Problem::new(place(), message)]);
    };
    let proven = tool.prove(handler.json())?;
    let shown = Tool::new(proven.definition().clone());
    let shown = shown.map_err(|problem| vec![Problem::new(place(), problem.to_string())])?;
    Ok(Served {
        after,
        tool: shown,
        proven: Arc::new(proven),
        handler: member.clone(),
    })
}
