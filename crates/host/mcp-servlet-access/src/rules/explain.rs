//! Why rules decide as they do, for their author.

use super::{Arguments, Effect, Evaluation, Holds, Item, Rule, Rules};
use crate::caller::Caller;

/// A rule that the server checked.
#[derive(Clone, Debug)]
pub struct Answer<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// Its number in the list of rules, from 0.
    pub number: usize,
    /// Whether it holds.
    pub holds: Holds,
    /// Why it does not hold, what it depends on, or why its condition cannot be evaluated. Otherwise empty.
    pub reason: String,
}

impl Rules {
    /// The rules that the server checks for an item, in order. The last one decides if it holds. The arguments of a step will be known
    /// to the server, so an `allow` that depends on them is not the last one.
    pub fn explain(
        &self,
        caller: Option<&Caller>,
        item: &Item<'_>,
        arguments: Arguments<'_>,
    ) -> Vec<Answer<'_>> {
        let mut evaluation = Evaluation::new(caller, item, arguments);
        let mut answers = Vec::new();
        for (number, rule) in self.about(item) {
            let holds = rule.holds(&mut evaluation);
            let reason = rule.reason(&mut evaluation).unwrap_or_default();
            answers.push(Answer {
                rule,
                number,
                holds,
                reason,
            });
            if holds == Holds::Yes || rule.decides(holds, Effect::Allow) && !item.is_step() {
                break;
            }
        }
        answers
    }
}

impl Rule {
    /// The first part that does not hold, or that depends on arguments.
    fn reason(&self, evaluation: &mut Evaluation<'_>) -> Option<String> {
        let item = evaluation.item;
        if !item.is_of(&self.members) {
            return Some(format!("it is only for `{}`", self.members.join("`, `")));
        }
        if self.names(item) == Holds::No {
            let hint = self.hints.iter().find(|hint| !item.name.has(**hint));
            return Some(match hint {
                Some((hint, value)) => format!("`{}` is {}", hint.name(), !value),
                None => "it does not name this tool".to_owned(),
            });
        }
        let own = evaluation.caller.map(|caller| &caller.scopes);
        let has = |scope: &&String| own.is_some_and(|own| own.contains(*scope));
        if let Some(scope) = self.scopes.iter().find(|scope| !has(scope)) {
            return Some(format!("the caller does not have the scope `{scope}`"));
        }
        let mut all = self.arguments.iter();
        match evaluation.arguments {
            Arguments::Unknown => {
                if let Some(first) = all.next() {
                    return Some(format!("it depends on the argument `{}`", first.path()));
                }
            }
            Arguments::Known(arguments) => {
                if let Some(argument) = all.find(|one| !one.holds(self.effect, arguments)) {
                    let (given, expected) = (argument.given(arguments), argument.expected());
                    return Some(format!("the call is {given}; expected {expected}"));
                }
            }
        }
        let when = self.when.as_ref()?;
        evaluation.reason(when)
    }
}
