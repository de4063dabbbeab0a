//! Tools: their descriptions, and how the dispatcher calls them.

use crate::answer::tool_result::ToolResult;
use crate::arguments::Parameters;
use crate::describe::exported::{Item, Kind, Run, Runs, kind};
use crate::describe::presentation::Presentation;
use crate::returns::placeholder;
use crate::schema::Node;

impl Kind for kind::tool {
    type Def = ToolDef;
    type Entry = ToolEntry;
    type Output = ToolResult;
    const PLACEHOLDER: Item<Self> = Item {
        def: ToolDef {
            name: "",
            title: "",
            description: "",
            hints: ToolHints::UNSET,
            input: Node::object(&[]),
            output: None,
            presentation: Presentation::NONE,
        },
        entry: ToolEntry {
            name: "",
            parameters: Parameters::fields(&[]),
            call: |_, _| placeholder(),
        },
    };
}

/// The description of a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolDef {
    /// The name that clients call.
    pub name: &'static str,
    /// The name that people see, empty for none.
    pub title: &'static str,
    /// The description of the tool, for the model.
    pub description: &'static str,
    /// What clients may assume of its effects.
    pub hints: ToolHints,
    /// The schema of the arguments.
    pub input: Node,
    /// The schema of the structured result, if there is one.
    pub output: Option<&'static Node>,
    /// Icons, user interface and `_meta`.
    pub presentation: Presentation,
}

impl ToolDef {
    /// The tool, with these ways to split its arguments and to call it.
    pub const fn item(self, parameters: Parameters, runs: Runs<kind::tool>) -> Item<kind::tool> {
        Item {
            def: self,
            entry: ToolEntry {
                name: self.name,
                parameters,
                call: runs.with_limits(self.input.limits_arguments(parameters.are_whole())),
            },
        }
    }
}

/// MCP's tool annotations, hints that a client may show or act on but must not rely on; and
/// instructions for the host.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolHints {
    /// The tool changes nothing (`readOnlyHint`; MCP assumes false).
    pub read_only: Option<bool>,
    /// Its changes may destroy something (`destructiveHint`; MCP assumes true).
    pub destructive: Option<bool>,
    /// Repeating a call with the same arguments has no further effect (`idempotentHint`; MCP assumes false).
    pub idempotent: Option<bool>,
    /// It deals with things outside the host (`openWorldHint`; MCP assumes true).
    pub open_world: Option<bool>,
    /// Whether calls run as tasks: `forbidden`, `optional` or `required` (`execution.taskSupport`).
    pub task: Option<&'static str>,
}

impl ToolHints {
    /// No hint at all.
    pub const UNSET: Self = Self {
        read_only: None,
        destructive: None,
        idempotent: None,
        open_world: None,
        task: None,
    };

    /// Whether there is no annotation.
    pub(crate) const fn are_unset(self) -> bool {
        self.read_only.is_none()
            && self.destructive.is_none()
            && self.idempotent.is_none()
            && self.open_world.is_none()
    }
}

/// A tool as the dispatcher sees it.
#[derive(Debug, Clone, Copy)]
pub struct ToolEntry {
    pub(crate) name: &'static str,
    pub(crate) parameters: Parameters,
    pub(crate) call: Run<ToolResult>,
}
