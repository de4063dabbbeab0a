//! The check of one servlet.

use mcp_servlet_call::JsonObject;
use mcp_servlet_host::{FeatureKind, LoadError, Servlet};
use mcp_servlet_runtime::{Abi, Fetched, Guest, LoadOptions, Module, Needs, Source, USER};
use mcp_servlet_schema::Provider;
use serde::Serialize;
use serde_json::Value;

use super::{
    description, dropped,
    finding::{Finding, Level},
    findings::Findings,
    lists::Lists,
    load, name, needs, provider,
    registry::{bundle_differs, check_whole_server_json},
    resource, schema, size,
    target::Target,
};

/// The result of checking a servlet.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The origin of the servlet, the name of a server, or the path of a `server.json`.
    pub source: String,
    /// The size of the module in bytes; `None` if it is not about a module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The ABI of the module; `None` if it is not a servlet.
    pub abi: Option<Abi>,
    /// Whether the module has a [contract](mcp_servlet_runtime::Contract).
    pub contract: bool,
    /// How many tools the servlet has; `None` if they could not be listed.
    pub tools: Option<usize>,
    /// What the servlet declares that it needs from its operator.
    #[serde(skip_serializing_if = "Needs::is_empty")]
    pub needs: Needs,
    /// The host functions that the module imports, in addition to those of Extism and WASI.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_functions: Vec<String>,
    /// The hosts of the check.
    pub hosts: Vec<Target>,
    /// The hosts that load the servlet.
    pub loads_in: Vec<Target>,
    /// The findings, the most important first.
    pub findings: Vec<Finding>,
}

/// Checks a servlet for some hosts and providers. The servlet is loaded and lists its items, within
/// the limits of `options`. No tool is called.
///
/// # Errors
/// [`LoadError`] if the module cannot be read. A module that does not load is a finding.
pub fn check(
    source: Source,
    options: &LoadOptions,
    hosts: &[Target],
    providers: &[Provider],
) -> Result<Report, LoadError> {
    let fetched = source.fetch()?;
    let mut findings = Findings::default();
    let mut report = Report {
        size: Some(fetched.wasm.len()),
        hosts: hosts.to_vec(),
        loads_in: hosts.to_vec(),
        ..Report::without_findings(fetched.origin.clone())
    };
    if let Ok(module) = Module::read(&fetched.wasm) {
        report.look_at(&mut findings, &module);
    }
    if let Err(error) = report.load(&mut findings, fetched, options) {
        load::check_load_error(&mut findings, report.abi, &error);
        report.loads_in.retain(|host| *host != Target::McpServlet);
    }
    let lost = findings.lost();
    report.loads_in.retain(|host| !lost.contains(host));
    report.findings = findings.ranked_for(hosts, providers);
    Ok(report)
}

/// Checks the tools of a server by the rules of some providers. `name` is what clients call the server, and each tool is a definition
/// of `tools/list`. The rules for modules do not apply.
pub fn check_server(
    source: String,
    name: &str,
    tools: impl IntoIterator<Item = JsonObject>,
    providers: &[Provider],
) -> Report {
    let lists = Lists::of_tools(tools);
    let mut findings = Findings::default();
    provider::check_providers(&mut findings, name, &lists);
    Report {
        tools: Some(lists.items.len()),
        findings: findings.ranked_for(&[], providers),
        ..Report::without_findings(source)
    }
}

/// The report about a `server.json`. `digest_of` returns the SHA-256 digest of a bundle, in hexadecimal digits, if there is a file
/// with this name.
pub fn report_of_server_json(
    source: String,
    document: &Value,
    digest_of: impl Fn(&str) -> Option<String>,
) -> Report {
    let mut findings = check_whole_server_json(document);
    let packages = document["packages"].as_array().into_iter().flatten();
    findings.extend(packages.filter_map(|package| bundle_differs(package, &digest_of)));
    Report {
        findings,
        ..Report::without_findings(source)
    }
}

impl Report {
    fn without_findings(source: String) -> Self {
        Self {
            source,
            size: None,
            abi: None,
            contract: false,
            tools: None,
            needs: Needs::default(),
            host_functions: Vec::new(),
            hosts: Vec::new(),
            loads_in: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Whether it is about a `server.json`, not a module or a server.
    pub fn is_about_server_json(&self) -> bool {
        self.size.is_none() && self.tools.is_none()
    }

    /// Loads the servlet, and looks at its lists. A servlet that fails to describe itself would fail again.
    fn load(
        &mut self,
        findings: &mut Findings,
        fetched: Fetched,
        options: &LoadOptions,
    ) -> Result<(), LoadError> {
        let guest = Guest::from_fetched(fetched, options)?;
        let servlet = Servlet::new(guest.clone());
        if !matches!(servlet, Err(LoadError::Describe { .. })) {
            self.look_at_lists(findings, &guest);
        }
        servlet.map(drop)
    }

    fn look_at(&mut self, findings: &mut Findings, module: &Module) {
        self.abi = module.abi();
        self.contract = module.contract().is_some();
        self.needs = module.needs().clone();
        let imports = module.imports.iter().filter(|import| import.module == USER);
        self.host_functions = imports.map(|import| import.name.clone()).collect();
        load::check_imports(findings, module);
        load::check_exports(findings, module);
        needs::check_needs(findings, module);
        size::check_size(findings, module);
        if self.abi.is_some() && !module.unknown_imports().is_empty() {
            load::note_that_it_cannot_run(findings);
        }
    }

    fn look_at_lists(&mut self, findings: &mut Findings, guest: &Guest) {
        let (lists, abi) = (Lists::ask(guest), guest.abi());
        self.tools = Some(lists.items_of(FeatureKind::Tool).count());
        dropped::check_dropped(findings, guest.module(), abi, &lists);
        load::check_answers(findings, abi, &lists);
        check_lists(findings, guest.name(), abi, &lists);
    }

    /// How many findings have this level for a host.
    pub fn count(&self, host: Target, level: Level) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.hosts.get(&host) == Some(&level))
            .count()
    }

    /// Removes the notes of providers.
    pub fn without_provider_notes(&mut self) {
        for finding in &mut self.findings {
            finding.providers.retain(|_, level| *level > Level::Note);
        }
        self.findings.retain(|finding| {
            !finding.hosts.is_empty() || !finding.providers.is_empty() || finding.registry.is_some()
        });
    }

    /// The highest level of all findings; `None` without findings.
    pub fn level(&self) -> Option<Level> {
        self.findings.iter().map(Finding::level).max()
    }
}

fn check_lists(findings: &mut Findings, servlet: &str, abi: Abi, lists: &Lists) {
    name::check_names(findings, servlet, lists);
    description::check_descriptions(findings, lists);
    schema::check_schemas(findings, lists);
    resource::check_resources(findings, abi, lists);
    provider::check_providers(findings, servlet, lists);
}
