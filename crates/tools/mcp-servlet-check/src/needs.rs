//! Whether the declaration of a servlet's needs can be read, and whether the servlet can use what
//! it asks for.

use mcp_servlet_common::quoted;
use mcp_servlet_runtime::{Abi, Module, Needs};

use super::{
    finding::{Finding, Level},
    findings::Findings,
    target::Target,
};

/// A declaration that cannot be read does not help the operator. A grant is useless if the module
/// does not import the function that uses it.
pub(super) fn check_needs(findings: &mut Findings, module: &Module) {
    if let Some(problem) = module.needs_problem() {
        let problem = format!("cannot read the section `mcp-servlet:needs`: {problem}");
        add(
            findings,
            problem,
            "build it again with the latest `mcp-servlet`",
        );
    }
    let needs = module.needs();
    if !needs.config.is_empty() && !module.imports_extism("config_get") {
        let keys: Vec<_> = needs.config.iter().map(|key| &key.name).collect();
        let problem = format!(
            "it declares the configuration {} but reads none",
            quoted(&keys)
        );
        add(
            findings,
            problem,
            "read it with `context.config`, or remove it from `export!`",
        );
    }
    if !needs.hosts.is_empty() && !module.imports_extism("http_request") {
        let hosts = quoted(&needs.hosts);
        let problem = format!("it declares the hosts {hosts} but sends no HTTP request");
        add(findings, problem, "remove `hosts` from `export!`");
    }
    if needs.hosts.is_empty() && module.imports_extism("http_request") {
        let problem = "it sends HTTP requests but declares no hosts";
        let help =
            "name them with `hosts` in `export!`, so that operators know which ones to allow";
        let note = Finding::new("needs", problem).matters(Level::Note, &[Target::McpServlet]);
        findings.add(note.help(help));
    }
    if !needs.paths.is_empty() && !module.uses_wasi() {
        let paths = quoted(&needs.paths);
        let problem = format!("it declares the directories {paths} but cannot open files");
        add(
            findings,
            problem,
            "build it for WASI (`servlet build --target wasm32-wasip1`), or remove `paths` from `export!`",
        );
    }
    // Builds for other hosts do without tools.
    let is_for_other_hosts = module.abi() != Some(Abi::Servlet) || module.is_strict();
    if !module.calls_tools() && !is_for_other_hosts {
        check_calls(findings, needs);
    }
}

fn check_calls(findings: &mut Findings, needs: &Needs) {
    for (key, what, grants) in [
        ("calls", "the tools", &needs.calls),
        ("reads", "the resources", &needs.reads),
    ] {
        if grants.is_empty() {
            continue;
        }
        let grants = quoted(grants);
        let problem = format!("it declares {what} {grants} but does not import `call_tool`");
        let help = format!(
            "use `context.tools()`, build without the feature `no-tools`, or remove `{key}` from `export!`"
        );
        add(findings, problem, &help);
    }
}

/// Only the host and the tools of this project read the declaration.
fn add(findings: &mut Findings, problem: String, help: &str) {
    let finding = Finding::new("needs", problem).matters(Level::Warning, &[Target::McpServlet]);
    findings.add(finding.help(help));
}
