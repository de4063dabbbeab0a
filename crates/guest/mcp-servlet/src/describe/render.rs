//! Renders descriptions of servlets to JSON text in `const` evaluation; `schema` renders the schemas in them.
//!
//! The same functions write everything twice: once into an empty buffer, to get the length, and
//! once into an array of that length.

mod example;
mod json;
mod keys;
pub(crate) mod lists;
mod needs;
mod presentation;
mod schema;
mod sides;
#[cfg(test)]
mod tests;

use self::json::Text;
use crate::describe::exported::{Item, kind};
use crate::describe::tool::{ToolDef, ToolHints};
use crate::schema::Kind;
use crate::schema::gaps::Generators;
use crate::schema::kind::Place;
use crate::wire::HYPER_MCP;

/// The description of a servlet: the result of `describe`.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// The servlet's name.
    pub name: &'static str,
    /// The servlet's version.
    pub version: &'static str,
    /// How a model should use the servlet, empty for none.
    pub instructions: &'static str,
    /// The tools, in the order of the source.
    pub tools: &'static [Item<kind::tool>],
}

impl Description {
    /// The length of the rendered description in bytes.
    pub const fn length(&self) -> usize {
        let mut text = Text::<0>::new();
        text.everything(self);
        text.length
    }

    /// The description as JSON, then a zero byte, and example arguments of each tool as a JSON array; `N` is
    /// the [`length`](Self::length) of everything.
    pub const fn render<const N: usize>(&self) -> [u8; N] {
        let mut text = Text::<N>::new();
        text.everything(self);
        text.bytes
    }

    /// The generators that fill the gaps of the rendered description.
    #[cfg(feature = "schemars")]
    pub const fn generators(&self) -> Generators {
        let mut text = Text::<0>::new();
        text.everything(self);
        text.generators
    }

    /// Without `schemars`, there are none.
    #[cfg(not(feature = "schemars"))]
    pub const fn generators(&self) -> Generators {
        Generators::NONE
    }
}

/// Splits the text that `render` wrote into the description and the examples.
pub(crate) const fn split(text: &'static [u8]) -> (&'static [u8], &'static [u8]) {
    let (mut at, length) = (0, text.len());
    while at < length {
        // JSON has no zero byte.
        if text[at] == 0 {
            let (description, rest) = text.split_at(at);
            return (description, rest.split_at(1).1);
        }
        at += 1;
    }
    (text, b"")
}

/// The side of a tool that a schema describes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Arguments: optional properties are not required, and never `null`.
    Input,
    /// Results: everything that serde always writes is required, and `None` is `null`.
    Output,
}

impl<const N: usize> Text<N> {
    /// The description, and the examples after it.
    const fn everything(&mut self, servlet: &Description) {
        self.description(servlet);
        self.byte(0);
        self.byte(b'[');
        let mut at = 0;
        while at < servlet.tools.len() {
            self.separate();
            // There is no example if the schema is not understood.
            if Text::<0>::new().arguments_example(&servlet.tools[at].def.input) {
                self.arguments_example(&servlet.tools[at].def.input);
            } else {
                self.raw("null");
            }
            at += 1;
        }
        self.byte(b']');
    }

    /// With one tool, both historic shapes of `describe` at once: the tool itself, and the list of tools.
    const fn description(&mut self, servlet: &Description) {
        self.byte(b'{');
        if let ([tool], false) = (servlet.tools, HYPER_MCP) {
            self.tool(&tool.def);
        }
        self.key("tools");
        self.byte(b'[');
        let mut at = 0;
        while at < servlet.tools.len() {
            self.separate();
            self.byte(b'{');
            self.tool(&servlet.tools[at].def);
            self.byte(b'}');
            at += 1;
        }
        self.byte(b']');
        self.key("serverInfo");
        self.byte(b'{');
        self.text("name", servlet.name);
        self.text("version", servlet.version);
        self.byte(b'}');
        self.text("instructions", servlet.instructions);
        self.byte(b'}');
    }

    /// The members of one tool's description.
    const fn tool(&mut self, tool: &ToolDef) {
        self.key("name");
        self.string(tool.name);
        self.text("title", tool.title);
        let description = tool.description.trim_ascii();
        self.key("description");
        self.string(if description.is_empty() {
            tool.name
        } else {
            description
        });
        self.key("inputSchema");
        self.arguments(&tool.input);
        if let Some(output) = tool.output {
            if let Kind::Generated(generate) = output.kind {
                self.gap(generate, Place::Result, output.description, "");
            } else {
                self.key("outputSchema");
                self.node(output, "", false, Side::Output);
            }
        }
        if !tool.hints.are_unset() {
            self.hints(tool.hints);
        }
        if let Some(task) = tool.hints.task {
            self.key("execution");
            self.byte(b'{');
            self.text("taskSupport", task);
            self.byte(b'}');
        }
        self.presentation(&tool.presentation);
    }

    const fn hints(&mut self, hints: ToolHints) {
        self.key("annotations");
        self.byte(b'{');
        self.hint("readOnlyHint", hints.read_only);
        self.hint("destructiveHint", hints.destructive);
        self.hint("idempotentHint", hints.idempotent);
        self.hint("openWorldHint", hints.open_world);
        self.byte(b'}');
    }

    const fn hint(&mut self, name: &str, value: Option<bool>) {
        match value {
            Some(true) => self.json(name, "true"),
            Some(false) => self.json(name, "false"),
            None => {}
        }
    }
}
