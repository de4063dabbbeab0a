//! Why rules decide as they do, for their author.

use super::{Arguments, Asked, Effect, Holds, Item, Rule, Rules};
use crate::caller::Caller;

/// A rule that was asked.
#[derive(Clone, Debug)]
pub struct Answer<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// Its number in the list of rules, from 0.
    pub number: usize,
    /// Whether it holds.
    pub holds: Holds,
    /// Why it does not hold, or what it depends on. Empty if it holds.
    pub reason: String,
}

impl Rules {
    /// The rules that are asked about an item, in their order. If the last one holds, it decides.
    pub fn explain(
        &self,
        caller: Option<&Caller>,
        item: &Item<'_>,
        arguments: Arguments<'_>,
    ) -> Vec<Answer<'_>> {
        let mut asked = Asked::new(caller, item, arguments);
        let mut answers = Vec::new();
        for (number, rule) in self.about(item) {
            let holds = rule.holds(&mut asked);
            let reason = rule.reason(&mut asked).unwrap_or_default();
            answers.push(Answer {
                rule,
                number,
                holds,
                reason,
            });
            if holds == Holds::Yes || holds == Holds::Maybe && rule.effect == Effect::Allow {
                break;
            }
        }
        answers
    }
}

impl Rule {
    /// The first part that does not hold, or that depends on arguments.
    fn reason(&self, asked: &mut Asked<'_>) -> Option<String> {
        let item = asked.item;
        if !self.members.is_empty() && !item.is_of(&self.members) {
            return Some(format!("it is about `{}`", self.members.join("`, `")));
        }
        if self.names(&item.name) == Holds::No {
            let hint = self.hints.iter().find(|hint| !item.name.has(**hint));
            return Some(match hint {
                Some((hint, value)) => format!("`{}` is {}", hint.name(), !value),
                None => "it names others".to_owned(),
            });
        }
        let own = asked.caller.map(|caller| &caller.scopes);
        let has = |scope: &&String| own.is_some_and(|own| own.contains(*scope));
        if let Some(scope) = self.scopes.iter().find(|scope| !has(scope)) {
            return Some(format!("the caller does not have the scope `{scope}`"));
        }
        let mut all = self.arguments.iter();
        match asked.arguments {
            Arguments::Unknown => {
                if let Some(first) = all.next() {
                    return Some(format!("it depends on the argument `{}`", first.path()));
                }
            }
            Arguments::Known(arguments) => {
                if let Some(argument) = all.find(|one| !one.holds(self.effect, arguments)) {
                    let (given, expected) = (argument.given(arguments), argument.expected());
                    return Some(format!("the call is {given}; {expected}"));
                }
            }
        }
        let when = self.when.as_ref()?;
        asked.reason(when)
    }
}
