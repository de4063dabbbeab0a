//! Whether hosts can load a module, and with which ABI.

use mcp_servlet_call::chain;
use mcp_servlet_common::quoted;
use mcp_servlet_host::LoadError;
use mcp_servlet_runtime::{
    Abi, DESCRIBE, Export, Import, LIST_TOOLS, LoadError as ModuleError, Module, USER,
};

use super::{
    finding::{EXPORTS, Finding, IMPORTS, LOAD, Level},
    findings::Findings,
    lists::Lists,
    target::Target,
};

const LIST: &str = "list";

/// The function with which servlets call tools of other servlets and of remotes.
const CALL_TOOL: &str = "call_tool";

/// A host does not load a module with imports that it does not provide.
pub(super) fn check_imports(findings: &mut Findings, module: &Module) {
    for host in Target::ALL {
        let mut lacking: Vec<_> = module
            .imports
            .iter()
            .filter(|import| !host.provides(import))
            .collect();
        let calls = lacking.extract_if(.., |import| {
            import.module == USER && import.name == CALL_TOOL
        });
        if calls.count() > 0 {
            findings.add(without_calls(host));
        }
        if lacking.is_empty() {
            continue;
        }
        let problem = format!(
            "it imports functions that are not provided: {}",
            quoted(&lacking)
        );
        let finding = Finding::new(IMPORTS, problem).matters(Level::Error, &[host]);
        findings.add(finding.help(help_for(&lacking)));
    }
}

/// The finding for a host whose servlets cannot call tools.
fn without_calls(host: Target) -> Finding {
    let (effect, abi) = match host {
        Target::HyperMcp => ("skips the whole servlet", "hyper-mcp-v2"),
        Target::McpRun | Target::McpServlet => ("does not load the servlet", "servlet-strict"),
    };
    let problem = format!("{} does not have `{CALL_TOOL}` and {effect}", host.name());
    let help = format!("build it with `--abi {abi}` or the feature `no-tools`");
    let finding = Finding::new(IMPORTS, problem).matters(Level::Error, &[host]);
    finding.help(help)
}

fn help_for(lacking: &[&Import]) -> &'static str {
    if lacking.iter().any(|import| import.is_wasm_bindgen()) {
        return "a dependency is built for browsers (wasm-bindgen); `servlet build` names it";
    }
    "remove the code that needs these functions, or build a separate servlet for the other hosts"
}

/// The exports decide which hosts accept the module as a servlet.
pub(super) fn check_exports(findings: &mut Findings, module: &Module) {
    match module.abi() {
        Some(Abi::Servlet) => check_second_abi(findings, module),
        Some(Abi::HyperMcpV2) => {
            let problem = "mcp.run does not load it: it does not export `describe` and `call`";
            let finding = Finding::new(EXPORTS, problem);
            findings.add(
                finding
                    .help("for mcp.run, build it a second time without `--abi`")
                    .matters(Level::Error, &[Target::McpRun]),
            );
        }
        None => {
            let functions: Vec<_> = module
                .exports
                .iter()
                .filter(|export| export.function)
                .map(|export: &Export| &export.name)
                .collect();
            let (problem, help) = match &*functions {
                [] => (
                    "not a servlet: it exports no function".to_owned(),
                    "is the crate a `cdylib`, and does it use `mcp_servlet::export!`?",
                ),
                some => (
                    format!(
                        "not a servlet: it exports {}, but neither `describe` and `call` nor `list_tools`",
                        quoted(some)
                    ),
                    "if it is a plugin with an XTP schema, its own host loads it; a servlet has `mcp_servlet::export!`",
                ),
            };
            let finding = Finding::new(EXPORTS, problem);
            findings.add(finding.help(help).error());
        }
    }
}

fn check_second_abi(findings: &mut Findings, module: &Module) {
    if !module.can_call(LIST_TOOLS) {
        return;
    }
    let problem =
        "it exports two ABIs; hosts do not call the exports of the second, such as `list_tools`";
    let finding = Finding::new(EXPORTS, problem);
    findings.add(finding.help("build one servlet for each ABI").warning());
}

/// Other hosts may provide the imports that are missing here.
pub(super) fn note_that_it_cannot_run(findings: &mut Findings) {
    let problem =
        "its lists were not checked: `servlet` does not provide all functions that it imports";
    findings.add(Finding::new("unchecked", problem).note());
}

/// Outputs that are not lists.
pub(super) fn check_answers(findings: &mut Findings, abi: Abi, lists: &Lists) {
    for (export, problem) in &lists.wrong {
        let problem = format!("`{export}` returned an invalid list: {problem}");
        let finding = Finding::new(LIST, problem);
        findings.add(finding.matters(Level::Error, callers(export, abi)));
    }
}

/// The hosts that call an export.
fn callers(export: &str, abi: Abi) -> &'static [Target] {
    match abi {
        _ if [DESCRIBE, LIST_TOOLS].contains(&export) => &Target::ALL,
        Abi::Servlet => &[Target::McpServlet],
        Abi::HyperMcpV2 => &[Target::HyperMcp, Target::McpServlet],
    }
}

/// Errors of the host of this project, as far as they apply to every host.
pub(super) fn check_load_error(findings: &mut Findings, abi: Option<Abi>, error: &LoadError) {
    match error {
        LoadError::Module(ModuleError::UnknownImports { .. }) => {}
        LoadError::Module(
            ModuleError::Unreadable { .. }
            | ModuleError::Compile { .. }
            | ModuleError::Start { .. },
        )
        | LoadError::Describe { .. } => findings.add(refusal(LOAD, error).error()),
        LoadError::List { export, .. } => {
            let callers = abi.map_or(&[][..], |abi| callers(export, abi));
            findings.add(refusal(LIST, error).matters(Level::Error, callers));
        }
        // Another rule may explain it better, for each item. If there is none, this finding stays.
        _ if findings.fails(Target::McpServlet) => {}
        _ => findings.add(refusal(LOAD, error).matters(Level::Error, &[Target::McpServlet])),
    }
}

fn refusal(rule: &'static str, error: &LoadError) -> Finding {
    let finding = Finding::new(rule, chain(error));
    match error.help() {
        Some(help) => finding.help(help),
        None => finding,
    }
}
