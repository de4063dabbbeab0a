//! Completions: what they suggest values for, and how the dispatcher runs them.

use crate::arguments::Field;
use crate::const_text::{refuse, same};
use crate::describe::exported::{Item, Kind, Run, Runs, kind};
use crate::returns::placeholder;
use mcp_servlet_types::Completion;

impl Kind for kind::completion {
    type Def = CompletionDef;
    type Entry = CompletionEntry;
    type Output = Completion;
    const PLACEHOLDER: Item<Self> = Item {
        def: CompletionDef::PLACEHOLDER,
        entry: CompletionEntry {
            target: CompletionDef::PLACEHOLDER.target,
            argument: "",
            fields: &[],
            suggest: |_, _| placeholder(),
        },
    };
}

/// A function whose arguments can have suggestions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no arguments to complete",
    label = "`of` names a function that carries `#[prompt]` or `#[resource_template]`",
    note = "put the attribute on the function"
)]
pub trait Completed {
    /// The argument or variable that the suggestions are for.
    const TARGET: Target;
}

/// What a completion suggests values for.
#[derive(Debug, Clone, Copy)]
pub struct CompletionDef {
    target: Target,
    argument: &'static str,
    fields: &'static [Field],
}

impl CompletionDef {
    /// Values of `argument`; `fields` are the arguments that the function takes.
    pub const fn new(target: Target, argument: &'static str, fields: &'static [Field]) -> Self {
        Self {
            target,
            argument,
            fields,
        }
    }

    /// Stops the build if the target does not have the argument.
    #[track_caller]
    pub const fn check_argument(&self) {
        self.target.check_has(self.argument);
    }

    /// Stops the build if the target does not have the argument of parameter `index`.
    #[track_caller]
    pub const fn check_parameter(&self, index: usize) {
        self.target.check_has(self.fields[index].name);
    }

    /// The completion, with the ways to run it.
    pub const fn item(self, runs: Runs<kind::completion>) -> Item<kind::completion> {
        Item {
            def: self,
            entry: CompletionEntry {
                target: self.target,
                argument: self.argument,
                fields: self.fields,
                suggest: runs.plain(),
            },
        }
    }

    const PLACEHOLDER: Self = Self {
        target: Target::prompt("", &[]),
        argument: "",
        fields: &[],
    };
}

/// A prompt or a resource template, as completions name it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub(crate) is_prompt: bool,
    /// The name of the prompt, or the template.
    pub(crate) name: &'static str,
    fields: &'static [Field],
}

impl Target {
    /// A prompt.
    pub const fn prompt(name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            is_prompt: true,
            name,
            fields,
        }
    }

    /// A resource template.
    pub const fn template(name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            is_prompt: false,
            name,
            fields,
        }
    }

    #[track_caller]
    const fn check_has(self, name: &str) {
        let mut at = 0;
        while at < self.fields.len() {
            if same(self.fields[at].name, name) {
                return;
            }
            at += 1;
        }
        if !self.name.is_empty() {
            refuse(&["`", self.name, "` has no argument `", name, "`"]);
        }
    }
}

/// A completion as the dispatcher sees it.
#[derive(Debug, Clone, Copy)]
pub struct CompletionEntry {
    pub(crate) target: Target,
    pub(crate) argument: &'static str,
    pub(crate) fields: &'static [Field],
    pub(crate) suggest: Run<Completion>,
}
