//! Rewrites input schemas to what a provider takes.
//!
//! Only what clients see is rewritten: arguments are checked by the schema that the servlet has.

mod steps;

use serde_json::Value;

use super::{GEMINI_KEYWORDS, Provider};
use crate::JsonObject;
use steps::Step;

/// The steps for each provider, in the order in which they are taken.
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
        // It sends tools to all of the others.
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

/// Rewrites a tool for a provider.
pub(crate) fn lower(provider: Provider, tool: &mut JsonObject) {
    for step in steps(provider) {
        if let (Step::ShortenDescription, Some(Value::String(text))) =
            (step, tool.get_mut("description"))
        {
            steps::shorten(text);
        }
        if let Some(schema @ Value::Object(_)) = tool.get_mut("inputSchema") {
            step.take(schema);
        }
    }
}

/// What is rewritten for which provider, as a table in Markdown.
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

/// Whether Gemini's `parameters` have the keyword.
fn is_gemini_keyword(keyword: &str) -> bool {
    GEMINI_KEYWORDS.contains(&keyword)
}

#[cfg(test)]
mod tests;
