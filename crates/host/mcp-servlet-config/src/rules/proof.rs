//! Checks rules against the tools, prompts and resources of their endpoints.

use std::ops::Range;

use mcp_servlet_access::rules::{
    Argument, Effect, Item, MistakeKind, Name, Proof, Rule, ToolSchema, Uri, UriPattern, When,
};
use mcp_servlet_common::normalized_uri;
use mcp_servlet_host::{
    FeatureKind, Host, Listed, Loaded, Member, Mount, RemoteMember, Tool, bundle::Target,
};
use mcp_servlet_schema::{did_you_mean, similar};
use mcp_servlet_server::rule_items::{
    item_of_prompt, item_of_resource, item_of_tool, items_of_steps,
};
use serde_json::Value;
use toml::Spanned;

use super::ReadRule;
use crate::{Config, FindingKind, Findings, Problem, Served};

/// The result of checking a part of a rule.
enum Verdict {
    Proved(String),
    /// The check could not decide.
    Unproved(String),
    /// The check could not decide, because some servlets or remotes are not loaded.
    Open(String),
    /// Probably a mistake.
    Doubtful(String),
    /// A mistake.
    Wrong(String),
}

/// Says whether all lists of some kinds are known.
type KnowsAll<'a> = &'a dyn Fn(&[FeatureKind]) -> bool;

/// A kind of names in rules: its word for messages, and the kinds of lists with such names.
type NamedKind = (&'static str, &'static [FeatureKind]);

const TOOLS: NamedKind = ("tool", &[FeatureKind::Tool]);
const PROMPTS: NamedKind = ("prompt", &[FeatureKind::Prompt]);
const RESOURCES: NamedKind = (
    "resource",
    &[FeatureKind::Resource, FeatureKind::ResourceTemplate],
);

impl Config {
    /// Adds the results of checking rules.
    pub(crate) fn proofs_of_rules(&self, served: Served<'_>, findings: &mut Findings) {
        let remotes = served.remotes.unwrap_or_default();
        let loaded = served.loaded;
        let knows_all =
            |kinds: &_| served.not_ready.is_empty() && self.knows_all(loaded, remotes, kinds);
        for (_, span, verdict) in self.verdicts(loaded, remotes, &knows_all) {
            let (kind, message) = match verdict {
                Verdict::Proved(message) => (FindingKind::ProvedRule, message),
                Verdict::Unproved(message) | Verdict::Open(message) => {
                    (FindingKind::UnprovedRule, format!("not proved: {message}"))
                }
                // The server also serves if the rules do not fit the tools of an optional remote.
                Verdict::Doubtful(message) | Verdict::Wrong(message) => {
                    (FindingKind::Warning, message)
                }
            };
            findings.add(kind, span, message);
        }
    }

    /// The problems of rules that prevent the server from serving.
    pub(crate) fn problems_of_rules(&self, loaded: &Loaded, remotes: &[Mount]) -> Vec<Problem> {
        let knows_all = |kinds: &_| self.knows_all(loaded, remotes, kinds);
        let all = self.verdicts(loaded, remotes, &knows_all).into_iter();
        let problems = all.filter_map(|(rule, span, verdict)| {
            let message = match verdict {
                Verdict::Wrong(message) => message,
                Verdict::Doubtful(message) if rule.is_strict => message,
                Verdict::Unproved(message) if rule.is_strict => format!("not proved: {message}"),
                _ => return None,
            };
            Some(Problem { span, message })
        });
        problems.collect()
    }

    /// Whether all servlets and remotes are loaded, and their lists of these kinds are known.
    fn knows_all(&self, loaded: &Loaded, remotes: &[Mount], kinds: &[FeatureKind]) -> bool {
        let mut wanted = self.settings.remotes.iter();
        let is_loaded = loaded.host.members().next().is_some() || self.entries.is_empty();
        is_loaded
            && loaded.skipped.is_empty()
            && wanted.all(|one| {
                let mut mounts = remotes.iter().filter(|mount| has_lists(mount, kinds));
                mounts.any(|mount| mount.member.name() == one.name)
            })
    }

    fn verdicts(
        &self,
        loaded: &Loaded,
        remotes: &[Mount],
        knows_all: KnowsAll<'_>,
    ) -> Vec<(&ReadRule, Range<usize>, Verdict)> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let hosts = self.hosts(loaded, remotes);
        let mut all = Vec::new();
        for rule in &self.rules {
            let mut of_endpoint = hosts.iter();
            let host = of_endpoint.find(|(endpoint, _)| *endpoint == Some(&*rule.endpoint));
            let verdicts = host
                .map(|(_, host)| rule.verdicts(host, knows_all))
                .into_iter()
                .flatten();
            all.extend(verdicts.map(|(span, verdict)| (rule, span, verdict)));
        }
        all
    }
}

/// A tool that a rule names.
struct NamedTool<'h> {
    item: Item<'h>,
    tool: &'h Tool,
    /// Whether the server checks its arguments against the schema.
    is_checked: bool,
}

impl Verdict {
    /// The most severe result; the first one if there are several.
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
    fn verdicts(&self, host: &Host, knows_all: KnowsAll<'_>) -> Vec<(Range<usize>, Verdict)> {
        let all: Vec<_> = tools_and_steps(host)
            .filter(|one| self.rule.applies_to(&one.item))
            .collect();
        let mut verdicts = self.of_names(host, &all, knows_all);
        let named: Vec<_> = all
            .into_iter()
            .filter(|one| self.rule.may_apply_to(&one.item))
            .collect();
        let is_there = |name: &Spanned<String>| {
            let mut named = named.iter();
            !has_wildcard(name)
                && named.any(|one| self.rule.matches_name(name.get_ref(), &one.item))
        };
        // Whether the rule may be about more tools than are there.
        let may_grow = !knows_all(&[FeatureKind::Tool]) && !self.tools.iter().all(is_there);
        for (argument, span) in self.rule.arguments.iter().zip(&self.arguments) {
            let mut of_argument = self.of_argument(argument, &named, may_grow);
            if let Verdict::Proved(_) | Verdict::Unproved(_) | Verdict::Open(_) = of_argument
                && let Some(message) = missing(argument.name(), &named)
                    .filter(|_| !may_grow)
                    .or_else(|| self.escape(argument, &named))
            {
                of_argument = Verdict::Doubtful(message);
            }
            verdicts.push((span.clone(), of_argument));
        }
        if let Some((when, span)) = self.rule.when.as_ref().zip(self.when.clone()) {
            verdicts.push((span, of_when(when, &named, may_grow)));
        }
        verdicts
    }

    /// Compares each name with what is there.
    fn of_names(
        &self,
        host: &Host,
        tools: &[NamedTool<'_>],
        knows_all: KnowsAll<'_>,
    ) -> Vec<(Range<usize>, Verdict)> {
        let tools = tools.iter().map(|one| (one.tool.name(), one.item.clone()));
        let prompts = host
            .prompts()
            .map(Listed::key)
            .filter_map(|name| Some((name, item_of_prompt(host, name)?)));
        let uris = uris(host);
        let listed = uris
            .iter()
            .map(|(member, text, uri)| (*text, item_of_resource(member, uri)));
        let resources = listed.chain(resources_of_steps(host));
        let mut verdicts = Vec::new();
        let mut compare =
            |(what, kinds): NamedKind, names: &[Spanned<String>], there: Vec<(&str, Item<'_>)>| {
                for name in names {
                    let of_name = self.of_name(what, name.get_ref(), &there, knows_all(kinds));
                    verdicts.push((name.span(), of_name));
                }
            };
        compare(TOOLS, &self.tools, tools.collect());
        compare(PROMPTS, &self.prompts, prompts.collect());
        compare(RESOURCES, &self.resources, resources.collect());
        verdicts
    }

    fn of_name(
        &self,
        what: &str,
        text: &str,
        there: &[(&str, Item<'_>)],
        is_whole: bool,
    ) -> Verdict {
        let there = there.iter().filter(|(_, item)| self.rule.applies_to(item));
        if what == "resource" && !UriPattern::new(text).has_plain_uri() {
            let is_listed = |(_, item): &(&str, Item<'_>)| {
                matches!(item.name, Name::Resource(uri) if !uri.is_template())
                    && self.rule.matches_name(text, item)
            };
            if !there.clone().any(is_listed) {
                return no_plain_uri(text, is_whole);
            }
        }
        let mut matching = there
            .clone()
            .filter(|(_, item)| self.rule.matches_name(text, item));
        let fitting = matching
            .clone()
            .filter(|(_, item)| self.rule.may_apply_to(item));
        let endpoint = &self.endpoint;
        let (message, near) = match fitting.count() {
            // A last rule that allows everything else names no resource in particular.
            0 if what == "resource" && text == "*" && self.rule.members.is_empty() => {
                return Verdict::Proved("this names all resources".to_owned());
            }
            0 if matching.next().is_some() => {
                let parts = self.parts_about(what);
                let message = format!(
                    "`{text}` matches {what}s of endpoint `{endpoint}`, but none of them fits {parts} of this rule"
                );
                (message, None)
            }
            0 => (
                format!("no {what} of endpoint `{endpoint}` matches `{text}`"),
                similar(text, there.map(|(name, _)| *name)),
            ),
            1 => return Verdict::Proved(format!("a {what} matches `{text}`")),
            count => return Verdict::Proved(format!("{count} {what}s match `{text}`")),
        };
        if !is_whole {
            let message = format!("{message} yet; some servlets or remotes are not loaded");
            return Verdict::Open(message);
        }
        let message = message + &did_you_mean(near);
        // Members also read resources that they do not list.
        if what == "resource" {
            Verdict::Unproved(message)
        } else {
            Verdict::Doubtful(message)
        }
    }

    /// The keys, besides names, that say which items the rule is about.
    fn parts_about(&self, what: &str) -> &'static str {
        let has_hints = what == "tool" && !self.rule.hints.is_empty();
        match (self.rule.members.is_empty(), has_hints) {
            (true, _) => "`annotations`",
            (false, false) => "`members`",
            (false, true) => "`members` and `annotations`",
        }
    }

    /// Combines the results for each tool. A name without `*` must fit its tool. A pattern only has to fit one of the tools that it
    /// matches.
    fn of_argument(&self, argument: &Argument, named: &[NamedTool<'_>], may_grow: bool) -> Verdict {
        let mut all = Vec::new();
        for name in &self.tools {
            let named = named.iter();
            let matching = named.filter(|one| self.rule.matches_name(name.get_ref(), &one.item));
            let prove = |one: &NamedTool<'_>| {
                let proof = argument.prove(self.rule.effect, schema_of(one.tool));
                (one.is_checked, proof)
            };
            let proofs: Vec<_> = matching.map(prove).collect();
            let is_possible =
                |(_, proof): &(bool, Proof)| matches!(proof, Proof::Proved | Proof::Unproved(_));
            let is_meant = !has_wildcard(name) || !proofs.iter().any(is_possible);
            all.extend(proofs.into_iter().map(|(is_checked, proof)| match proof {
                Proof::Proved => Verdict::Proved("this fits the schemas of the tools".to_owned()),
                Proof::Unproved(message) => Verdict::Unproved(message),
                Proof::Mistake(MistakeKind::Always, message) if self.has_other_parts() => {
                    Verdict::Unproved(message)
                }
                Proof::Mistake(_, message) if !is_meant => Verdict::Unproved(message),
                Proof::Mistake(_, message) if may_grow && has_wildcard(name) => {
                    Verdict::Open(message)
                }
                // Other calls reach the tool as well.
                Proof::Mistake(MistakeKind::Never | MistakeKind::Always, message)
                    if !is_checked =>
                {
                    Verdict::Doubtful(message)
                }
                Proof::Mistake(_, message) => Verdict::Wrong(message),
            }));
        }
        Verdict::worst(all.into_iter()).unwrap_or_else(|| no_tool(may_grow))
    }

    /// Whether the rule has other conditions than one argument.
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

    /// The problem with an optional argument in a `deny`: calls without it are not denied.
    fn escape(&self, argument: &Argument, named: &[NamedTool<'_>]) -> Option<String> {
        if self.rule.effect == Effect::Allow || argument.may_be_absent() {
            return None;
        }
        let argument = argument.name();
        let is_optional = |one: &&NamedTool<'_>| {
            names(one.tool).any(|name| name == argument) && !requires(one.tool, argument)
        };
        let tool = named.iter().find(is_optional)?.tool.name();
        Some(format!(
            "calls of `{tool}` without `{argument}` pass this rule; write `?` after the path to deny them too"
        ))
    }
}

/// The problem with a pattern for URIs that clients cannot write.
fn no_plain_uri(text: &str, is_whole: bool) -> Verdict {
    let plain = normalized_uri(text);
    let path = plain.find("://").map_or(0, |at| at + 3);
    let (start, path) = plain.split_at(path);
    let plain = format!("{start}{}", path.replace("//", "/"));
    let hint = UriPattern::new(&plain)
        .has_plain_uri()
        .then(|| format!("; write `{plain}`"));
    let hint = hint.unwrap_or_default();
    let message = format!("no URI in plain form matches `{text}`{hint}");
    if is_whole {
        Verdict::Doubtful(message)
    } else {
        Verdict::Open(message)
    }
}

/// Whether the lists of these kinds of a member are known. A remote that was never reached has none, and no protocol version.
fn has_lists(mount: &Mount, kinds: &[FeatureKind]) -> bool {
    let lists = mount.member.as_remote().map(RemoteMember::lists);
    lists.is_none_or(|lists| {
        let is_known = |kind| !lists.partial.contains(kind);
        !lists.protocol.is_empty() && kinds.iter().all(is_known)
    })
}

/// The tools of a host, and those that its virtual tools call.
fn tools_and_steps(host: &Host) -> impl Iterator<Item = NamedTool<'_>> {
    let named = |(item, tool), listed: &Tool| NamedTool {
        item,
        tool,
        is_checked: host.checks_arguments(listed.name()),
    };
    let tools = host.tools().filter_map(move |tool| {
        let item = item_of_tool(host, tool)?;
        Some(named((item, tool), tool))
    });
    let steps = host.tools().flat_map(move |tool| {
        let steps = items_of_steps(host, tool.name()).into_iter();
        steps.filter_map(move |step| Some(named((step.item, step.tool?), tool)))
    });
    tools.chain(steps)
}

/// The resources and templates that a host lists, with their members and their texts.
fn uris(host: &Host) -> Vec<(&Member, &str, Uri)> {
    let resources = host
        .resources_of_members()
        .map(|(member, one)| (member, one.key(), Uri::listed(one.key())));
    let templates = host
        .templates_of_members()
        .map(|(member, one)| (member, one.key(), Uri::of_template(one.key())));
    resources.chain(templates).collect()
}

/// The resources that virtual tools read, with their templates.
fn resources_of_steps(host: &Host) -> impl Iterator<Item = (&str, Item<'_>)> {
    let steps = host
        .tools()
        .flat_map(move |tool| items_of_steps(host, tool.name()));
    steps.filter_map(|step| match step.target {
        Target::Resource(resource) => Some((resource.template.as_str(), step.item)),
        Target::Tool(_) => None,
    })
}

fn has_wildcard(name: &Spanned<String>) -> bool {
    name.get_ref().contains('*')
}

fn of_when(when: &When, named: &[NamedTool<'_>], may_grow: bool) -> Verdict {
    if named.is_empty() && when.reads_arguments() {
        return no_tool(may_grow);
    }
    let schemas: Vec<_> = named.iter().map(|one| schema_of(one.tool)).collect();
    let proofs = when.prove(&schemas).into_iter();
    let all = proofs.map(|proof| match proof {
        Proof::Proved => proved_when(),
        Proof::Unproved(message) => Verdict::Unproved(message),
        Proof::Mistake(_, message) if may_grow => Verdict::Open(message),
        Proof::Mistake(_, message) => Verdict::Wrong(message),
    });
    Verdict::worst(all).unwrap_or_else(proved_when)
}

fn proved_when() -> Verdict {
    Verdict::Proved("everything that this reads exists and has a matching type".to_owned())
}

fn no_tool(may_grow: bool) -> Verdict {
    let message = "no tool that this rule names is known".to_owned();
    if may_grow {
        Verdict::Open(message)
    } else {
        Verdict::Unproved(message)
    }
}

fn schema_of(tool: &Tool) -> ToolSchema<'_> {
    ToolSchema {
        name: tool.name(),
        schema: tool.json().get("inputSchema").unwrap_or(&Value::Null),
    }
}

/// The problem with an argument that no tool names, although each of them names some.
fn missing(argument: &str, named: &[NamedTool<'_>]) -> Option<String> {
    let lists = |one: &NamedTool<'_>| names(one.tool).next().is_some();
    let has = |one: &NamedTool<'_>| names(one.tool).any(|name| name == argument);
    if named.is_empty() || named.iter().any(|one| has(one) || !lists(one)) {
        return None;
    }
    let known = named.iter().flat_map(|one| names(one.tool));
    let hint = did_you_mean(similar(argument, known));
    Some(format!(
        "no tool that this rule names has an argument `{argument}`{hint}"
    ))
}

/// The arguments that the schema of a tool names.
fn names(tool: &Tool) -> impl Iterator<Item = &str> {
    let properties = tool.input_schema().get("properties");
    let by_name = properties.and_then(Value::as_object).into_iter();
    by_name.flat_map(|by_name| by_name.keys().map(String::as_str))
}

fn requires(tool: &Tool, argument: &str) -> bool {
    let required = tool.input_schema().get("required");
    let mut names = required.and_then(Value::as_array).into_iter().flatten();
    names.any(|name| name == argument)
}
