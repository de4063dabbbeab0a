//! The rules of endpoints: what a file says about them, checked.

mod explain;
mod proof;

use std::{collections::BTreeSet, ops::Range};

use mcp_servlet_access::{
    AuthOptions,
    rules::{Argument, Effect, Hint, Kind, Pattern, Rule, Rules, UriPattern, When},
};
use mcp_servlet_host::Entry;
use mcp_servlet_server::{Endpoint, EndpointTransport};
use serde_json::Value;
use toml::Spanned;

use super::{
    Problem, Reader,
    file::{EndpointSection, File, NamesByKind, Prove, RuleNames, RuleSection},
    members::Members,
    problem::inside,
    table::Table,
};
pub use explain::{ExplainedReject, ExplainedRule, ExplainedStep, Explanation, ServedEndpoint};

/// A rule of the file, and where its parts are.
#[derive(Clone, Debug)]
pub(super) struct ReadRule {
    endpoint: String,
    line: usize,
    /// Whether everything must be proved.
    is_strict: bool,
    rule: Rule,
    tools: Vec<Spanned<String>>,
    prompts: Vec<Spanned<String>>,
    resources: Vec<Spanned<String>>,
    arguments: Vec<Range<usize>>,
    when: Option<Range<usize>>,
}

type RuleTable = Spanned<Table<RuleSection>>;

impl Reader<'_> {
    /// Sets the rules of the endpoints, and returns them.
    pub(super) fn rules(
        &mut self,
        file: &File,
        endpoints: &mut [Endpoint],
        members: (&Members, &[Entry]),
    ) -> Vec<ReadRule> {
        let mut all = Vec::new();
        for endpoint in endpoints {
            let Some(section) = file.endpoint.get(&endpoint.name) else {
                continue;
            };
            let section = section.get_ref();
            let mut rules: Vec<(Rule, usize)> = Vec::new();
            for table in &section.rules {
                let Some(mut rule) = self.rule(endpoint, table, members) else {
                    continue;
                };
                rule.explains_denials = section.explain_denials.unwrap_or(true);
                self.untrusted_hints(file, endpoint, table, &rule);
                let before = rules.iter().find(|(one, _)| one.shadows(&rule));
                if let Some((_, line)) = before {
                    let message = format!(
                        "this rule is never reached: the rule in line {line} decides all that it names"
                    );
                    self.problem(names_span(table), message);
                }
                let line = self.line(table.span().start);
                all.push(read_rule((&endpoint.name, line), section, table, &rule));
                rules.push((rule, line));
            }
            if rules.len() == section.rules.len() {
                self.allows_nothing(section, &rules);
            }
            let rules = rules.into_iter().map(|(rule, _)| rule);
            endpoint.options.rules = Rules(rules.collect());
        }
        all
    }

    fn rule(
        &mut self,
        endpoint: &Endpoint,
        spanned: &RuleTable,
        (members, entries): (&Members, &[Entry]),
    ) -> Option<Rule> {
        let table = spanned.get_ref();
        // The keys of a rule that cannot be read are missing here.
        let is_in = |problem: &Problem| spanned.span().contains(&problem.span.start);
        if self.problems.iter().any(is_in) {
            return None;
        }
        let (effect, names) = match (&table.allow, &table.deny) {
            (Some(names), None) => (Effect::Allow, names),
            (None, Some(names)) => (Effect::Deny, names),
            (None, None) => {
                let message = "missing key: a rule needs `allow` or `deny`";
                self.problem(spanned.span(), message.to_owned());
                return None;
            }
            (Some(_), Some(deny)) => {
                let message = "give `allow` or `deny`, not both";
                self.problem(deny.span(), message.to_owned());
                return None;
            }
        };
        let NamesByKind {
            tools,
            prompts,
            resources,
        } = &names.get_ref().0;
        if tools.is_empty() && prompts.is_empty() && resources.is_empty() {
            let message = "expected a name or a pattern, such as `*`";
            self.problem(names.span(), message.to_owned());
            return None;
        }
        if let Some(annotations) = table.annotations.as_ref().filter(|_| tools.is_empty()) {
            let message = "`annotations` is for tools; prompts and resources have none";
            self.problem(annotations.span(), message.to_owned());
        }
        let members = self.members_of_rule(table, members, entries);
        let scopes = self.scopes_of_rule(table, effect, endpoint);
        let is_for_tools = prompts.is_empty() && resources.is_empty();
        let arguments = self.arguments_of_rule(table, effect, is_for_tools);
        let when = self.when_of_rule(table, is_for_tools, endpoint);
        if when.is_none() && table.when.is_some() {
            // Without its condition, the rule would hold for everyone.
            return None;
        }
        let line = self.line(spanned.span().start);
        Some(Rule {
            name: table.name.clone().unwrap_or(format!("line {line}")),
            effect,
            tools: patterns(tools, Pattern::new),
            prompts: patterns(prompts, Pattern::new),
            resources: patterns(resources, UriPattern::new),
            members,
            hints: hints(table),
            scopes,
            arguments,
            when,
            message: table.message.clone(),
            explains_denials: true,
        })
    }

    /// The names of the members that a rule is about.
    fn members_of_rule(
        &mut self,
        table: &RuleSection,
        members: &Members,
        entries: &[Entry],
    ) -> Vec<String> {
        let known = members.names();
        let mut of_members = Vec::new();
        for member in table.members.iter().flat_map(Spanned::get_ref) {
            self.member(member, &known);
            of_members.extend(members.names_of(member.get_ref(), entries));
        }
        if let Some(list) = table.members.as_ref().filter(|_| of_members.is_empty()) {
            let message = "expected the name of a servlet, remote or bundle";
            self.problem(list.span(), message.to_owned());
        }
        of_members
    }

    fn scopes_of_rule(
        &mut self,
        table: &RuleSection,
        effect: Effect,
        endpoint: &Endpoint,
    ) -> BTreeSet<String> {
        if let Some(scope) = table.scopes.first().filter(|_| effect == Effect::Deny) {
            let message = "callers escape this rule with fewer scopes; write `allow` with the scopes that callers need";
            self.problem(scope.span(), message.to_owned());
        }
        let scopes = self.scopes(&table.scopes);
        let has_callers = auth(endpoint).is_some();
        if let Some(scope) = table.scopes.first().filter(|_| !has_callers) {
            let message = format!(
                "this rule never holds: endpoint `{}` has no `auth`, so its callers have no scopes",
                endpoint.name
            );
            self.problem(scope.span(), message);
        }
        scopes
    }

    fn arguments_of_rule(
        &mut self,
        table: &RuleSection,
        effect: Effect,
        is_for_tools: bool,
    ) -> Vec<Argument> {
        let mut arguments = Vec::new();
        for (path, schema) in &table.arguments {
            if !is_for_tools {
                let message = "`arguments` needs a rule that names only tools";
                self.problem(path.span(), message.to_owned());
            }
            let pattern = schema.get_ref().get("pattern").and_then(Value::as_str);
            let is_open = |pattern: &&str| !(pattern.starts_with('^') && pattern.ends_with('$'));
            match Argument::new(path.get_ref(), schema.get_ref()) {
                Ok(argument) => arguments.push(argument),
                Err(message) => {
                    self.problem(path.span().start..schema.span().end, message);
                    continue;
                }
            }
            if let Some(pattern) = pattern.filter(is_open)
                && effect == Effect::Allow
            {
                let message = format!(
                    "`{pattern}` matches anywhere in a text; begin it with `^` and end it with `$` to match all of it"
                );
                self.warn(schema.span(), message);
            }
        }
        arguments
    }

    fn when_of_rule(
        &mut self,
        table: &RuleSection,
        is_for_tools: bool,
        endpoint: &Endpoint,
    ) -> Option<When> {
        let text = table.when.as_ref()?;
        let mistakes = match When::new(text.get_ref(), is_for_tools, auth(endpoint)) {
            Ok(when) => return Some(when),
            Err(mistakes) => mistakes,
        };
        let inside = inside(text.get_ref(), &text.span(), self.text);
        for mistake in mistakes {
            let span = inside.map(|start| mistake.range.start + start..mistake.range.end + start);
            self.problem(span.unwrap_or(text.span()), mistake.message);
        }
        None
    }

    /// Reports rules of a kind that deny everything.
    fn allows_nothing(&mut self, section: &EndpointSection, rules: &[(Rule, usize)]) {
        for (kind, last) in [
            (Kind::Tool, "allow = [\"*\"]"),
            (Kind::Prompt, "allow = { prompts = [\"*\"] }"),
            (Kind::Resource, "allow = { resources = [\"*\"] }"),
        ] {
            let mut all = rules
                .iter()
                .zip(&section.rules)
                .filter(|((rule, _), _)| rule.is_about(kind))
                .peekable();
            let first = all.peek().map(|(_, table)| names_span(table));
            if let Some(span) = first
                && all.all(|((rule, _), _)| rule.effect == Effect::Deny)
            {
                let message = format!(
                    "these rules allow nothing; end with a rule `{last}` if they only take away"
                );
                self.problem(span, message);
            }
        }
    }

    /// Warns of rules that rely on what a remote says about its tools.
    fn untrusted_hints(
        &mut self,
        file: &File,
        endpoint: &Endpoint,
        table: &RuleTable,
        rule: &Rule,
    ) {
        let table = table.get_ref();
        let annotations = table.annotations.as_ref().map(Spanned::span);
        let reads_annotations = rule.when.as_ref().is_some_and(When::reads_annotations);
        let when = table.when.as_ref().filter(|_| reads_annotations);
        let spans: Vec<_> = annotations
            .into_iter()
            .chain(when.map(Spanned::span))
            .collect();
        let members = &table.members;
        for (name, remote) in &file.remote {
            let serves = endpoint.members.as_ref();
            let is_served = serves.is_none_or(|served| served.contains(name));
            let mut wanted = members.iter().flat_map(Spanned::get_ref);
            let is_wanted = members.is_none() || wanted.any(|member| member.get_ref() == name);
            if is_served && is_wanted && !remote.get_ref().trust_annotations {
                let message = format!(
                    "this relies on what remote `{name}` says about its own tools; write `trust_annotations = true` in `[remote.{name}]` if you trust it"
                );
                for span in &spans {
                    self.warn(span.clone(), message.clone());
                }
            }
        }
    }
}

/// The authentication of an endpoint.
pub(super) fn auth(endpoint: &Endpoint) -> Option<&AuthOptions> {
    match &endpoint.transport {
        EndpointTransport::Http { options, .. } => options.auth.as_ref(),
        EndpointTransport::Stdio => None,
    }
}

fn names(table: &RuleTable) -> Option<&Spanned<RuleNames>> {
    let table = table.get_ref();
    table.allow.as_ref().or(table.deny.as_ref())
}

/// The span of the names of a rule.
fn names_span(table: &RuleTable) -> Range<usize> {
    names(table).map_or_else(|| table.span(), Spanned::span)
}

fn read_rule(
    (endpoint, line): (&str, usize),
    section: &EndpointSection,
    table: &RuleTable,
    rule: &Rule,
) -> ReadRule {
    let names = names(table);
    let of_kind = |kind: fn(&NamesByKind) -> &Vec<Spanned<String>>| {
        names.map_or_else(Vec::new, |names| kind(&names.get_ref().0).clone())
    };
    let table = table.get_ref();
    ReadRule {
        endpoint: endpoint.to_owned(),
        line,
        is_strict: section.prove == Prove::Strict,
        rule: rule.clone(),
        tools: of_kind(|names| &names.tools),
        prompts: of_kind(|names| &names.prompts),
        resources: of_kind(|names| &names.resources),
        arguments: table.arguments.keys().map(Spanned::span).collect(),
        when: table.when.as_ref().map(Spanned::span),
    }
}

fn patterns<P>(texts: &[Spanned<String>], new: fn(&str) -> P) -> Vec<P> {
    texts.iter().map(|text| new(text.get_ref())).collect()
}

fn hints(table: &RuleSection) -> Vec<(Hint, bool)> {
    let Some(annotations) = &table.annotations else {
        return Vec::new();
    };
    let hints = annotations.get_ref();
    let all = [
        (Hint::ReadOnly, hints.read_only_hint),
        (Hint::Destructive, hints.destructive_hint),
        (Hint::Idempotent, hints.idempotent_hint),
        (Hint::OpenWorld, hints.open_world_hint),
    ];
    let given = all.into_iter();
    given
        .filter_map(|(hint, value)| Some((hint, value?)))
        .collect()
}
