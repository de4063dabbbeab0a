//! What is wrong with a configuration that can be served: what is left out, and what is most likely a mistake.

use std::{fmt, ops::Range, path::PathBuf};

use mcp_servlet_access::rules::Pattern;
use mcp_servlet_call::chain;
use mcp_servlet_host::{
    FailedLoad, FeatureKind, Host, LoadError, Loaded, Mount, RemoteMember, Tool,
    bundle::Problem as ToolProblem,
};
use mcp_servlet_remote::NotReady;
use mcp_servlet_runtime::{LoadError as ModuleError, glob_matches};
use mcp_servlet_server::{
    Configuration as _, EndpointTransport, HttpTransport, SessionStorage, Severity,
};

use super::{
    Config, ConfigError, Located, Position, Problem,
    endpoint::EndpointSpans,
    problem::{Shown, located},
};

/// Everything that was found in a configuration, in the order of the file.
///
/// A [`Service`](mcp_servlet_server::Service) warns about it, and `servlet config check` prints it.
#[derive(Debug, Default)]
pub struct Findings {
    /// The path of the configuration, and its text with secrets masked.
    source: (PathBuf, String),
    all: Vec<Finding>,
}

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// A servlet or remote is not served.
    Error,
    /// Something else is left out, or most likely a mistake.
    Warning,
    /// Something of a rule cannot be proved.
    UnprovedRule,
    /// Something of a rule is proved.
    ProvedRule,
    /// An input of a virtual tool may not match the schema of the tool that it calls. Each call checks it.
    UnprovedInput,
    /// What is known about the structured content of a virtual tool without an output schema.
    InferredOutput,
}

impl FindingKind {
    /// How a service warns about it. `None` for what it does not mention.
    pub(super) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::UnprovedRule => Some(Severity::Note),
            Self::ProvedRule | Self::UnprovedInput | Self::InferredOutput => None,
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::UnprovedRule | Self::UnprovedInput | Self::InferredOutput => "note",
            Self::ProvedRule => "proved",
        })
    }
}

/// One of the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// What is wrong, and where.
    pub problem: Problem,
    /// How to fix it, if there is general advice.
    pub help: Option<String>,
    /// Whether it is about a virtual tool that is left out. A proof says more about it.
    is_left_out: bool,
}

/// The byte ranges of a section that findings can be about.
#[derive(Clone, Debug)]
pub(super) struct SectionSpans {
    /// Its header.
    pub(super) section: Range<usize>,
    /// The source of a servlet, or the URL or command of a remote.
    pub(super) source: Range<usize>,
    /// The digest.
    pub(super) sha256: Option<Range<usize>>,
    /// Names and patterns of tools.
    pub(super) tools: Vec<(String, Range<usize>)>,
}

impl Finding {
    fn says(&self, problem: &Problem) -> bool {
        let message = &self.problem.message;
        self.problem.span == problem.span && *message == problem.message
    }
}

impl SectionSpans {
    /// The part of the section that an error is about.
    fn span_of(&self, error: &LoadError) -> Range<usize> {
        let tool = |name: &str| {
            let mut tools = self.tools.iter();
            let (_, span) = tools.find(|(known, _)| known == name)?;
            Some(span.clone())
        };
        let span = match error {
            LoadError::Module(ModuleError::Digest { .. }) => self.sha256.clone(),
            LoadError::Module(_) | LoadError::Contract { .. } | LoadError::Locked { .. } => {
                Some(self.source.clone())
            }
            LoadError::NoSuchTool { pattern, .. } => tool(pattern),
            LoadError::ToolMemory { tool: name, .. } => tool(name),
            _ => None,
        };
        span.unwrap_or_else(|| self.section.clone())
    }
}

impl Findings {
    /// The findings.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Finding> {
        self.all.iter()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether there is a finding of this kind.
    pub fn has(&self, kind: FindingKind) -> bool {
        self.count(kind) > 0
    }

    /// The number of findings of this kind.
    pub fn count(&self, kind: FindingKind) -> usize {
        let all = self.all.iter();
        all.filter(|finding| finding.kind == kind).count()
    }

    /// Removes the findings of these kinds.
    pub fn remove(&mut self, kinds: &[FindingKind]) {
        self.all.retain(|finding| !kinds.contains(&finding.kind));
    }

    /// The position of a finding, for messages.
    pub fn position(&self, finding: &Finding) -> Position {
        Position::of(&self.source, finding.problem.span.start)
    }

    /// The position of a finding, for programs.
    pub fn located(&self, finding: &Finding) -> Located {
        located(&self.source.1, &finding.problem)
    }

    /// A finding with its position and the line that it is in.
    pub fn shown(&self, finding: &Finding) -> String {
        let (path, text) = &self.source;
        let problems = std::slice::from_ref(&finding.problem);
        Shown {
            path,
            text,
            problems,
        }
        .to_string()
    }

    /// Adds every problem of an error about the text, instead of findings that say the same.
    ///
    /// # Errors
    /// Any other error.
    pub fn add_error(&mut self, error: ConfigError) -> Result<(), ConfigError> {
        let ConfigError::Wrong { problems, .. } = error else {
            return Err(error);
        };
        self.all.retain(|one| !one.is_left_out);
        for problem in problems {
            self.all.retain(|one| !one.says(&problem));
            self.add(FindingKind::Error, problem.span, problem.message);
        }
        self.all.sort_by_key(|one| one.problem.span.start);
        Ok(())
    }

    pub(super) fn add(&mut self, kind: FindingKind, span: Range<usize>, message: String) {
        self.all.push(Finding {
            kind,
            problem: Problem { span, message },
            help: None,
            is_left_out: false,
        });
    }

    fn help(&mut self, help: Option<String>) {
        if let Some(last) = self.all.last_mut() {
            last.help = help;
        }
    }
}

/// The parts of a server that findings are about.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// The servlets.
    pub loaded: &'a Loaded,
    /// The remotes, as members. `None` if they were not connected.
    pub remotes: Option<&'a [Mount]>,
    /// The remotes that cannot be used.
    pub not_ready: &'a [NotReady],
}

/// Adds the patterns of `always` and of quotas that match no tool, most likely because they are misspelled.
fn idle_patterns(endpoint: &str, spans: &EndpointSpans, host: &Host, findings: &mut Findings) {
    // The tools of a remote are unknown until it was reached.
    if host
        .members()
        .any(|member| member.as_remote().is_some() && member.tools().is_empty())
    {
        return;
    }
    let in_search = spans.always.iter().map(|pattern| (pattern, true));
    let in_quotas = spans.quotas.iter().map(|pattern| (pattern, false));
    for (pattern, is_glob) in in_search.chain(in_quotas) {
        let text = pattern.get_ref();
        let matches = |name: &str| {
            if is_glob {
                glob_matches(text, name)
            } else {
                Pattern::new(text).matches(name)
            }
        };
        if !host.tools().any(|tool| matches(tool.name())) {
            let message = format!("no tool of endpoint `{endpoint}` matches `{text}`");
            findings.add(FindingKind::Warning, pattern.span(), message);
        }
    }
}

impl Config {
    fn no_findings(&self) -> Findings {
        Findings {
            source: self.source.clone(),
            all: Vec::new(),
        }
    }

    /// The [`findings`](Self::findings) about rules.
    pub(crate) fn findings_of_rules(&self, served: Served<'_>) -> Findings {
        let mut findings = self.no_findings();
        self.proofs_of_rules(served, &mut findings);
        findings
    }

    /// What is not served of the configuration, and what else is most likely a mistake.
    pub fn findings(&self, served: Served<'_>) -> Findings {
        let mut findings = self.no_findings();
        if self.entries.is_empty() && self.settings.remotes.is_empty() && !self.has_mistakes() {
            let message = "there is nothing to serve; add `[servlet.NAME]` with its `source`, or `[remote.NAME]`";
            findings.add(FindingKind::Error, 0..0, message.to_owned());
        }
        for Problem { span, message } in self.warnings.clone() {
            findings.add(FindingKind::Warning, span, message);
        }
        let loaded = served.loaded;
        let reload = "still serving the previous version of a servlet that failed to reload";
        let skipped = loaded.skipped.iter().map(|one| ("servlet skipped", one));
        let failed_reloads = loaded.failed_reloads.iter().map(|one| (reload, one));
        for (what, failed) in skipped.chain(failed_reloads) {
            let message = format!("{what}: {}", chain(failed));
            findings.add(FindingKind::Error, self.span_of(failed), message);
            findings.help(failed.error.help());
        }
        for unmet in loaded.unmet_needs() {
            let spans = self.members.spans_of(&unmet.servlet, loaded, &[]);
            let span = spans.map_or(0..0, |spans| spans.section.clone());
            findings.add(FindingKind::Warning, span, unmet.to_string());
        }
        for not_ready in served.not_ready {
            let spans = self.members.spans_of_remote(&not_ready.name);
            let span = spans.map_or(0..0, |spans| spans.source.clone());
            findings.add(FindingKind::Error, span, not_ready.to_string());
            findings.help(not_ready.help.clone());
        }
        if self.has_mistakes() {
            // Much of the rest would follow from the parts that are left out.
            return findings;
        }
        let remotes = served.remotes.unwrap_or_default();
        let hosts = self.hosts(loaded, remotes);
        self.problems_of_hosts(served, &hosts, &mut findings);
        self.answers_of_many_processes(&hosts, &mut findings);
        self.remarks_on_virtual_tools(&hosts, &mut findings);
        self.proofs_of_rules(served, &mut findings);
        let warnings = [
            self.problems_of_shapes(loaded, remotes),
            self.problems_of_grants(loaded, remotes),
            self.read_only_claims(loaded, remotes),
            self.unlisted_tools(remotes),
            self.unused_grants(loaded),
        ];
        for Problem { span, message } in warnings.into_iter().flatten() {
            findings.add(FindingKind::Warning, span, message);
        }
        findings.all.sort_by_key(|one| one.problem.span.start);
        findings
    }

    /// Adds what is left out of the lists. If not all endpoints leave it out, the message names those that do.
    fn problems_of_hosts(
        &self,
        served: Served<'_>,
        hosts: &[(Option<&str>, Host)],
        findings: &mut Findings,
    ) {
        let mut all: Vec<(Range<usize>, &LoadError, String, Vec<&str>)> = Vec::new();
        for (endpoint, host) in hosts {
            for (span, problem) in self.problems_of(host, served) {
                let message = chain(problem);
                let endpoint = endpoint.unwrap_or_default();
                let mut known = all.iter_mut();
                match known.find(|(at, _, other, _)| (at, other) == (&span, &message)) {
                    // An endpoint can have a problem twice.
                    Some((.., endpoints)) if endpoints.contains(&endpoint) => {}
                    Some((.., endpoints)) => endpoints.push(endpoint),
                    None => all.push((span, problem, message, vec![endpoint])),
                }
            }
        }
        if served.remotes.is_some() || self.settings.remotes.is_empty() {
            for (endpoint, host) in hosts {
                let endpoint = endpoint.unwrap_or_default();
                if let Some(spans) = self.endpoint_spans.get(endpoint) {
                    idle_patterns(endpoint, spans, host, findings);
                }
            }
        }
        for (span, problem, message, endpoints) in all {
            let message = if endpoints.len() == hosts.len() {
                message
            } else {
                format!("at endpoint `{}`: {message}", endpoints.join("`, `"))
            };
            findings.add(FindingKind::Warning, span, message);
            findings.help(problem.help());
            if let Some(last) = findings.all.last_mut() {
                last.is_left_out = matches!(problem, LoadError::VirtualTool { .. });
            }
        }
    }

    /// Adds endpoints over HTTP, of processes with the same keys, where one answer could make two of them write.
    fn answers_of_many_processes(&self, hosts: &[(Option<&str>, Host)], findings: &mut Findings) {
        if self.settings.state_keys.is_none() {
            return;
        }
        for (endpoint, (_, host)) in self.settings.endpoints.iter().zip(hosts) {
            let EndpointTransport::Http { options, .. } = &endpoint.transport else {
                continue;
            };
            let is_shared = matches!(options.session_storage, SessionStorage::Store(_));
            // A client of HTTP+SSE stays at its process.
            if is_shared || matches!(options.transport, HttpTransport::Sse { .. }) {
                continue;
            }
            let mut tools = host.tools().map(Tool::name);
            let Some(tool) = tools.find(|tool| host.may_write_before_it_asks(tool)) else {
                continue;
            };
            let name = &endpoint.name;
            let spans = self.endpoint_spans.get(name);
            let span = spans.map_or(0..0, |spans| spans.section.clone());
            let message = format!(
                "endpoint `{name}`: processes with the same `state_keys` do not know which answers the others have used, so \
                 tool `{tool}` may write twice for one answer"
            );
            findings.add(FindingKind::Warning, span, message);
            let help = "let the processes share a store: set `session.store = \"store:NAME\"`";
            findings.help(Some(help.to_owned()));
        }
    }

    /// Sections about single tools that their remotes do not list. Remotes that were not reached are not checked.
    fn unlisted_tools(&self, remotes: &[Mount]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for member in remotes.iter().map(|mount| &mount.member) {
            let lists = member.as_remote().map(RemoteMember::lists);
            let Some(lists) = lists.filter(|lists| !lists.protocol.is_empty()) else {
                continue;
            };
            let is_listed = |tool: &String| {
                let mut hidden = lists.hidden.iter();
                let is_hidden = hidden.any(|one| one.kind == FeatureKind::Tool && one.key == *tool);
                is_hidden || member.tool(tool).is_some()
            };
            let entry = self
                .settings
                .remotes
                .iter()
                .find(|one| one.name == member.name());
            let named = entry.into_iter().flat_map(|one| one.options.tools.keys());
            for tool in named.filter(|tool| !is_listed(tool)) {
                let spans = self.members.spans_of_remote(member.name());
                let mut tools = spans.into_iter().flat_map(|spans| &spans.tools);
                let span = tools.find(|(name, _)| name == tool);
                problems.push(Problem {
                    span: span.map_or(0..0, |(_, span)| span.clone()),
                    message: member.without_tool(tool),
                });
            }
        }
        problems
    }

    /// Adds what is most likely a mistake in virtual tools, and what is not proved.
    fn remarks_on_virtual_tools(&self, hosts: &[(Option<&str>, Host)], findings: &mut Findings) {
        for (_, host) in hosts {
            for proven in host.virtual_tools() {
                let (bundle, tool) = (proven.tool().bundle(), proven.tool().name());
                let text = &self.source.1;
                let place =
                    |problem: &ToolProblem| self.bundles.problem((bundle, tool), problem, text);
                let warnings = proven
                    .warnings()
                    .iter()
                    .map(place)
                    .map(|problem| (FindingKind::Warning, problem));
                let unproved = proven.unproved().iter().map(place).map(|mut problem| {
                    problem.message = format!("not proved: {}", problem.message);
                    (FindingKind::UnprovedInput, problem)
                });
                let inferred = proven.inferred_output().map(|(at, schema)| {
                    let mut problem = place(&ToolProblem::new(at, ""));
                    problem.message = format!("this has the schema {schema}; write it as `output` if clients should know it");
                    (FindingKind::InferredOutput, problem)
                });
                for (kind, problem) in warnings.chain(unproved).chain(inferred) {
                    // Endpoints share tools.
                    if !findings.iter().any(|one| one.says(&problem)) {
                        findings.add(kind, problem.span, problem.message);
                    }
                }
            }
        }
    }

    /// What each endpoint serves, or what a server without endpoints does.
    pub(super) fn hosts(&self, loaded: &Loaded, remotes: &[Mount]) -> Vec<(Option<&str>, Host)> {
        if self.settings.endpoints.is_empty() {
            return vec![(None, self.host_of_all(loaded, remotes))];
        }
        let endpoints = self.settings.endpoints.iter();
        endpoints
            .map(|endpoint| {
                let host = self.host_of(endpoint, loaded, remotes);
                (Some(endpoint.name.as_str()), host)
            })
            .collect()
    }

    fn problems_of<'h>(
        &self,
        host: &'h Host,
        served: Served<'_>,
    ) -> Vec<(Range<usize>, &'h LoadError)> {
        let remotes = served.remotes.unwrap_or_default();
        let problems = host.problems_of_members().filter_map(|(member, problem)| {
            let span = match (member, problem) {
                (Some(member), problem) => {
                    let spans = self.members.spans_of(member.name(), served.loaded, remotes);
                    spans.map(|spans| spans.span_of(problem))
                }
                // Virtual tools cannot be judged without the remotes that they call.
                (None, _) if served.remotes.is_none() => return None,
                (None, LoadError::VirtualTool { bundle, tool, .. }) => {
                    self.bundles.name_of(bundle, tool)
                }
                (None, _) => None,
            };
            Some((span.unwrap_or(0..0), problem))
        });
        problems.collect()
    }

    fn span_of(&self, failed: &FailedLoad) -> Range<usize> {
        let spans = self.members.spans_of_entry(failed.entry);
        spans.map_or(0..0, |spans| spans.span_of(&failed.error))
    }

    /// The error for a servlet without which the server does not start.
    pub(super) fn not_loaded(&self, failed: FailedLoad) -> ConfigError {
        ConfigError::Load {
            position: Position::of(&self.source, self.span_of(&failed).start),
            error: failed.error,
        }
    }
}
