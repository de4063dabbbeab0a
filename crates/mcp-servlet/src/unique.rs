//! Two things of one name stop the build, in `const` evaluation.

use crate::completion::CompletionEntry;
use crate::prompt::PromptEntry;
use crate::resource::ResourceEntry;
use crate::tool::Entry;

macro_rules! checks {
    ($($(#[$doc:meta])* $check:ident($entry:ty, $field:ident, $message:literal);)*) => {
        $($(#[$doc])*
        pub(crate) const fn $check(entries: &[$entry]) {
            let mut first = 0;
            while first < entries.len() {
                let mut second = first + 1;
                while second < entries.len() {
                    check(entries[first].$field, entries[second].$field, $message);
                    second += 1;
                }
                first += 1;
            }
        })*
    };
}

checks! {
    /// Panics with the name that two tools share.
    check_tools(Entry, name, "two tools are called `");
    /// Panics with the name that two prompts share.
    check_prompts(PromptEntry, name, "two prompts are called `");
    /// Panics with the address that two resources share.
    check_resources(ResourceEntry, uri, "two resources have the address `");
}

/// Panics if the names are the same; those with errors stand without a name, and their errors say what is wrong.
const fn check(one: &str, other: &str, message: &str) {
    if !one.is_empty() && same(one, other) {
        refuse(message, one, "", "");
    }
}

/// Panics with the argument that two completions suggest values for.
pub(crate) const fn check_completions(entries: &[CompletionEntry]) {
    let mut first = 0;
    while first < entries.len() {
        let mut second = first + 1;
        while second < entries.len() {
            check_completion(&entries[first], &entries[second]);
            second += 1;
        }
        first += 1;
    }
}

const fn check_completion(one: &CompletionEntry, other: &CompletionEntry) {
    let (target, argument) = (one.target.name, one.argument);
    if one.target.is_prompt == other.target.is_prompt
        && !target.is_empty()
        && same(target, other.target.name)
        && same(argument, other.argument)
    {
        refuse("two completions are for `", argument, "` of `", target);
    }
}

pub(crate) const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// More than a sentence about two names of at most 128 characters needs; longer addresses are cut.
const SENTENCE: usize = 512;

/// Panics with the pieces and a closing backtick; names come second and fourth.
pub(crate) const fn refuse(start: &str, name: &str, between: &str, other: &str) -> ! {
    let mut message = [0; SENTENCE];
    let end = append(&mut message, 0, start);
    let end = append(&mut message, end, name);
    let end = append(&mut message, end, between);
    let end = append(&mut message, end, other);
    let end = append(&mut message, end, "`");
    match core::str::from_utf8(message.split_at(end).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("two things have one name"),
    }
}

const fn append(message: &mut [u8; SENTENCE], start: usize, text: &str) -> usize {
    let text = text.as_bytes();
    let mut at = 0;
    while at < text.len() && start + at < message.len() {
        message[start + at] = text[at];
        at += 1;
    }
    start + at
}

#[cfg(test)]
mod tests {
    use super::check_tools;
    use crate::surface::item::Blank;
    use crate::tool::Entry;

    #[test]
    fn those_with_errors_have_no_name_to_share() {
        check_tools(&[Entry::BLANK, Entry::BLANK]);
    }
}
