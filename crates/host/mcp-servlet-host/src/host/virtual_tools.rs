//! Virtual tools, which call tools of servlets and remotes.

mod call;
mod input_requests;
mod listener;
mod mapping;
mod runner;
mod thrown;

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};

use mcp_servlet_bundle::{Place, Problem, Proven, Step, Target, VirtualTool};
use mcp_servlet_call::JsonObject;
use serde_json::json;

use super::{Mount, Warning, index::Chosen};
use crate::{FeatureKind, LoadError, Member, RemoteMember, Tool};
pub use input_requests::INPUT_ROUNDS;

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

/// A virtual tool and the members that it calls.
#[derive(Debug)]
pub(super) struct Served {
    after: usize,
    tool: Tool,
    proven: Arc<Proven>,
    /// The member of each step.
    handlers: Vec<Member>,
}

impl Served {
    /// The tool as clients see it.
    pub(super) fn tool(&self) -> &Tool {
        &self.tool
    }

    fn name(&self) -> &str {
        self.proven.tool().name()
    }

    /// The member that it calls. `None` if it has steps.
    pub(super) fn handler(&self) -> Option<&Member> {
        self.handlers
            .first()
            .filter(|_| !self.proven.tool().has_steps())
    }

    /// The name of the member that it calls, or of the bundle if it has steps.
    pub(super) fn member_name(&self) -> &str {
        self.handler().map_or(self.bundle(), Member::name)
    }

    /// Whether a step may change something.
    pub(super) fn may_write(&self) -> bool {
        let steps = 0..self.handlers.len();
        !steps.into_iter().all(|step| self.proven.is_read_only(step))
    }

    /// The steps, and the member of each.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Step, &Member)> {
        self.proven.tool().steps().iter().zip(&self.handlers)
    }

    /// The bundle that it belongs to.
    pub(super) fn bundle(&self) -> &str {
        self.proven.tool().bundle()
    }
}

/// The names of virtual tools and their bundles. A member, such as a remote whose list has changed, cannot take them over.
pub(super) struct Reserved<'t>(HashMap<&'t str, &'t str>);

/// Tools of members that are left out, because virtual tools have their names.
pub(super) struct Hidden {
    /// Their members, by these names.
    pub(super) owners: HashMap<String, usize>,
    pub(super) problems: Vec<Warning>,
}

impl<'t> Reserved<'t> {
    pub(super) fn of(tools: &'t [PlacedTool]) -> Self {
        let tools = tools.iter().map(|one| (one.tool.name(), one.tool.bundle()));
        Self(tools.collect())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'t str> {
        self.0.keys().copied()
    }

    /// Removes the tools with these names.
    pub(super) fn hide(&self, tools: &mut Vec<Chosen<'_, Tool>>, mounts: &[Mount]) -> Hidden {
        let mut hidden = Hidden {
            owners: HashMap::new(),
            problems: Vec::new(),
        };
        tools.retain(|one| {
            let Some(bundle) = self.0.get(&*one.name) else {
                return true;
            };
            let problem = LoadError::Taken {
                kind: FeatureKind::Tool,
                entry: one.entry.name().to_owned(),
                origin: mounts[one.member].member.place().to_owned(),
                key: one.name.clone(),
                owner: format!("[bundle.{bundle}]"),
            };
            hidden.problems.push((one.member, problem));
            hidden.owners.insert(one.name.clone(), one.member);
            false
        });
        hidden
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
    /// Keeps the tools that fit their members. `owners` are the members that have tools of the same names, by these names.
    pub(super) fn prove(
        all: Arc<[PlacedTool]>,
        handlers: Vec<Member>,
        mounts: &[Mount],
        owners: &HashMap<String, usize>,
    ) -> Self {
        let mut virtual_tools = Self::default();
        for PlacedTool { tool, after } in &*all {
            if virtual_tools.places.contains_key(tool.name()) {
                let problem = format!("another bundle has a tool `{}` as well", tool.name());
                virtual_tools.warn(tool, problem);
                continue;
            }
            let members = || mounts.iter().map(|mount| &mount.member).chain(&handlers);
            let steps = tool.steps().iter();
            let members: Vec<_> = steps.map(|step| member_of(step, members())).collect();
            if let Some(owner) = owners.get(tool.name()) {
                let owner = &mounts[*owner].member;
                let owner_name = Some(owner.name().to_owned());
                virtual_tools.error(tool, same_name(tool, owner), owner_name);
            }
            match prove(tool, *after, members) {
                Ok(served) => virtual_tools.add(served),
                Err(failed) => virtual_tools.fail(tool, failed),
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

    fn fail(&mut self, tool: &VirtualTool, NotServed { absent, problems }: NotServed) {
        if let Some(problem) = absent {
            self.warn(tool, problem);
        }
        for problem in problems {
            self.warn(tool, problem.in_words(|_| String::new()));
            self.error(tool, problem, None);
        }
    }

    fn error(&mut self, tool: &VirtualTool, problem: Problem, owner: Option<String>) {
        self.errors.push(VirtualToolError {
            bundle: tool.bundle().to_owned(),
            tool: tool.name().to_owned(),
            problem,
            owner,
        });
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

    /// The virtual tools that are served.
    pub fn virtual_tools(&self) -> impl Iterator<Item = &Proven> {
        self.virtual_tools
            .served
            .iter()
            .map(|served| &*served.proven)
    }

    /// Members that virtual tools can call in addition to those that the host serves.
    pub fn handlers(&self) -> &[Member] {
        self.virtual_tools.handlers()
    }
}

/// The member of a step, or why it cannot be called now.
fn member_of<'m>(
    step: &Step,
    mut members: impl Iterator<Item = &'m Member>,
) -> Result<Member, String> {
    let name = step.target().member();
    let Some(member) = members.find(|one| one.name() == name) else {
        return Err(format!(
            "there is no servlet or remote `{name}` at the moment"
        ));
    };
    let calls_tool = matches!(step.target(), Target::Tool(_));
    // Before it was reached, a remote has no tools. Later, all of them may be hidden.
    let is_known = member.as_remote().is_none_or(RemoteMember::has_lists);
    if calls_tool && !is_known && member.tools().is_empty() {
        return Err(format!(
            "the tools of the remote `{name}` are not known yet"
        ));
    }
    Ok(member.clone())
}

/// Why a tool is not served.
struct NotServed {
    /// Why the member of a step cannot be called now.
    absent: Option<String>,
    /// The problems that were found without that member.
    problems: Vec<Problem>,
}

/// The problem of a tool whose name belongs to a tool of `owner`.
fn same_name(tool: &VirtualTool, owner: &Member) -> Problem {
    let (kind, name) = (owner.kind(), tool.name());
    let (owner, origin) = (owner.name(), owner.origin());
    let message = format!(
        "the {kind} `{owner}` (`{origin}`) has a tool `{name}` as well: give that {kind} another prefix"
    );
    Problem::new(Place::default(), message)
}

fn prove(
    tool: &VirtualTool,
    after: usize,
    members: Vec<Result<Member, String>>,
) -> Result<Served, NotServed> {
    let mut problems = Vec::new();
    // A step that calls nothing must not hide the mistakes of others.
    let unknown = || Cow::Owned(VirtualTool::unknown_handler());
    let steps = tool.steps().iter().zip(&members);
    let handlers: Vec<_> = steps
        .map(|(step, member)| match member {
            Ok(member) => handler(step, member).unwrap_or_else(|problem| {
                problems.push(problem);
                unknown()
            }),
            Err(_) => unknown(),
        })
        .collect();
    let handlers: Vec<_> = handlers.iter().map(Cow::as_ref).collect();
    let proven = tool
        .prove(&handlers)
        .map_err(|more| problems.extend(more))
        .ok();
    let members: Result<Vec<_>, _> = members.into_iter().collect();
    match (proven, members) {
        (Some(proven), Ok(handlers)) if problems.is_empty() => {
            let shown = Tool::new(proven.definition().clone());
            let tool = shown.map_err(|problem| NotServed {
                absent: None,
                problems: vec![Problem::new(Place::default(), problem.to_string())],
            })?;
            Ok(Served {
                after,
                tool,
                proven: Arc::new(proven),
                handlers,
            })
        }
        (_, members) => Err(NotServed {
            absent: members.err(),
            problems,
        }),
    }
}

/// The definition of the tool that a step calls. For a resource, it has only annotations.
fn handler<'m>(step: &Step, member: &'m Member) -> Result<Cow<'m, JsonObject>, Problem> {
    let (kind, name) = (member.kind(), member.name());
    let Target::Tool(handler) = step.target() else {
        if member.reads_resources() {
            let is_remote = member.as_remote().is_some();
            let hints = json!({ "readOnlyHint": true, "openWorldHint": is_remote });
            let hints = JsonObject::from_iter([("annotations".to_owned(), hints)]);
            return Ok(Cow::Owned(hints));
        }
        let message = format!("{kind} `{name}` has no resources");
        return Err(Problem::new(step.place().key("resource"), message));
    };
    let wanted = &handler.tool;
    if let Some(tool) = member.tool(wanted) {
        return Ok(tool.definition());
    }
    let lists = member.as_remote().map(RemoteMember::lists);
    let mut hidden = lists.into_iter().flat_map(|lists| &lists.hidden);
    let is_hidden = hidden.any(|one| one.kind == FeatureKind::Tool && one.key == *wanted);
    let message = if is_hidden {
        format!(
            "{kind} `{name}` has no tool `{wanted}` that `servlet.lock` approves; `servlet lock update {name}` shows why"
        )
    } else {
        member.without_tool(wanted)
    };
    Err(Problem::new(step.place().key("handler"), message))
}
