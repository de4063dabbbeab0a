//! Prompts: their descriptions, and how the dispatcher runs them.

use crate::arguments::Field;
use crate::arguments::report::ReportHints;
use crate::describe::exported::{Item, Kind, Run, Runs, kind};
use crate::describe::presentation::Presentation;
use crate::returns::placeholder;
use crate::returns::prompt::PromptResult;
use crate::schema::Node;

impl Kind for kind::prompt {
    type Def = PromptDef;
    type Entry = PromptEntry;
    type Output = PromptResult;
    const PLACEHOLDER: Item<Self> = Item {
        def: PromptDef {
            name: "",
            title: "",
            description: "",
            input: Node::object(&[]),
            presentation: Presentation::NONE,
        },
        entry: PromptEntry {
            name: "",
            fields: &[],
            schema: b"",
            hints: ReportHints::new(b"", b""),
            get: |_, _| placeholder(),
        },
    };
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
    /// The prompt, with its arguments, their schema as JSON text for errors, and the ways to run it.
    pub const fn item(
        self,
        fields: &'static [Field],
        schema: &'static [u8],
        runs: Runs<kind::prompt>,
    ) -> Item<kind::prompt> {
        Item {
            def: self,
            entry: PromptEntry {
                name: self.name,
                fields,
                schema,
                hints: ReportHints::new(schema, b""),
                get: runs.with_limits(self.input.limits_arguments(false)),
            },
        }
    }
}

/// A prompt as the dispatcher sees it.
#[derive(Debug, Clone, Copy)]
pub struct PromptEntry {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
    pub(crate) schema: &'static [u8],
    pub(crate) hints: ReportHints,
    pub(crate) get: Run<PromptResult>,
}
