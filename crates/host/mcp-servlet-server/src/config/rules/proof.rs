//! What is known about rules from the lists of their endpoints.

use std::ops::Range;

use mcp_servlet_access::rules::{Argument, Effect, Item, Pattern, Proof, ToolSchema};
use mcp_servlet_host::{Host, Listed, Loaded, Mount, Tool};
use mcp_servlet_schema::similar;
use serde_json::Value;

use super::ReadRule;
use crate::{
    config::{Config, Findings, Problem, Served, Severity, wording::did_you_mean},
    permissions::{item_of, step_of},
};

/// What is known about a part of a rule.
enum Known {
    Proved(String),
    /// Nothing.
    Unproved(String),
    /// It is most likely a mistake.
    Doubtful(String),
    /// It does nothing, or the same for all calls.
    Wrong(String),
}

impl Config {
    /// Adds what is known about rules.
    pub(in crate::config) fn proofs_of_rules(&self, served: Served<'_>, findings: &mut Findings) {
        let is_whole = served.not_ready.is_empty()
            && self.is_whole(served.loaded, served.remotes.unwrap_or_default());
        let remotes = served.remotes.unwrap_or_default();
        for (_, span, known) in self.known_of_rules(served.loaded, remotes, is_whole) {
            let (severity, message) = match known {
                Known::Proved(message) => (Severity::Proved, message),
                Known::Unproved(message) => (Severity::Note, format!("not proved: {message}")),
                Known::Doubtful(message) => (Severity::Warning, message),
                // It is an error of the configuration.
                Known::Wrong(_) => continue,
            };
            findings.add(severity, span, message);
        }
    }

    /// What is wrong with the rules, and what is not proved although it must be.
    pub(in crate::config) fn problems_of_rules(
        &self,
        loaded: &Loaded,
        remotes: &[Mount],
    ) -> Vec<Problem> {
        let is_whole = self.is_whole(loaded, remotes);
        let all = self.known_of_rules(loaded, remotes, is_whole).into_iter();
        let problems = all.filter_map(|(rule, span, known)| {
            let message = match known {
                Known::Wrong(message) => message,
                Known::Doubtful(message) if rule.is_strict => message,
                Known::Unproved(message) if rule.is_strict => format!("not proved: {message}"),
                Known::Proved(_) | Known::Unproved(_) | Known::Doubtful(_) => return None,
            };
            Some(Problem { span, message })
        });
        problems.collect()
    }

    /// Whether everything is there that rules can name.
    fn is_whole(&self, loaded: &Loaded, remotes: &[Mount]) -> bool {
        let mut wanted = self.remotes.iter();
        let is_loaded = loaded.host.members().next().is_some() || self.entries.is_empty();
        is_loaded
            && loaded.skipped.is_empty()
            && wanted.all(|one| remotes.iter().any(|mount| mount.member.name() == one.name))
    }

    fn known_of_rules(
        &self,
        loaded: &Loaded,
        remotes: &[Mount],
        is_whole: bool,
    ) -> Vec<(&ReadRule, Range<usize>, Known)> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let hosts = self.hosts(loaded, remotes);
        let mut all = Vec::new();
        for rule in &self.rules {
            let mut of_endpoint = hosts.iter();
            let host = of_endpoint.find(|(endpoint, _)| *endpoint == Some(&*rule.endpoint));
            let known = host.map(|(_, host)| rule.known(host, is_whole));
            all.extend(
                known
                    .into_iter()
                    .flatten()
                    .map(|(span, known)| (rule, span, known)),
            );
        }
        all
    }
}

/// A tool that a rule may be about.
struct Concerned<'h> {
    tool: &'h Tool,
    /// Its name in the list of the endpoint, if it is only called by a virtual tool.
    listed: Option<String>,
}

impl ReadRule {
    fn known(&self, host: &Host, is_whole: bool) -> Vec<(Range<usize>, Known)> {
        let all: Vec<_> = tools_and_steps(host).collect();
        let names =
            |all: &mut dyn Iterator<Item = &str>| all.map(str::to_owned).collect::<Vec<_>>();
        let tools = names(&mut all.iter().map(|(_, tool)| tool.name()));
        let prompts = names(&mut host.prompts().map(Listed::key));
        let mut known = Vec::new();
        for (what, wanted, there) in [
            ("tool", &self.tools, tools),
            ("prompt", &self.prompts, prompts),
        ] {
            for name in wanted {
                let of_name = self.of_name(what, name.get_ref(), &there, is_whole);
                known.push((name.span(), of_name));
            }
        }
        let concerned = all
            .into_iter()
            .filter(|(item, _)| self.rule.may_concern(item));
        let concerned: Vec<_> = concerned
            .map(|(item, tool)| Concerned::new(&item, tool))
            .collect();
        for (argument, span) in self.rule.arguments.iter().zip(&self.arguments) {
            let proofs = |tool: &Tool| vec![argument.prove(self.rule.effect, schema_of(tool))];
            let mut of_argument = self.of_tools(&concerned, &proofs);
            if let Known::Proved(_) | Known::Unproved(_) = of_argument
                && let Some(message) = missing(argument.name(), &concerned)
                    .or_else(|| self.escape(argument, &concerned))
            {
                of_argument = Known::Doubtful(message);
            }
            known.push((span.clone(), of_argument));
        }
        if let Some((when, span)) = self.rule.when.as_ref().zip(self.when.clone()) {
            let proofs = |tool: &Tool| when.prove(schema_of(tool));
            known.push((span, self.of_tools(&concerned, &proofs)));
        }
        known
    }

    fn of_name(&self, what: &str, text: &str, there: &[String], is_whole: bool) -> Known {
        let pattern = Pattern::new(text);
        let count = there.iter().filter(|name| pattern.matches(name)).count();
        let endpoint = &self.endpoint;
        match count {
            0 if !is_whole => Known::Unproved(format!(
                "no {what} of endpoint `{endpoint}` matches `{text}` as long as not all servlets and remotes are there"
            )),
            0 => {
                let hint = did_you_mean(similar(text, there.iter().map(String::as_str)));
                Known::Doubtful(format!(
                    "no {what} of endpoint `{endpoint}` matches `{text}`{hint}"
                ))
            }
            1 => Known::Proved(format!("a {what} matches `{text}`")),
            count => Known::Proved(format!("{count} {what}s match `{text}`")),
        }
    }

    /// What is known about a part of the rule, from what is known for each tool. A name without `*` means its tool; with `*`, some of
    /// the tools may be others.
    fn of_tools(&self, concerned: &[Concerned<'_>], proofs: &dyn Fn(&Tool) -> Vec<Proof>) -> Known {
        let mut unproved = None;
        let mut is_proved = false;
        for name in &self.tools {
            let pattern = Pattern::new(name.get_ref());
            let matching = concerned.iter().filter(|one| one.matches(&pattern));
            let proofs: Vec<_> = matching.flat_map(|one| proofs(one.tool)).collect();
            is_proved |= !proofs.is_empty();
            let is_wrong = |proof: &&Proof| matches!(proof, Proof::Wrong(_));
            let is_meant =
                !name.get_ref().contains('*') || proofs.iter().all(|proof| is_wrong(&proof));
            for proof in proofs {
                match proof {
                    Proof::Proved => {}
                    Proof::Wrong(message) if is_meant && !self.has_other_parts(&message) => {
                        return Known::Wrong(message);
                    }
                    Proof::Wrong(message) | Proof::Unproved(message) => {
                        unproved = unproved.or(Some(message));
                    }
                }
            }
        }
        match unproved {
            Some(message) => Known::Unproved(message),
            None if is_proved => Known::Proved("this fits the schemas of the tools".to_owned()),
            None => Known::Unproved("there is no tool with a schema yet".to_owned()),
        }
    }

    /// Whether a part that always holds is not all that the rule says.
    fn has_other_parts(&self, message: &str) -> bool {
        let parts = self.rule.arguments.len() + usize::from(self.rule.when.is_some());
        message.starts_with("this always holds") && parts > 1
    }

    /// The problem with an argument that a tool does not require: calls without it pass a rule that denies.
    fn escape(&self, argument: &Argument, concerned: &[Concerned<'_>]) -> Option<String> {
        if self.rule.effect == Effect::Allow || argument.may_be_absent() {
            return None;
        }
        let argument = argument.name();
        let is_optional = |one: &&Concerned<'_>| {
            names(one.tool).any(|name| name == argument) && !requires(one.tool, argument)
        };
        let tool = concerned.iter().find(is_optional)?.tool.name();
        Some(format!(
            "calls of `{tool}` without `{argument}` pass this rule; write `?` after the path to deny them too"
        ))
    }
}

impl<'h> Concerned<'h> {
    fn new(item: &Item<'_>, tool: &'h Tool) -> Self {
        let listed = match item.name {
            mcp_servlet_access::rules::Name::Step(_, listed, _) => listed.map(str::to_owned),
            _ => None,
        };
        Self { tool, listed }
    }

    fn matches(&self, pattern: &Pattern) -> bool {
        pattern.matches(self.tool.name())
            || self
                .listed
                .as_ref()
                .is_some_and(|name| pattern.matches(name))
    }
}

/// The tools of a host, and those that its virtual tools call.
fn tools_and_steps(host: &Host) -> impl Iterator<Item = (Item<'_>, &Tool)> {
    let steps = host.tools().filter_map(|tool| step_of(host, tool.name()));
    let tools = host
        .tools()
        .filter_map(|tool| Some((item_of(host, tool)?, tool)));
    tools.chain(steps)
}

fn schema_of(tool: &Tool) -> ToolSchema<'_> {
    ToolSchema {
        name: tool.name(),
        schema: tool.json().get("inputSchema").unwrap_or(&Value::Null),
    }
}

/// The problem with an argument that no tool names, although each of them names some.
fn missing(argument: &str, concerned: &[Concerned<'_>]) -> Option<String> {
    let lists = |one: &Concerned<'_>| names(one.tool).next().is_some();
    let has = |one: &Concerned<'_>| names(one.tool).any(|name| name == argument);
    if concerned.is_empty() || concerned.iter().any(|one| has(one) || !lists(one)) {
        return None;
    }
    let known = concerned.iter().flat_map(|one| names(one.tool));
    let hint = did_you_mean(similar(argument, known));
    Some(format!(
        "no tool that this rule names has an argument `{argument}`{hint}"
    ))
}

/// The arguments that the schema of a tool names.
fn names(tool: &Tool) -> impl Iterator<Item = &str> {
    let properties = tool.input_schema().get("properties");
    let properties = properties.and_then(Value::as_object).into_iter();
    properties.flat_map(|properties| properties.keys().map(String::as_str))
}

fn requires(tool: &Tool, argument: &str) -> bool {
    let required = tool.input_schema().get("required");
    let mut required = required.and_then(Value::as_array).into_iter().flatten();
    required.any(|name| name == argument)
}
