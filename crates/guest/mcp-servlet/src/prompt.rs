//! The code that `#[prompt]` generates for a function, and how the dispatcher calls it.

mod result;

pub use self::result::{IntoPromptResult, PromptResult, PromptReturns, prompt_returns};
use crate::arguments::{Arguments, Failure, Field, check_limits};
use crate::context::Context;
use crate::item::{Item, Placeholder};
use crate::presentation::Presentation;
use crate::report::Hints;
use crate::returns::placeholder;
use crate::schema::Node;

/// A function with `#[prompt]`.
#[diagnostic::on_unimplemented(
    message = "`prompts` in `export!` lists a function that is not a prompt",
    label = "put `#[prompt]` on this function",
    note = "a function with another attribute, such as `#[tool]`, belongs in the section of that name"
)]
pub trait Prompt {
    /// The prompt's description for clients. Only `const` evaluation uses it, so it is not linked.
    const DEF: PromptDef;
    /// The arguments.
    const FIELDS: &'static [Field];
    /// The schema of the arguments as JSON text, for errors.
    const SCHEMA: &'static [u8];
    /// The prompt as the dispatcher sees it.
    const ENTRY: PromptEntry = PromptEntry {
        name: Self::DEF.name,
        fields: Self::FIELDS,
        schema: Self::SCHEMA,
        hints: Hints::new(Self::SCHEMA, b""),
        get: if Self::DEF.input.limits_arguments(false) {
            Self::check_and_get
        } else {
            Self::get
        },
    };

    /// Both, for `export!`.
    const ITEM: Item<PromptDef, PromptEntry> = Item {
        def: Self::DEF,
        entry: Self::ENTRY,
    };

    /// Reads the arguments, runs the function and converts its return value into messages.
    fn get<'a>(context: &Context, arguments: Arguments<'a>) -> Result<PromptResult, Failure<'a>>;

    /// Checks the limits of the arguments, and then does the same as [`get`](Self::get).
    fn check_and_get<'a>(
        context: &Context,
        arguments: Arguments<'a>,
    ) -> Result<PromptResult, Failure<'a>> {
        check_limits(Self::SCHEMA, &arguments)?;
        Self::get(context, arguments)
    }
}

/// The description of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct PromptDef {
    /// The name that clients request.
    pub name: &'static str,
    /// The name that people see, empty for none.
    pub title: &'static str,
    /// The description, for the user.
    pub description: &'static str,
    /// The schema of the arguments.
    pub input: Node,
    /// How clients show it.
    pub presentation: Presentation,
}

impl PromptDef {
    /// Used instead of a prompt that has errors.
    pub const PLACEHOLDER: Self = Self {
        name: "",
        title: "",
        description: "",
        input: Node::object(&[]),
        presentation: Presentation::NONE,
    };
}

/// A prompt as the dispatcher sees it.
#[derive(Debug, Clone, Copy)]
pub struct PromptEntry {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
    pub(crate) schema: &'static [u8],
    pub(crate) hints: Hints,
    pub(crate) get: Get,
}

impl Placeholder for PromptEntry {
    const PLACEHOLDER: Self = Self {
        name: "",
        fields: &[],
        schema: b"",
        hints: Hints::new(b"", b""),
        get: |_, _| placeholder(),
    };
}

type Get = for<'a> fn(&Context, Arguments<'a>) -> Result<PromptResult, Failure<'a>>;
