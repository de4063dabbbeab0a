//! `servlet check`: checks whether a servlet works in each host, and whether model providers take the tools of a server.

mod registry;

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::{Args, ValueEnum};
use mcp_catalog::{Detail, Diagnostic, ItemKind, Severity};
use mcp_servlet_check::{
    Finding, Level, Location, Report, Target, check_all, check_server, report_of_server_json,
};
use mcp_servlet_host::FeatureKind;
use mcp_servlet_runtime::{Abi, Source};
use mcp_servlet_schema::Provider;
use serde_json::{Value, json};

use crate::{
    build::{self, Project},
    catalog::catalog,
    failure::{Failure, Kind, indented},
    format::Format,
    needs,
    session::{self, ServerOptions},
    terminal::{self, Style, Visible, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// A `.wasm` file, a folder of them, the URL of one or an `oci://` reference; a crate or a workspace, which is built; or a
    /// server: a URL, the name of a server in the configuration of an MCP client, a `servlet.toml`, or a `.json` file with a catalog;
    /// or a `server.json`. Default: the crate in this folder
    target: Option<String>,

    /// Build a crate for this ABI
    #[arg(long, value_enum, value_name = "NAME")]
    abi: Option<build::Abi>,

    /// Check only this host; may be repeated
    #[arg(long, value_enum, value_name = "HOST")]
    host: Vec<Host>,

    /// Check only the rules of these providers, with their notes: anthropic, openai, gemini, cursor; `registry` adds the limits of
    /// the MCP registry
    #[arg(long = "for", value_name = "PROVIDER", value_delimiter = ',')]
    rules: Vec<RuleSet>,

    /// Fail on warnings
    #[arg(long, value_enum, value_name = "LEVEL")]
    deny: Option<Deny>,

    /// `json` prints a list
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    server: ServerOptions,
}

/// What is checked.
enum Subject {
    Modules(Vec<Source>),
    Server(session::Target),
    /// A `server.json`, with its text.
    ServerJson(PathBuf, Value),
}

/// Whose rules to check.
#[derive(Clone, Copy, Debug)]
enum RuleSet {
    Provider(Provider),
    /// What a servlet says about itself in the MCP registry.
    Registry,
}

impl FromStr for RuleSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "registry" => Ok(Self::Registry),
            provider => Provider::from_str(provider)
                .map(Self::Provider)
                .map_err(|error| format!("{error}, or `registry`")),
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Host {
    /// mcp.run, by its published interface
    #[value(name = "mcp.run")]
    McpRun,
    /// hyper-mcp, with either ABI
    #[value(name = "hyper-mcp")]
    HyperMcp,
    /// `servlet serve`
    #[value(name = "mcp-servlet")]
    McpServlet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    Warnings,
}

impl From<Host> for Target {
    fn from(host: Host) -> Self {
        match host {
            Host::McpRun => Self::McpRun,
            Host::HyperMcp => Self::HyperMcp,
            Host::McpServlet => Self::McpServlet,
        }
    }
}

impl Check {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let hosts = match &*self.host {
            [] => Target::ALL.to_vec(),
            some => some.iter().copied().map(Target::from).collect(),
        };
        let providers: Vec<_> = self
            .rules
            .iter()
            .filter_map(|rules| match rules {
                RuleSet::Provider(provider) => Some(*provider),
                RuleSet::Registry => None,
            })
            .collect();
        let of_some = if providers.is_empty() {
            &Provider::ALL[..]
        } else {
            &providers
        };
        let mut reports = match self.subject()? {
            Subject::Modules(sources) => self.check_modules(&sources, &hosts, of_some)?,
            Subject::Server(target) => vec![self.check_server(&target, of_some)?],
            Subject::ServerJson(path, document) => {
                self.only_for_modules()?;
                vec![report_of_server_json(
                    path.display().to_string(),
                    &document,
                    |file| registry::digest_beside(&path, file),
                )]
            }
        };
        if providers.is_empty() {
            reports.iter_mut().for_each(Report::without_provider_notes);
        }
        write(&reports, self.format)?;
        let bearable = match self.deny {
            Some(Deny::Warnings) => Level::Note,
            None => Level::Warning,
        };
        let mut worst = reports.iter().filter_map(Report::level);
        if worst.any(|level| level > bearable) {
            return Err(Failure::CheckFailed);
        }
        Ok(())
    }

    /// Modules, if TARGET is an existing path or a module, or if nothing names a server. Otherwise a server.
    fn subject(&self) -> Result<Subject, Failure> {
        let is_path = |word: &str| {
            let path = Path::new(word);
            let extension = path.extension();
            let has = |name: &str| extension.is_some_and(|one| one.eq_ignore_ascii_case(name));
            path.exists() && !has("json") && (!has("toml") || path.ends_with("Cargo.toml"))
        };
        let path = match &self.target {
            _ if self.server.names_one() => None,
            None => Some("."),
            Some(word) => Some(word.as_str()).filter(|word| is_path(word)),
        };
        if let Some(path) = path {
            self.server.check(&session::Target::Servlets(path.into()))?;
            return Ok(Subject::Modules(sources(path, self.abi)?));
        }
        let target = self.server.only_target(self.target.as_ref())?;
        if let session::Target::Catalog(path) = &target
            && let Some(document) = registry::read_server_json(path)?
        {
            return Ok(Subject::ServerJson(path.clone(), document));
        }
        Ok(match (&self.target, &target) {
            (Some(word), session::Target::Module(source)) => {
                refuse_abi(self.abi, word)?;
                Subject::Modules(source.clone().expand()?)
            }
            _ => Subject::Server(target),
        })
    }

    fn is_for_registry(&self) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rules| matches!(rules, RuleSet::Registry))
    }

    fn check_modules(
        &self,
        sources: &[Source],
        hosts: &[Target],
        providers: &[Provider],
    ) -> Result<Vec<Report>, Failure> {
        let options = self.server.limits.options()?;
        let mut reports = check_all(sources, &options, hosts, providers)?;
        if self.is_for_registry() {
            for (source, report) in sources.iter().zip(&mut reports) {
                registry::check_servlet(source, &options, report);
            }
        }
        Ok(reports)
    }

    fn check_server(
        &self,
        target: &session::Target,
        providers: &[Provider],
    ) -> Result<Report, Failure> {
        self.only_for_modules()?;
        let catalog = catalog(&self.server, target, self.format)?;
        let own = catalog.server.info.get("name").and_then(Value::as_str);
        let name = match target {
            // Clients call it so.
            session::Target::Name(name) => name,
            _ => own.unwrap_or("server"),
        };
        let tools = catalog.items.iter().filter_map(|item| {
            let Detail::Tool(tool) = &item.detail else {
                return None;
            };
            let description = item.description.as_deref();
            let definition = json!({
                "name": item.name,
                "description": description,
                "inputSchema": tool.input.json,
            });
            definition.as_object().cloned()
        });
        let mut report = check_server(name.to_owned(), name, tools, providers);
        let errors = catalog
            .diagnostics
            .iter()
            .filter_map(|one| error_of_tool(one, providers));
        report.findings.splice(0..0, errors);
        if self.is_for_registry() {
            registry::check_info(&catalog.server.info, &mut report);
        }
        Ok(report)
    }

    /// Refuses options that are for modules.
    fn only_for_modules(&self) -> Result<(), Failure> {
        let options = [
            ("--abi", self.abi.is_some()),
            ("--host", !self.host.is_empty()),
        ];
        match options.into_iter().find(|(_, is_set)| *is_set) {
            Some((option, _)) => {
                let message = format!("`{option}` only applies to servlets");
                Err(Failure::new(Kind::Usage, message))
            }
            None => Ok(()),
        }
    }
}

/// The finding for an error in the definition of a server's tool, with which clients cannot use it.
fn error_of_tool(diagnostic: &Diagnostic, providers: &[Provider]) -> Option<Finding> {
    let item = diagnostic.item.as_ref()?;
    if item.kind != ItemKind::Tool || diagnostic.severity != Severity::Error {
        return None;
    }
    let explained = || format!("`servlet explain {}`", diagnostic.code);
    Some(Finding {
        rule: "tool",
        hosts: BTreeMap::new(),
        providers: providers.iter().map(|one| (*one, Level::Error)).collect(),
        registry: None,
        location: Some(Location {
            kind: FeatureKind::Tool,
            items: vec![item.key.clone()],
            pointer: diagnostic.pointer.clone(),
        }),
        problem: diagnostic.message.clone(),
        help: Some(diagnostic.help.clone().unwrap_or_else(explained)),
    })
}

/// The servlets that are built, if the path is a crate; otherwise the modules at the path.
fn sources(path: &str, abi: Option<build::Abi>) -> Result<Vec<Source>, Failure> {
    let folder = build::folder(Path::new(path));
    if !folder.join("Cargo.toml").is_file() {
        refuse_abi(abi, path)?;
        return Ok(Source::parse(path).expand()?);
    }
    let built = Project::read(folder)?
        .build(abi.unwrap_or_default(), false, None)?
        .into_iter();
    Ok(built.map(|(_, file)| Source::File(file)).collect())
}

/// Only a crate can be built for an ABI.
fn refuse_abi(abi: Option<build::Abi>, found: &str) -> Result<(), Failure> {
    if abi.is_none() {
        return Ok(());
    }
    let message = format!("`--abi` needs a crate, found `{found}`");
    Err(Failure::new(Kind::Usage, message))
}

fn write(reports: &[Report], format: Format) -> io::Result<()> {
    let mut out = terminal::out();
    if format == Format::Json {
        return writeln!(terminal::json(), "{}", serde_json::json!(reports));
    }
    for (at, report) in reports.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        write_report(&mut out, report)?;
    }
    Ok(())
}

fn write_report<W: Write>(out: &mut Visible<W>, report: &Report) -> io::Result<()> {
    out.styled(Style::Name, &report.source)?;
    match report.size {
        Some(size) => write!(out, ": {size} bytes")?,
        None if report.is_about_server_json() => {
            writeln!(out, ": a `server.json` for the MCP registry")?;
            return write_findings(out, &report.findings);
        }
        None => write!(out, ": a server")?,
    }
    match report.tools {
        Some(1) => writeln!(out, ", 1 tool")?,
        Some(count) => writeln!(out, ", {count} tools")?,
        None => writeln!(out)?,
    }
    if report.size.is_none() {
        writeln!(out, "  the rules of hosts for modules do not apply")?;
    }
    for host in &report.hosts {
        writeln!(out, "  {:<11}  {}", host.name(), verdict(report, *host))?;
    }
    if report.contract {
        let is_right = report.loads_in.contains(&Target::McpServlet);
        let matching = if is_right { "matches" } else { "not confirmed" };
        writeln!(out, "  contract     {matching}")?;
    }
    let functions = report
        .host_functions
        .iter()
        .map(|name| format!("function  {}", one_line(name)));
    for need in needs::lines(&report.needs).chain(functions) {
        writeln!(out, "  needs        {need}")?;
    }
    write_findings(out, &report.findings)
}

pub(crate) fn write_findings<W: Write>(
    out: &mut Visible<W>,
    findings: &[Finding],
) -> io::Result<()> {
    grouped(findings)
        .iter()
        .try_for_each(|(finding, locations)| write_finding(out, finding, locations))
}

/// The findings without their locations, each with all locations that it has.
fn grouped(findings: &[Finding]) -> Vec<(Finding, Vec<&Location>)> {
    let mut groups: Vec<(Finding, Vec<&Location>)> = Vec::new();
    for finding in findings {
        let alone = Finding {
            location: None,
            ..finding.clone()
        };
        match groups.iter_mut().find(|(known, _)| *known == alone) {
            Some((_, locations)) => locations.extend(&finding.location),
            None => groups.push((alone, finding.location.iter().collect())),
        }
    }
    groups
}

/// A line for each item, with all places in it.
fn lines(locations: &[&Location]) -> Vec<String> {
    let mut lines: Vec<(&Location, String)> = Vec::new();
    for location in locations {
        let item =
            |known: &Location| (known.kind, &known.items) == (location.kind, &location.items);
        match lines.iter_mut().find(|(known, _)| item(known)) {
            Some((_, line)) => line.extend([", ", &location.pointer]),
            None => lines.push((location, location.to_string())),
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// For example "works, as v1: 1 warning".
fn verdict(report: &Report, host: Target) -> String {
    let errors = report.count(host, Level::Error);
    let mut verdict = String::from(match errors {
        0 => "works",
        _ if report.loads_in.contains(&host) => "works in part",
        _ => "does not load",
    });
    if host == Target::HyperMcp && report.loads_in.contains(&host) {
        verdict += match report.abi {
            Some(Abi::HyperMcpV2) => ", as v2",
            _ => ", as v1",
        };
    }
    let levels = [Level::Error, Level::Warning, Level::Note];
    let counts: Vec<_> = levels
        .into_iter()
        .map(|level| (report.count(host, level), name(level)))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
        .collect();
    if !counts.is_empty() {
        verdict += ": ";
        verdict += &counts.join(", ");
    }
    verdict
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

fn style(level: Level) -> Style {
    match level {
        Level::Error => Style::Error,
        Level::Warning => Style::Problem,
        Level::Note => Style::Faint,
    }
}

fn write_finding<W: Write>(
    out: &mut Visible<W>,
    finding: &Finding,
    locations: &[&Location],
) -> io::Result<()> {
    writeln!(out)?;
    let level = finding.level();
    let problem = indented(&finding.problem, "  ");
    out.styled(style(level), &format!("{}[{}]", name(level), finding.rule))?;
    writeln!(out, ": {problem}")?;
    for line in lines(locations) {
        writeln!(out, "  at {}", one_line(&line))?;
    }
    writeln!(out, "  in {}", hosts(finding))?;
    if let Some(help) = &finding.help {
        write!(out, "  ")?;
        out.styled(Style::Help, "help:")?;
        writeln!(out, " {}", indented(help, "        "))?;
    }
    Ok(())
}

/// For example "mcp.run; a warning in hyper-mcp, mcp-servlet".
fn hosts(finding: &Finding) -> String {
    if finding.registry.is_some() {
        return "the MCP registry".to_owned();
    }
    let worst = finding.level();
    let every_host = finding.hosts_at(worst).count() == Target::ALL.len();
    if every_host && finding.providers.is_empty() {
        return "every host".to_owned();
    }
    let names = |level| {
        let providers = finding
            .providers
            .iter()
            .filter(|(_, known)| **known == level)
            .map(|(provider, _)| provider.name());
        let names: Vec<_> = finding
            .hosts_at(level)
            .map(Target::name)
            .chain(providers)
            .collect();
        names.join(", ")
    };
    let mut text = names(worst);
    for (level, word) in [(Level::Warning, "a warning"), (Level::Note, "a note")] {
        let others = names(level);
        if level < worst && !others.is_empty() {
            text.extend(["; ", word, " in ", &others]);
        }
    }
    text
}
