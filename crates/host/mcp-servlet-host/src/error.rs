//! Errors of servlets before they are called.

use mcp_servlet_call::CallError;
use mcp_servlet_schema::similar;

use crate::FeatureKind;

/// Why a servlet was not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The module was not loaded.
    #[error(transparent)]
    Module(#[from] mcp_servlet_runtime::LoadError),
    /// Clients would not accept the name of a tool.
    #[error("tool `{tool}` of `{origin}` cannot be served: {problem}")]
    ToolName {
        /// The file or URL of the servlet, or its name.
        origin: String,
        /// The name, including its prefix.
        tool: String,
        /// Why clients would not accept it.
        problem: String,
    },
    /// A schema of a tool is not a valid JSON Schema.
    #[error("tool `{tool}` of `{servlet}` has an invalid schema, {at}: {problem}")]
    Schema {
        /// The servlet's name.
        servlet: String,
        /// The tool's name.
        tool: String,
        /// A JSON pointer into the tool.
        at: String,
        /// What is wrong there.
        problem: String,
    },
    /// A name or a pattern matches none of the servlet's tools.
    #[error("`{servlet}` has no tool `{pattern}`")]
    NoSuchTool {
        /// The servlet's name.
        servlet: String,
        /// The name or pattern.
        pattern: String,
    },
    /// A tool has its own memory limit, but all calls of the servlet share one instance.
    #[error(
        "tool `{tool}` of `{servlet}` cannot have a memory limit of its own: all calls share one instance"
    )]
    ToolMemory {
        /// The servlet's name.
        servlet: String,
        /// The tool's name.
        tool: String,
    },
    /// The servlet failed to describe itself.
    #[error("cannot get the description of `{servlet}`")]
    Describe {
        /// The servlet's name.
        servlet: String,
        /// How the export failed.
        source: Box<CallError>,
    },
    /// The description of the servlet is not valid.
    #[error("`{servlet}` has an invalid description: output of `{export}`, {at}: {problem}")]
    Description {
        /// The servlet's name.
        servlet: String,
        /// The export that describes the servlet.
        export: &'static str,
        /// A JSON pointer, or the line and column of a syntax error.
        at: String,
        /// What is wrong there.
        problem: String,
    },
    /// What the module says about the servlet cannot be read, or is not what the servlet describes.
    #[error("the contract in `{origin}` {problem}")]
    Contract {
        /// The file or URL of the servlet, or its name.
        origin: String,
        /// What is wrong with the contract.
        problem: String,
    },
    /// The lock of the configuration does not have the servlet.
    #[error("`{servlet}` is not in `servlet.lock`")]
    NotLocked {
        /// The servlet's name.
        servlet: String,
    },
    /// The servlet is not what the operator has approved.
    #[error("`{servlet}` is not what `servlet.lock` has: {problem}")]
    Locked {
        /// The servlet's name.
        servlet: String,
        /// How it differs.
        problem: String,
    },
    /// The servlet failed to list its resources, resource templates or prompts.
    #[error("`{export}` of `{servlet}` failed")]
    List {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// How the export failed.
        source: Box<CallError>,
    },
    /// A list of the servlet is not valid.
    #[error("`{servlet}` has an invalid list: output of `{export}`, {at}: {problem}")]
    BadList {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// A JSON pointer, or the line and column of a syntax error.
        at: String,
        /// What is wrong there.
        problem: String,
    },
    /// A servlet lists two tools with the same name.
    #[error("`{origin}` lists two tools called `{tool}`")]
    DuplicateTool {
        /// The file or URL of the servlet, or its name.
        origin: String,
        /// The name of both tools.
        tool: String,
    },
    /// Another entry already has the name or URI that clients would see, so this entry is left out.
    #[error("{kind} `{entry}` of `{origin}` is skipped: `{owner}` already has the {kind} `{key}`")]
    Taken {
        /// The kind of the entry.
        kind: FeatureKind,
        /// The servlet's own name for the entry.
        entry: String,
        /// The file or URL of the servlet, or its name.
        origin: String,
        /// The name that clients would see, including its prefix, or the URI.
        key: String,
        /// The file, URL or name of the servlet that has the name or URI.
        owner: String,
    },
    /// Earlier servlets already have the URIs of many resources and templates, so these are left out.
    #[error(
        "{} resources and templates are skipped, because earlier members list them; the first: {}",
        all.len(),
        all[0]
    )]
    TakenUris {
        /// A [`Taken`](Self::Taken) for each of them, at least one.
        all: Vec<LoadError>,
    },
    /// A tool is left out, because the search of the host has a tool of this name.
    #[error(
        "a tool `{tool}` of {kind} `{member}` has the name of a tool of `search`; give that {kind} a prefix"
    )]
    SearchName {
        /// The name, including its prefix.
        tool: String,
        /// `servlet` or `remote`.
        kind: &'static str,
        /// The name of that servlet or remote.
        member: String,
    },
    /// A virtual tool is left out.
    #[error("tool `{tool}` of bundle `{bundle}` is skipped: {problem}")]
    VirtualTool {
        /// The name of the bundle.
        bundle: String,
        /// The name of the tool.
        tool: String,
        /// Why it cannot be served.
        problem: String,
    },
    /// Two servlets have resource templates that match the same URIs.
    #[error(
        "resource template `{template}` of `{origin}` matches URIs of `{other}`, a template of `{owner}`"
    )]
    Overlap {
        /// The template of the servlet that is tried second.
        template: String,
        /// The file, URL or name of the second servlet.
        origin: String,
        /// The template of the servlet that is tried first.
        other: String,
        /// The file, URL or name of the first servlet.
        owner: String,
    },
    /// A servlet lists a resource with a URI that a template of an earlier servlet matches.
    #[error("resource `{uri}` of `{origin}` has a URI of `{template}`, a template of `{owner}`")]
    Covered {
        /// The URI of the resource.
        uri: String,
        /// The file, URL or name of the servlet that lists it.
        origin: String,
        /// The template.
        template: String,
        /// The file, URL or name of the servlet with the template.
        owner: String,
    },
}

impl LoadError {
    /// The error, or those that it stands for.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::TakenUris { all } => all,
            one => std::slice::from_ref(one),
        }
    }

    /// Whether the module comes from a URL or a registry that could not be reached. A later attempt may succeed.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Module(error) if error.is_unreachable())
    }

    /// How to fix the error, if there is general advice.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Module(error) => error.help(),
            Self::ToolMemory { .. } => Some(
                "set `memory` in the limits of the servlet, or start an instance for each call: `isolation = \"call\"`"
                    .into(),
            ),
            Self::NotLocked { .. } => Some("approve it with `servlet lock`".into()),
            Self::Locked { servlet, .. } => Some(format!(
                "`servlet lock verify` shows what has changed, and `servlet lock update {servlet}` approves it"
            )),
            Self::Contract { .. } => Some(
                "if the module was changed, build it again or run `servlet stamp` on its file; if its lists depend on the configuration, build it with `servlet build --no-contract`".into(),
            ),
            Self::Taken { kind: FeatureKind::Tool | FeatureKind::Prompt, .. } => {
                Some("give one of the servlets another name or prefix".into())
            }
            Self::Taken { .. } | Self::TakenUris { .. } => {
                Some("a URI belongs to the servlet that lists it first".into())
            }
            Self::Covered { .. } => Some(
                "the servlet that lists the URI answers; change the URI or the template if that is not intended".into(),
            ),
            Self::Overlap { .. } => Some(
                "the first servlet answers: change the order of the servlets, or one of the templates".into(),
            ),
            _ => None,
        }
    }
}

/// The error for an unknown tool. It suggests the most similar known name, if one is similar enough.
pub fn unknown_tool<'a>(tool: &str, known: impl Iterator<Item = &'a str>) -> CallError {
    CallError::unknown_tool(tool, similar(tool, known))
}

/// The error for an unknown prompt. It suggests the most similar known name, if one is similar enough.
pub fn unknown_prompt<'a>(prompt: &str, known: impl Iterator<Item = &'a str>) -> CallError {
    CallError::unknown_prompt(prompt, similar(prompt, known))
}
