//! The code that `#[tool]` generates for a function, and how the dispatcher calls it.

use crate::arguments::{Arguments, Failure, Parameters, check_limits};
use crate::context::Context;
use crate::item::{Item, Placeholder};
use crate::presentation::Presentation;
use crate::returns::placeholder;
use crate::schema::Node;
use crate::tool_result::ToolResult;

/// A function that `#[tool]` made a tool.
#[diagnostic::on_unimplemented(
    message = "`tools` in `export!` lists a function that is not a tool",
    label = "put `#[tool]` on this function",
    note = "a function with another attribute, such as `#[prompt]`, belongs in the section of that name"
)]
pub trait Tool {
    /// The tool's description for clients. Only `const` evaluation uses it, so it is not linked.
    const DEF: ToolDef;
    /// How its arguments are split.
    const PARAMETERS: Parameters;
    /// The schema of the arguments as JSON text, to check limits that are not part of their types.
    const SCHEMA: &'static [u8];
    /// The tool as the dispatcher sees it.
    const ENTRY: Entry = Entry {
        name: Self::DEF.name,
        parameters: Self::PARAMETERS,
        call: if Self::DEF
            .input
            .limits_arguments(Self::PARAMETERS.are_whole())
        {
            Self::check_and_call
        } else {
            Self::call
        },
    };

    /// Both, for `export!`.
    const ITEM: ToolItem = Item {
        def: Self::DEF,
        entry: Self::ENTRY,
    };

    /// Reads the arguments, runs the function and converts its return value into a result.
    fn call<'a>(context: &Context, arguments: Arguments<'a>) -> Result<ToolResult, Failure<'a>>;

    /// Checks the limits of the arguments, and then does the same as [`call`](Self::call).
    fn check_and_call<'a>(
        context: &Context,
        arguments: Arguments<'a>,
    ) -> Result<ToolResult, Failure<'a>> {
        check_limits(Self::SCHEMA, &arguments)?;
        Self::call(context, arguments)
    }
}

/// A tool as `export!` lists it.
pub type ToolItem = Item<ToolDef, Entry>;

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
    pub hints: Hints,
    /// The schema of the arguments.
    pub input: Node,
    /// The schema of the structured result, if there is one.
    pub output: Option<&'static Node>,
    /// Icons, user interface and `_meta`.
    pub presentation: Presentation,
}

impl ToolDef {
    /// Used instead of a tool that has errors, so that they cause no further ones.
    pub const PLACEHOLDER: Self = Self {
        name: "",
        title: "",
        description: "",
        hints: Hints::UNSET,
        input: Node::object(&[]),
        output: None,
        presentation: Presentation::NONE,
    };
}

/// MCP's tool annotations, hints that a client may show or act on but must not rely on; and
/// instructions for the host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints {
    /// The tool changes nothing (`readOnlyHint`; MCP assumes false).
    pub read_only: Option<bool>,
    /// Its changes may destroy something (`destructiveHint`; MCP assumes true).
    pub destructive: Option<bool>,
    /// A second equal call changes nothing more (`idempotentHint`; MCP assumes false).
    pub idempotent: Option<bool>,
    /// It deals with things outside the host (`openWorldHint`; MCP assumes true).
    pub open_world: Option<bool>,
    /// Whether calls run as tasks: `forbidden`, `optional` or `required` (`execution.taskSupport`).
    pub task: Option<&'static str>,
}

impl Hints {
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
pub struct Entry {
    pub(crate) name: &'static str,
    pub(crate) parameters: Parameters,
    pub(crate) call: Call,
}

impl Placeholder for Entry {
    const PLACEHOLDER: Self = Self {
        name: "",
        parameters: Parameters::fields(&[]),
        call: |_, _| placeholder(),
    };
}

type Call = for<'a> fn(&Context, Arguments<'a>) -> Result<ToolResult, Failure<'a>>;
