//! What is known about rules from the lists of their endpoints.

use std::ops::Range;

use mcp_servlet_access::rules::{
    Argument, Effect, Item, Name, Pattern, Proof, Rule, ToolSchema, When,
};
use mcp_servlet_host::{Host, Listed, Loaded, Mount, Tool};
use mcp_servlet_runtime::CheckArguments;
use mcp_servlet_schema::similar;
use serde_json::Value;
use toml::Spanned;

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
    /// Nothing, as long as not all servlets and remotes are there.
    Open(String),
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
                Known::Unproved(message) | Known::Open(message) => {
                    (Severity::Note, format!("not proved: {message}"))
                }
                // What is wrong about the tools of a remote that is not required does not prevent the server from serving.
                Known::Doubtful(message) | Known::Wrong(message) => (Severity::Warning, message),
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
                _ => return None,
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
    item: Item<'h>,
    tool: &'h Tool,
    /// Whether only calls that match its schema reach it.
    is_checked: bool,
}

impl Known {
    /// The worst one, which comes first if there are several.
    fn worst(all: impl Iterator<Item = Self>) -> Option<Self> {
        all.min_by_key(|one| match one {
            Self::Wrong(_) => 0,
            Self::Doubtful(_) => 1,
            Self::Unproved(_) => 2,
            Self::Open(_) => 3,
            Self::Proved(_) => 4,
        })
    }
}

impl ReadRule {
    fn known(&self, host: &Host, is_whole: bool) -> Vec<(Range<usize>, Known)> {
        let all = tools_and_steps(host).filter(|one| self.rule.is_asked_about(&one.item));
        let all: Vec<_> = all.collect();
        let names =
            |all: &mut dyn Iterator<Item = &str>| all.map(str::to_owned).collect::<Vec<_>>();
        let tools = names(&mut all.iter().map(|one| one.tool.name()));
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
        let concerned = all.into_iter();
        let concerned: Vec<_> = concerned
            .filter(|one| self.rule.may_concern(&one.item))
            .collect();
        let is_there = |name: &Spanned<String>| {
            let pattern = Pattern::new(name.get_ref());
            !has_wildcard(name) && concerned.iter().any(|one| one.matches(&pattern))
        };
        // Whether the rule may be about more tools than are there.
        let may_grow = !is_whole && !self.tools.iter().all(is_there);
        for (argument, span) in self.rule.arguments.iter().zip(&self.arguments) {
            let mut of_argument = self.of_argument(argument, &concerned, may_grow);
            if let Known::Proved(_) | Known::Unproved(_) | Known::Open(_) = of_argument
                && let Some(message) = missing(argument.name(), &concerned)
                    .filter(|_| !may_grow)
                    .or_else(|| self.escape(argument, &concerned))
            {
                of_argument = Known::Doubtful(message);
            }
            known.push((span.clone(), of_argument));
        }
        if let Some((when, span)) = self.rule.when.as_ref().zip(self.when.clone()) {
            known.push((span, of_when(when, &concerned, may_grow)));
        }
        known
    }

    fn of_name(&self, what: &str, text: &str, there: &[String], is_whole: bool) -> Known {
        let pattern = Pattern::new(text);
        let count = there.iter().filter(|name| pattern.matches(name)).count();
        let endpoint = &self.endpoint;
        match count {
            0 if !is_whole => Known::Open(format!(
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

    /// What is known about an argument, from what is known for each tool. A name without `*` means its tool; with `*`, some of the tools
    /// may be others.
    fn of_argument(
        &self,
        argument: &Argument,
        concerned: &[Concerned<'_>],
        may_grow: bool,
    ) -> Known {
        let mut all = Vec::new();
        for name in &self.tools {
            let pattern = Pattern::new(name.get_ref());
            let matching = concerned.iter().filter(|one| one.matches(&pattern));
            let prove = |one: &Concerned<'_>| {
                let proof = argument.prove(self.rule.effect, schema_of(one.tool));
                (one.is_checked, proof)
            };
            let proofs: Vec<_> = matching.map(prove).collect();
            let is_possible =
                |(_, proof): &(bool, Proof)| matches!(proof, Proof::Proved | Proof::Unproved(_));
            let is_meant = !has_wildcard(name) || !proofs.iter().any(is_possible);
            all.extend(proofs.into_iter().map(|(is_checked, proof)| match proof {
                Proof::Proved => Known::Proved("this fits the schemas of the tools".to_owned()),
                Proof::Unproved(message) => Known::Unproved(message),
                Proof::Always(message) if self.has_other_parts() => Known::Unproved(message),
                Proof::Wrong(message) | Proof::Never(message) | Proof::Always(message)
                    if !is_meant =>
                {
                    Known::Unproved(message)
                }
                Proof::Wrong(message) | Proof::Never(message) | Proof::Always(message)
                    if may_grow && has_wildcard(name) =>
                {
                    Known::Open(message)
                }
                // Other calls reach the tool as well.
                Proof::Never(message) | Proof::Always(message) if !is_checked => {
                    Known::Doubtful(message)
                }
                Proof::Wrong(message) | Proof::Never(message) | Proof::Always(message) => {
                    Known::Wrong(message)
                }
            }));
        }
        Known::worst(all.into_iter()).unwrap_or_else(|| no_tool(may_grow))
    }

    /// Whether the rule says more than one thing about a call.
    fn has_other_parts(&self) -> bool {
        let Rule {
            members,
            hints,
            scopes,
            arguments,
            when,
            ..
        } = &self.rule;
        let parts = [
            !members.is_empty(),
            !hints.is_empty(),
            !scopes.is_empty(),
            when.is_some(),
        ];
        arguments.len() > 1 || parts.contains(&true)
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

impl Concerned<'_> {
    fn matches(&self, pattern: &Pattern) -> bool {
        let listed = match &self.item.name {
            Name::Step(_, listed, _) => *listed,
            _ => None,
        };
        let mut names = [Some(self.tool.name()), listed].into_iter().flatten();
        names.any(|name| pattern.matches(name))
    }
}

/// The tools of a host, and those that its virtual tools call.
fn tools_and_steps(host: &Host) -> impl Iterator<Item = Concerned<'_>> {
    let concerned = |(item, tool), listed: &Tool| Concerned {
        item,
        tool,
        is_checked: is_checked(host, listed.name()),
    };
    let tools = host.tools().filter_map(move |tool| {
        let item = item_of(host, tool)?;
        Some(concerned((item, tool), tool))
    });
    let steps = host.tools().filter_map(move |tool| {
        let step = step_of(host, tool.name())?;
        Some(concerned(step, tool))
    });
    tools.chain(steps)
}

/// Whether the server checks the arguments of a tool. Remotes check their own, unless a virtual tool calls them.
fn is_checked(host: &Host, tool: &str) -> bool {
    let member = host.member_of(tool);
    match member.and_then(|member| member.as_servlet()) {
        Some(servlet) => servlet.options().arguments != CheckArguments::Off,
        None => host.step_of(tool).is_some(),
    }
}

fn has_wildcard(name: &Spanned<String>) -> bool {
    name.get_ref().contains('*')
}

fn of_when(when: &When, concerned: &[Concerned<'_>], may_grow: bool) -> Known {
    if concerned.is_empty() && when.reads_arguments() {
        return no_tool(may_grow);
    }
    let schemas: Vec<_> = concerned.iter().map(|one| schema_of(one.tool)).collect();
    let proofs = when.prove(&schemas).into_iter();
    let all = proofs.map(|proof| match proof {
        Proof::Proved => proved_when(),
        Proof::Unproved(message) => Known::Unproved(message),
        Proof::Wrong(message) | Proof::Never(message) | Proof::Always(message) if may_grow => {
            Known::Open(message)
        }
        Proof::Wrong(message) | Proof::Never(message) | Proof::Always(message) => {
            Known::Wrong(message)
        }
    });
    Known::worst(all).unwrap_or_else(proved_when)
}

fn proved_when() -> Known {
    Known::Proved("the tools have what this reads, with these types".to_owned())
}

fn no_tool(may_grow: bool) -> Known {
    let message = "there is no tool with a schema yet".to_owned();
    if may_grow {
        Known::Open(message)
    } else {
        Known::Unproved(message)
    }
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
