//! Two entries of one name stop the build, in `const` evaluation.
//!
//! Each check is a constant of its own, at the second entry in the source, and nothing else depends on
//! it: so the compiler reports one error there. The functions that panic are `#[track_caller]`, which
//! keeps them out of its report.

use crate::const_text::{refuse, same};
use crate::describe::completion::CompletionEntry;
use crate::describe::exported::{Item, kind};
use crate::describe::resource::ResourceEntry;
use crate::describe::resource::template::order;

macro_rules! checks {
    ($($(#[$doc:meta])* $check:ident($kind:ident, $one:ident, $other:ident) $($same:expr => $message:expr),+;)*) => {
        $($(#[$doc])*
        ///
        /// `numbers` are the positions of the entries in the source, where `#[cfg]` may leave some out.
        #[track_caller]
        pub const fn $check(items: &[Item<kind::$kind>], numbers: &[usize], number: usize) {
            let index = index_of(numbers, number);
            let $other = &items[index].entry;
            let mut at = 0;
            while at < index {
                let $one = &items[at].entry;
                $(if $same {
                    refuse($message);
                })+
                at += 1;
            }
        })*
    };
}

checks! {
    /// Panics if a tool before the one with this number has its name.
    unique_tool(tool, one, other) is_twin(one.name, other.name) =>
        &["two tools are called `", one.name, "`\nhelp: give one of them another name: `#[tool(name = \"…\")]`"];
    /// Panics if a prompt before the one with this number has its name.
    unique_prompt(prompt, one, other) is_twin(one.name, other.name) =>
        &["two prompts are called `", one.name, "`\nhelp: give one of them another name: `#[prompt(name = \"…\")]`"];
    /// Panics if a resource before the one with this number has its URI, or matches the same URIs.
    unique_resource(resource, one, other)
        are_fixed(one, other) && is_twin(one.uri, other.uri) =>
            &["two resources have the URI `", one.uri, "`\nhelp: give one of them another: `#[resource(uri = \"…\")]`"],
        are_alike(one, other) =>
            &["two resource templates match the same URIs: `", one.uri, "` and `", other.uri,
                "`\nhelp: begin one of them with other text"];
    /// Panics if a completion before the one with this number suggests values for the same argument.
    unique_completion(completion, one, other) is_same_target(one, other) =>
        &["two completions are for `", one.argument, "` of `", one.target.name, "`\nhelp: remove one of them from `completions`"];
}

const fn are_fixed(one: &ResourceEntry, other: &ResourceEntry) -> bool {
    one.template.is_none() && other.template.is_none()
}

/// Whether two templates match the same URIs.
const fn are_alike(one: &ResourceEntry, other: &ResourceEntry) -> bool {
    match (&one.template, &other.template) {
        (Some(one), Some(other)) => order::are_alike(one, other),
        _ => false,
    }
}

const fn index_of(numbers: &[usize], number: usize) -> usize {
    let mut at = 0;
    while at < numbers.len() && numbers[at] != number {
        at += 1;
    }
    at
}

/// Whether two names are equal. Entries with errors have an empty name and are reported elsewhere.
const fn is_twin(one: &str, other: &str) -> bool {
    !one.is_empty() && same(one, other)
}

const fn is_same_target(one: &CompletionEntry, other: &CompletionEntry) -> bool {
    one.target.is_prompt == other.target.is_prompt
        && is_twin(one.target.name, other.target.name)
        && same(one.argument, other.argument)
}
