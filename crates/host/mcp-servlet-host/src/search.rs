//! Hosts that list tools to find and call others, instead of all tools.

mod index;

use std::{
    iter,
    sync::{LazyLock, OnceLock},
};

use mcp_servlet_call::JsonObject;
use mcp_servlet_runtime::glob_matches;
use mcp_servlet_schema::{Provider, Schemas};
use serde_json::{Value, json};

use crate::{Host, Tool};
use index::Index;

/// The name of the tool that finds others.
pub const FIND_TOOLS: &str = "find_tools";
/// The name of the tool that calls another tool, which must be declared read-only.
pub const CALL_READ_ONLY_TOOL: &str = "call_read_only_tool";
/// The name of the tool that calls any other one.
pub const CALL_TOOL: &str = "call_tool";

/// The names of the tools of a search, in the order in which they are listed.
pub const NAMES_OF_SEARCH: [&str; 3] = [FIND_TOOLS, CALL_READ_ONLY_TOOL, CALL_TOOL];

/// How many tools are found at most.
const MAX_FOUND: u64 = 20;
/// How many characters a query may have.
const LONGEST_QUERY: u64 = 1_000;
/// How many tools are found if a call does not say.
const DEFAULT_FOUND: u64 = 5;

/// A host that lists `find_tools`, `call_read_only_tool` and `call_tool` instead of all tools.
///
/// Start with `Search::default()` and set fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Search {
    /// Patterns for the names of the other tools that are listed, in which `*` matches any text and `?` one character.
    pub always: Vec<String>,
}

/// A call of a search tool.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchCall {
    /// Tools for a purpose.
    Find {
        /// The purpose, in words.
        query: String,
        /// How many tools at most.
        most: usize,
    },
    /// The call of another tool.
    Call {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Option<JsonObject>,
        /// Whether it must be declared read-only.
        must_be_read_only: bool,
    },
}

/// The search of a host.
#[derive(Debug)]
pub(crate) struct Searched {
    pub(crate) search: Search,
    tools: [Tool; NAMES_OF_SEARCH.len()],
    /// Built at the first query.
    index: OnceLock<Index>,
}

impl Search {
    /// Whether a tool is listed.
    pub fn lists(&self, name: &str) -> bool {
        let mut patterns = self.always.iter();
        patterns.any(|pattern| glob_matches(pattern, name))
    }
}

impl Searched {
    pub(crate) fn new(search: Search, schemas_for: Option<Provider>) -> Self {
        Self {
            search,
            tools: tools(schemas_for),
            index: OnceLock::new(),
        }
    }
}

/// The tools of a search, with schemas that a provider accepts.
fn tools(provider: Option<Provider>) -> [Tool; NAMES_OF_SEARCH.len()] {
    let text = |description: &str| json!({ "type": "string", "description": description });
    // OpenAI does not accept objects with any properties.
    let arguments = if provider == Some(Provider::OpenAi) {
        text("Its arguments, as the JSON text of an object that matches its inputSchema.")
    } else {
        json!({ "type": "object", "description": "Its arguments, which must match its inputSchema." })
    };
    let most = json!({
        "type": "integer", "minimum": 1, "maximum": MAX_FOUND, "default": DEFAULT_FOUND,
        "description": "How many tools to return at most.",
    });
    let query = json!({
        "type": "string", "maxLength": LONGEST_QUERY,
        "description": "What the tool should do, in a few words, or its name. An empty query returns the servers.",
    });
    let call = json!({ "name": text("The name of the tool."), "arguments": arguments });
    let is_read_only = json!({ "readOnlyHint": true });
    let tool = |name: &str, description: &str, properties: &Value, required: &str| {
        let mut tool = json!({
            "name": name,
            "description": description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": [required],
                "additionalProperties": false,
            },
        });
        if name != CALL_TOOL {
            tool["annotations"] = is_read_only.clone();
        }
        let tool = tool.as_object().cloned().unwrap_or_default();
        let mut tool = Tool::new(tool).expect("it has a name and a schema");
        if let Some(provider) = provider {
            tool.lower(provider);
        }
        tool
    };
    [
        tool(
            FIND_TOOLS,
            "Finds tools. This server has more tools than it lists: search for what you need before you decide that there is none. \
             Returns names, descriptions and input schemas, the best match first. Call what you found with call_read_only_tool or \
             call_tool.",
            &json!({ "query": query, "most": most }),
            "query",
        ),
        tool(
            CALL_READ_ONLY_TOOL,
            "Calls a tool that find_tools returned, if it is declared read-only, and returns its result.",
            &call,
            "name",
        ),
        tool(
            CALL_TOOL,
            "Calls any tool that find_tools returned, and returns its result.",
            &call,
            "name",
        ),
    ]
}

impl Host {
    /// How the host lists its tools. `None` if it lists all.
    pub fn search(&self) -> Option<&Search> {
        self.searched.as_ref().map(|searched| &searched.search)
    }

    /// The tools of the search, if the host has one. They are not among [`tools`](Self::tools).
    pub fn search_tools(&self) -> &[Tool] {
        let searched = self.searched.as_ref();
        searched.map_or(&[], |searched| &searched.tools)
    }

    /// The tools that are listed for clients: all, or those of the search and the others that it lists.
    pub fn listed_tools(&self) -> impl Iterator<Item = &Tool> {
        let search = self.search();
        let is_listed = move |tool: &&Tool| search.is_none_or(|search| search.lists(tool.name()));
        let others = self.tools().filter(is_listed);
        self.search_tools().iter().chain(others)
    }

    /// The name of the servlet or remote that has a tool, or of the bundle of a virtual tool.
    pub fn server_of(&self, tool: &str) -> Option<&str> {
        let member = || Some(self.member_of(tool)?.name());
        self.bundle_of(tool).or_else(member)
    }

    /// The tools that match a query, the best first. Only tools that `is_shown` accepts are found, and others do not influence the
    /// order. Empty if the host has no search.
    pub fn find_tools(&self, query: &str, is_shown: impl Fn(&Tool) -> bool) -> Vec<&Tool> {
        let Some(searched) = &self.searched else {
            return Vec::new();
        };
        let tools: Vec<_> = self.tools().collect();
        let index = searched.index.get_or_init(|| {
            let server = |tool: &Tool| self.server_of(tool.name()).unwrap_or_default();
            Index::of(tools.iter().map(|tool| (*tool, server(tool))))
        });
        let shown: Vec<_> = tools.iter().map(|tool| is_shown(tool)).collect();
        let of_name = tools
            .iter()
            .position(|tool| tool.name() == query.trim())
            .filter(|at| shown[*at]);
        let found = index
            .find(query, &shown)
            .into_iter()
            .filter(|at| Some(*at) != of_name);
        of_name
            .into_iter()
            .chain(found)
            .map(|at| tools[at])
            .collect()
    }

    /// What a call asks for. `None` if it is not a call of a tool of the search; an error for the model if its arguments are
    /// invalid.
    pub fn search_call(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Option<Result<SearchCall, String>> {
        static SCHEMAS: LazyLock<[Schemas; NAMES_OF_SEARCH.len()]> = LazyLock::new(|| {
            tools(None).map(|tool| Schemas::of(tool.json()).expect("its schema is valid"))
        });
        let searched = self.searched.as_ref()?;
        let mut tools = iter::zip(&searched.tools, &*SCHEMAS);
        let (tool, schemas) = tools.find(|(one, _)| one.name() == tool)?;
        let mut arguments = arguments.map(|arguments| tool.arguments(arguments).into_owned());
        if let Some(inner) = arguments.as_mut().and_then(|all| all.get_mut("arguments")) {
            read_text(inner);
        }
        let arguments = match schemas.arguments(true, arguments.as_ref()) {
            Ok(arguments) => arguments.unwrap_or_default(),
            Err(problem) => return Some(Err(problem)),
        };
        let text = |key: &str| arguments.get(key)?.as_str().map(str::to_owned);
        Some(Ok(if tool.name() == FIND_TOOLS {
            let most = arguments.get("most").and_then(Value::as_u64);
            SearchCall::Find {
                query: text("query").unwrap_or_default(),
                most: usize::try_from(most.unwrap_or(DEFAULT_FOUND)).unwrap_or(usize::MAX),
            }
        } else {
            SearchCall::Call {
                name: text("name").unwrap_or_default(),
                arguments: arguments
                    .get("arguments")
                    .and_then(Value::as_object)
                    .cloned(),
                must_be_read_only: tool.name() == CALL_READ_ONLY_TOOL,
            }
        }))
    }
}

/// Replaces the JSON text of an object, as some models write it, by the object.
fn read_text(arguments: &mut Value) {
    let object = arguments.as_str().map(serde_json::from_str::<JsonObject>);
    if let Some(Ok(object)) = object {
        *arguments = object.into();
    }
}
