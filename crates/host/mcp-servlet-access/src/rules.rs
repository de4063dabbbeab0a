//! Rules: which tools, prompts and resources a caller may use.
//!
//! See `docs/decisions/0070-rules.md`.

mod argument;
mod explain;
mod pattern;
mod prove;
mod uri;
mod when;

use std::collections::BTreeSet;

use mcp_servlet_expression::Budget;
use mcp_servlet_schema::JsonObject;
use serde_json::Value;

use crate::caller::Caller;
pub use argument::Argument;
pub(crate) use argument::{Step, steps};
pub use explain::Answer;
pub use pattern::{Pattern, UriPattern};
pub use prove::{MistakeKind, Proof, ToolSchema};
pub use uri::Uri;
use when::Variables;
pub use when::When;

/// The rules of an endpoint. The first one that holds decides.
///
/// Without a rule for a kind of item, all items of the kind are allowed. Otherwise, what no rule allows is denied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules(pub Vec<Rule>);

/// A rule, which holds if all its parts hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The name in the log, and in the errors of calls whose arguments are denied.
    pub name: String,
    /// What happens if it holds.
    pub effect: Effect,
    /// The tools that it is about.
    pub tools: Vec<Pattern>,
    /// The prompts that it is about.
    pub prompts: Vec<Pattern>,
    /// The resources that it is about.
    pub resources: Vec<UriPattern>,
    /// The members that it is about: servlets, remotes and bundles. Empty for all.
    pub members: Vec<String>,
    /// The hints that a tool must have.
    pub hints: Vec<(Hint, bool)>,
    /// The scopes that the caller must have.
    pub scopes: BTreeSet<String>,
    /// What it says about the arguments of a call.
    pub arguments: Vec<Argument>,
    /// What else must be true.
    pub when: Option<When>,
    /// Text that is added to the error if the arguments of a call are denied.
    pub message: Option<String>,
    /// Whether that error has its name, the argument that it denies, and which values it allows.
    pub explains_denials: bool,
}

/// Whether a rule allows or denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Allows the items.
    Allow,
    /// Denies the items.
    Deny,
}

/// A kind of item that rules can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Tools.
    Tool,
    /// Prompts.
    Prompt,
    /// Resources and resource templates.
    Resource,
}

/// Something that a caller wants to use.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The name or the URI.
    pub name: Name<'a>,
    /// The servlet or remote that has it, or whose tool a virtual tool calls.
    pub member: &'a str,
    /// The bundle of a virtual tool.
    pub bundle: Option<&'a str>,
    /// Its name with the prefix of its member, if it is listed without, or the other way round. None if its name cannot change. A
    /// `deny` for this name denies the item too, so that it holds whichever members there are.
    pub other_name: Option<&'a str>,
}

/// The name or URI of an item.
#[derive(Clone, Debug)]
pub enum Name<'a> {
    /// A tool with these hints, by its name in the list of the endpoint.
    Tool(&'a str, Hints),
    /// A tool that a virtual tool calls, by its own name, and by its name in the list of the endpoint, if that has it.
    Step(&'a str, Option<&'a str>, Hints),
    /// A prompt, by its name in the list of the endpoint.
    Prompt(&'a str),
    /// A resource, or a resource template.
    Resource(&'a Uri),
    /// A resource that a virtual tool reads.
    StepResource(Uri),
}

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
pub enum Arguments<'a> {
    /// They are not known, such as in a list.
    Unknown,
    /// The arguments that the tool gets.
    Known(&'a JsonObject),
}

/// Whether a rule holds, or whether something is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// No.
    No,
    /// It depends on what a list does not know, such as arguments, or the URI that a client makes from a template.
    Maybe,
    /// Yes.
    Yes,
}

/// What the rules say about an item.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'r> {
    /// Whether it is allowed.
    pub allowed: Holds,
    /// The rule that has decided. None if no rule holds.
    pub rule: Option<&'r Rule>,
}

/// A hint of a tool, from its annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// `readOnlyHint`.
    ReadOnly,
    /// `destructiveHint`.
    Destructive,
    /// `idempotentHint`.
    Idempotent,
    /// `openWorldHint`.
    OpenWorld,
}

/// The hints of a tool, in the order of [`Hint`]. A missing one has the default of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints([bool; 4]);

impl Hint {
    /// All hints, in the order of [`Hints`].
    pub const ALL: [Self; 4] = [
        Self::ReadOnly,
        Self::Destructive,
        Self::Idempotent,
        Self::OpenWorld,
    ];

    /// The name in annotations.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "readOnlyHint",
            Self::Destructive => "destructiveHint",
            Self::Idempotent => "idempotentHint",
            Self::OpenWorld => "openWorldHint",
        }
    }
}

impl Hints {
    /// The hints in the annotations of a tool.
    pub fn of(annotations: Option<&Value>) -> Self {
        let hint = |name: &str| annotations.and_then(|all| all.get(name)?.as_bool());
        let read_only = hint("readOnlyHint").unwrap_or(false);
        // MCP's default for `destructiveHint` is for tools that change something.
        let destructive = hint("destructiveHint").unwrap_or(!read_only);
        let idempotent = hint("idempotentHint").unwrap_or(false);
        let open_world = hint("openWorldHint").unwrap_or(true);
        Self([read_only, destructive, idempotent, open_world])
    }

    fn has(self, (hint, value): (Hint, bool)) -> bool {
        self.0[hint as usize] == value
    }
}

impl Name<'_> {
    /// Whether a pattern of a rule matches it; or some of the URIs of a template.
    pub fn matches(&self, pattern: &str) -> bool {
        let is_match = |name: &str| Pattern::new(pattern).matches(name);
        let has_match = |uri: &Uri| UriPattern::new(pattern).matches(uri) != Holds::No;
        match self {
            Self::Tool(name, _) | Self::Prompt(name) => is_match(name),
            Self::Step(own, listed, _) => is_match(own) || listed.is_some_and(is_match),
            Self::Resource(uri) => has_match(uri),
            Self::StepResource(uri) => has_match(uri),
        }
    }

    /// Whether a tool has a hint.
    fn has(&self, hint: (Hint, bool)) -> bool {
        match self {
            Self::Tool(_, hints) | Self::Step(_, _, hints) => hints.has(hint),
            Self::Prompt(_) | Self::Resource(_) | Self::StepResource(_) => false,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Tool(..) | Self::Step(..) => Kind::Tool,
            Self::Prompt(_) => Kind::Prompt,
            Self::Resource(_) | Self::StepResource(_) => Kind::Resource,
        }
    }
}

impl Item<'_> {
    fn is_step(&self) -> bool {
        matches!(self.name, Name::Step(..) | Name::StepResource(_))
    }

    /// Whether it belongs to one of these members. True for an empty list, which means all.
    fn is_of(&self, members: &[String]) -> bool {
        let mut named = members.iter();
        members.is_empty() || named.any(|one| one == self.member || Some(&**one) == self.bundle)
    }
}

impl Holds {
    fn is(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl Rules {
    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there are rules for a kind of item.
    pub fn are_about(&self, kind: Kind) -> bool {
        self.0.iter().any(|rule| rule.is_about(kind))
    }

    /// Whether a caller may use an item. `None` is a caller that the endpoint does not know.
    pub fn decide(
        &self,
        caller: Option<&Caller>,
        item: &Item<'_>,
        arguments: Arguments<'_>,
    ) -> Decision<'_> {
        // A `deny` that may hold decides nothing yet: other arguments, or other URIs of a template, may be allowed.
        self.decide_with(Effect::Allow, caller, item, arguments)
    }

    /// Whether a caller may use an item with any arguments. None if that depends on the arguments.
    pub fn decide_all(&self, caller: Option<&Caller>, item: &Item<'_>) -> Option<bool> {
        let [best, worst] = [Effect::Allow, Effect::Deny].map(|maybe| {
            let decision = self.decide_with(maybe, caller, item, Arguments::Unknown);
            decision.allowed != Holds::No
        });
        (best == worst).then_some(best)
    }

    /// Whether a caller may use an item. Rules that may hold are taken to hold if they have the effect `maybe`.
    fn decide_with(
        &self,
        maybe: Effect,
        caller: Option<&Caller>,
        item: &Item<'_>,
        arguments: Arguments<'_>,
    ) -> Decision<'_> {
        let mut rules = self.about(item).peekable();
        let default = Holds::is(item.is_step() || rules.peek().is_none());
        let mut evaluation = Evaluation::new(caller, item, arguments);
        for (_, rule) in rules {
            let holds = rule.holds(&mut evaluation);
            if rule.decides(holds, maybe) {
                let allowed = match rule.effect {
                    Effect::Allow => holds,
                    Effect::Deny => Holds::No,
                };
                return Decision {
                    allowed,
                    rule: Some(rule),
                };
            }
        }
        Decision {
            allowed: default,
            rule: None,
        }
    }

    /// The rules that apply to this kind of item, with their positions in the list.
    fn about(&self, item: &Item<'_>) -> impl Iterator<Item = (usize, &Rule)> {
        let rules = self.0.iter().enumerate();
        rules.filter(|(_, rule)| rule.applies_to(item))
    }

    /// Whether a rule could hold for an item, for some caller and some arguments.
    pub fn may_apply_to(&self, item: &Item<'_>) -> bool {
        self.0.iter().any(|rule| rule.may_apply_to(item))
    }

    /// Whether a rule for tools reads arguments.
    pub fn read_arguments(&self) -> bool {
        self.0.iter().any(Rule::reads_arguments)
    }

    /// Why a call is denied. None if it is allowed.
    pub fn deny(
        &self,
        caller: Option<&Caller>,
        item: &Item<'_>,
        arguments: &JsonObject,
    ) -> Option<Denial<'_>> {
        let decision = self.decide(caller, item, Arguments::Known(arguments));
        if decision.allowed == Holds::Yes {
            return None;
        }
        // Without a rule that denies, the first one that would allow other arguments says which.
        let mut evaluation = Evaluation::new(caller, item, Arguments::Unknown);
        let would_allow =
            |rule: &&Rule| rule.effect == Effect::Allow && rule.holds(&mut evaluation) != Holds::No;
        let rule = decision.rule.or_else(|| self.0.iter().find(would_allow));
        // The arguments of a step are those of the virtual tool, not of the caller.
        let shown = rule.filter(|rule| rule.explains_denials && !item.is_step());
        let argument = shown.and_then(|rule| {
            let decides = rule.effect == Effect::Deny;
            let mut all = rule.arguments.iter();
            all.find(|one| one.holds(rule.effect, arguments) == decides)
        });
        Some(Denial { rule, argument })
    }
}

/// Why a call is denied.
#[derive(Clone, Copy, Debug)]
pub struct Denial<'r> {
    /// The rule that denies it, or that would allow it with other arguments.
    pub rule: Option<&'r Rule>,
    /// The argument that decides. None if there is none, or if it is not for the caller.
    argument: Option<&'r Argument>,
}

impl Denial<'_> {
    /// What a model reads.
    pub fn text(&self, tool: &str, arguments: &JsonObject) -> String {
        if let Some(rule) = self.rule.filter(|rule| !rule.explains_denials)
            && let Some(message) = &rule.message
        {
            return message.clone();
        }
        let mut text = format!("Not allowed: {tool}");
        if let Some(argument) = self.argument {
            text += " ";
            text += &argument.given(arguments);
        }
        text += ".";
        if let Some((rule, argument)) = self.rule.zip(self.argument) {
            text += match rule.effect {
                Effect::Allow => " Allowed: ",
                Effect::Deny => " Denied: ",
            };
            text += &argument.expected();
            text += ".";
        }
        if let Some(message) = self.rule.and_then(|rule| rule.message.as_ref()) {
            text += " ";
            text += message;
        }
        text
    }

    /// The name of the rule, if the caller may know it.
    pub fn rule_name(&self) -> Option<&str> {
        let rule = self.rule.filter(|rule| rule.explains_denials)?;
        Some(&rule.name)
    }

    /// The path of the argument that decides. None if there is none, or if it is not for the caller.
    pub fn argument(&self) -> Option<String> {
        self.argument.map(Argument::path)
    }
}

/// The inputs of a decision, and the budget that its conditions share.
struct Evaluation<'a> {
    caller: Option<&'a Caller>,
    item: &'a Item<'a>,
    arguments: Arguments<'a>,
    /// The variables of conditions. None until a rule with a condition needs them.
    variables: Option<Variables<'a>>,
    budget: Budget,
}

impl<'a> Evaluation<'a> {
    fn new(caller: Option<&'a Caller>, item: &'a Item<'a>, arguments: Arguments<'a>) -> Self {
        Self {
            caller,
            item,
            arguments,
            variables: None,
            budget: Budget::of_decision(),
        }
    }

    fn condition(&mut self, when: &When, rule: &Rule) -> Holds {
        let (variables, budget) = self.variables();
        when.holds((&rule.name, rule.effect), variables, budget)
    }

    /// Why a condition does not hold.
    fn reason(&mut self, when: &When) -> Option<String> {
        let (variables, budget) = self.variables();
        when.reason(variables, budget)
    }

    fn variables(&mut self) -> (&Variables<'a>, &mut Budget) {
        let (caller, item, arguments) = (self.caller, self.item, self.arguments);
        let new = || Variables::new(caller, item, arguments);
        (self.variables.get_or_insert_with(new), &mut self.budget)
    }
}

impl Rule {
    /// Whether it names items of this kind.
    pub fn is_about(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tool => !self.tools.is_empty(),
            Kind::Prompt => !self.prompts.is_empty(),
            Kind::Resource => !self.resources.is_empty(),
        }
    }

    /// Whether it holds whenever a later rule would, so that the later one is never reached.
    pub fn shadows(&self, later: &Self) -> bool {
        // Only rules with members decide on the calls of virtual tools.
        let has_members = self.members.is_empty() == later.members.is_empty();
        // Equal arguments and conditions of a `deny` also hold where those of an `allow` do not: for one of several values, and
        // without a value.
        let is_as_wide = self.effect == Effect::Deny || later.effect == Effect::Allow;
        self.covers(later)
            && has_members
            && contains(&self.members, &later.members)
            && contains(&later.hints, &self.hints)
            && self.scopes.is_subset(&later.scopes)
            && contains(&later.arguments, &self.arguments)
            && (self.when.is_none() || self.when == later.when)
            && (is_as_wide || self.arguments.is_empty() && self.when.is_none())
    }

    /// Whether it depends on the arguments of a call.
    pub fn reads_arguments(&self) -> bool {
        !self.arguments.is_empty() || self.when.as_ref().is_some_and(When::reads_arguments)
    }

    /// Whether it names all items that another rule names.
    fn covers(&self, other: &Self) -> bool {
        let names = |own: &[Pattern], other: &[Pattern]| {
            let mut other = other.iter();
            other.all(|other| own.iter().any(|own| own.covers(other)))
        };
        let mut uris = other.resources.iter();
        names(&self.tools, &other.tools)
            && names(&self.prompts, &other.prompts)
            && uris.all(|other| self.resources.iter().any(|own| own.covers(other)))
    }

    /// Whether the server checks this rule for the item. It may still name other items.
    pub fn applies_to(&self, item: &Item<'_>) -> bool {
        // A virtual tool gives a narrow use of another tool. Only rules that name the member of that tool restrict it further.
        let may_restrict = !item.is_step() || !self.members.is_empty();
        self.is_about(item.name.kind()) && may_restrict
    }

    /// Whether it could hold for some caller and some arguments.
    pub fn may_apply_to(&self, item: &Item<'_>) -> bool {
        let is_of_member = item.is_of(&self.members);
        self.applies_to(item) && is_of_member && self.names(item) != Holds::No
    }

    /// Whether no later rule is checked. If this one may hold, it decides only with the effect `maybe`.
    fn decides(&self, holds: Holds, maybe: Effect) -> bool {
        holds == Holds::Yes || holds == Holds::Maybe && self.effect == maybe
    }

    fn holds(&self, evaluation: &mut Evaluation<'_>) -> Holds {
        let item = evaluation.item;
        let has_scopes = || {
            let own = evaluation.caller.map(|caller| &caller.scopes);
            self.scopes.is_empty() || own.is_some_and(|own| self.scopes.is_subset(own))
        };
        if !item.is_of(&self.members) || !has_scopes() {
            return Holds::No;
        }
        let holds = self.names(item).min(self.takes(evaluation.arguments));
        match &self.when {
            Some(when) if holds != Holds::No => holds.min(evaluation.condition(when, self)),
            _ => holds,
        }
    }

    fn takes(&self, arguments: Arguments<'_>) -> Holds {
        match arguments {
            _ if self.arguments.is_empty() => Holds::Yes,
            Arguments::Unknown => Holds::Maybe,
            Arguments::Known(arguments) => {
                let mut all = self.arguments.iter();
                Holds::is(all.all(|one| one.holds(self.effect, arguments)))
            }
        }
    }

    fn matches(&self, uri: &Uri) -> Holds {
        let all = self.resources.iter().map(|pattern| pattern.matches(uri));
        all.max().unwrap_or(Holds::No)
    }

    /// The other name of an item that this rule decides about, if it has one.
    fn other_name<'i>(&self, item: &Item<'i>) -> Option<&'i str> {
        item.other_name.filter(|_| self.effect == Effect::Deny)
    }

    /// Whether one of its patterns matches an item; or some of the URIs of a template.
    pub fn matches_name(&self, pattern: &str, item: &Item<'_>) -> bool {
        let other_name = self.other_name(item);
        item.name.matches(pattern)
            || other_name.is_some_and(|name| Pattern::new(pattern).matches(name))
    }

    fn names(&self, item: &Item<'_>) -> Holds {
        let other_name = self.other_name(item);
        let any = |patterns: &[Pattern], name: &str| {
            let is_match = |one: &Pattern| {
                one.matches(name) || other_name.is_some_and(|name| one.matches(name))
            };
            patterns.iter().any(is_match)
        };
        let name = &item.name;
        let has_hints = || self.hints.iter().all(|hint| name.has(*hint));
        match name {
            Name::Tool(name, _) => Holds::is(any(&self.tools, name) && has_hints()),
            Name::Step(own, listed, _) => {
                let is_listed = listed.is_some_and(|name| any(&self.tools, name));
                Holds::is((any(&self.tools, own) || is_listed) && has_hints())
            }
            Name::Prompt(name) => Holds::is(any(&self.prompts, name)),
            Name::Resource(uri) => self.matches(uri),
            Name::StepResource(uri) => self.matches(uri),
        }
    }
}

fn contains<T: PartialEq>(all: &[T], some: &[T]) -> bool {
    some.iter().all(|one| all.contains(one))
}

#[cfg(test)]
mod tests;
