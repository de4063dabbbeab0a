//! Rewrites input schemas into ones that a provider accepts.
//!
//! Only clients see the rewritten schema. Arguments are still checked against the schema of the servlet.

mod nulls;
mod steps;

use std::borrow::Cow;

use serde_json::Value;

use super::{GEMINI_KEYWORDS, Provider};
use crate::JsonObject;
use steps::Step;

/// The steps for each provider, in order.
fn steps(provider: Provider) -> &'static [Step] {
    match provider {
        Provider::Anthropic => &[
            Step::InlineReferences,
            Step::FlattenRoot,
            Step::DropLargeBounds,
        ],
        Provider::OpenAi => &[
            Step::InlineReferences,
            Step::FlattenRoot,
            Step::DropExamples,
            Step::GiveItems,
            Step::CloseObjects,
            Step::RequireAll,
            Step::ShortenDescription,
        ],
        Provider::Gemini => &[
            Step::InlineReferences,
            Step::FlattenRoot,
            Step::SplitTypeLists,
            Step::DropOtherEnums,
            Step::GiveItems,
            Step::DropFormats,
            Step::KeepGeminiKeywords,
            Step::DropLargeBounds,
        ],
        // Cursor sends tools to all other providers.
        Provider::Cursor => &[
            Step::InlineReferences,
            Step::FlattenRoot,
            Step::DropLargeBounds,
            Step::DropExamples,
            Step::GiveItems,
            Step::ShortenDescription,
        ],
    }
}

/// Converts the arguments of a call back to the original schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Undo {
    /// The schema before optional properties accepted `null`.
    schema: Value,
}

impl Undo {
    /// The arguments for the original schema: without `null` for optional properties.
    pub fn arguments<'a>(&self, arguments: &'a JsonObject) -> Cow<'a, JsonObject> {
        nulls::without_added_nulls(&self.schema, arguments)
    }
}

/// Rewrites a tool for a provider.
pub fn lower(provider: Provider, tool: &mut JsonObject) -> Option<Undo> {
    let mut undo = None;
    for step in steps(provider) {
        if let (Step::ShortenDescription, Some(Value::String(text))) =
            (step, tool.get_mut("description"))
        {
            steps::shorten(text);
        }
        if let Some(schema @ Value::Object(_)) = tool.get_mut("inputSchema") {
            if *step == Step::RequireAll {
                let schema = schema.clone();
                undo = Some(Undo { schema });
            }
            step.take(schema);
        }
    }
    undo
}

/// The rewriting steps of each provider, as a Markdown table.
pub fn table() -> String {
    let names: Vec<_> = Provider::ALL
        .iter()
        .map(|provider| provider.name())
        .collect();
    let mut table = format!(
        "| step | {} |\n| --- |{}\n",
        names.join(" | "),
        " --- |".repeat(names.len())
    );
    for step in Step::ALL {
        let cells: Vec<_> = Provider::ALL
            .iter()
            .map(|provider| {
                if steps(*provider).contains(&step) {
                    "yes"
                } else {
                    ""
                }
            })
            .collect();
        table.extend(["| ", step.what(), " | ", &cells.join(" | "), " |\n"]);
    }
    table
}

/// Whether `parameters` of Gemini has this keyword.
fn is_gemini_keyword(keyword: &str) -> bool {
    GEMINI_KEYWORDS.contains(&keyword)
}

fn remove(schema: &mut Value, key: &str) -> Option<Value> {
    schema.as_object_mut()?.shift_remove(key)
}

#[cfg(test)]
mod tests;
