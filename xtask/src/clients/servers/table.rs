//! The servers, and how each is installed.

use std::ffi::OsStr;
use std::process::Command;

use crate::npm::Packages;
use crate::python;
use crate::shell::root;

/// A published server that lists without an account and without the network.
pub(in crate::clients) struct Server {
    pub(in crate::clients) name: &'static str,
    package: Package,
    arguments: &'static [&'static str],
}

enum Package {
    /// A package of npm, and its program.
    Npm(&'static str, &'static str),
    /// Requirements for pip, and the module that Python runs.
    PyPi(&'static [&'static str], &'static str),
    /// A requirement for pip, and a script in `tests/clients`.
    Script(&'static str, &'static str),
}

use Package::{Npm, PyPi, Script};

/// The option of servers that use HTTP without it.
const STDIO: &[&str] = &["--stdio"];

/// A server with every feature, which also has other transports.
const WITH_TRANSPORTS: Package = Npm(
    "@modelcontextprotocol/server-everything@2026.8.31",
    "mcp-server-everything",
);

/// That server over stdio.
pub(super) const OVER_STDIO: Server = server("everything", WITH_TRANSPORTS, &["stdio"]);

/// That server over HTTP+SSE.
pub(super) const OVER_SSE: Server = server("everything", WITH_TRANSPORTS, &["sse"]);

/// `@stripe/mcp` is not among them: version 0.3.3 lists nothing without the network, because it passes all messages to a server of
/// Stripe.
pub(in crate::clients) const SERVERS: [Server; 24] = [
    OVER_STDIO,
    server(
        "filesystem",
        Npm(
            "@modelcontextprotocol/server-filesystem@2026.8.31",
            "mcp-server-filesystem",
        ),
        &["docs"],
    ),
    server(
        "memory",
        Npm(
            "@modelcontextprotocol/server-memory@2026.8.31",
            "mcp-server-memory",
        ),
        &[],
    ),
    server(
        "sequential-thinking",
        Npm(
            "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
            "mcp-server-sequential-thinking",
        ),
        &[],
    ),
    server(
        "basic-vanillajs",
        Npm(
            "@modelcontextprotocol/server-basic-vanillajs@2.0.3",
            "mcp-server-basic-vanillajs",
        ),
        STDIO,
    ),
    server(
        "threejs",
        Npm(
            "@modelcontextprotocol/server-threejs@2.0.3",
            "mcp-threejs-server",
        ),
        STDIO,
    ),
    server(
        "map",
        Npm("@modelcontextprotocol/server-map@2.0.3", "mcp-map-server"),
        STDIO,
    ),
    server(
        "notion",
        Npm("@notionhq/notion-mcp-server@2.5.2", "notion-mcp-server"),
        &[],
    ),
    server(
        "playwright",
        Npm("@playwright/mcp@0.0.83", "playwright-mcp"),
        &[],
    ),
    server(
        "budget-allocator",
        Npm(
            "@modelcontextprotocol/server-budget-allocator@2.0.3",
            "mcp-budget-allocator-server",
        ),
        STDIO,
    ),
    server(
        "cohort-heatmap",
        Npm(
            "@modelcontextprotocol/server-cohort-heatmap@2.0.3",
            "mcp-cohort-heatmap-server",
        ),
        STDIO,
    ),
    server(
        "scenario-modeler",
        Npm(
            "@modelcontextprotocol/server-scenario-modeler@2.0.3",
            "mcp-scenario-modeler-server",
        ),
        STDIO,
    ),
    server(
        "chrome-devtools",
        Npm("chrome-devtools-mcp@1.11.0", "chrome-devtools-mcp"),
        &[],
    ),
    server(
        "browsermcp",
        Npm("@browsermcp/mcp@0.1.3", "mcp-server-browsermcp"),
        &[],
    ),
    server("tavily", Npm("tavily-mcp@0.2.22", "tavily-mcp"), &[]),
    server("exa", Npm("exa-mcp-server@3.4.1", "exa-mcp-server"), &[]),
    server("eslint", Npm("@eslint/mcp@0.3.13", "mcp"), &[]),
    server(
        "code-runner",
        Npm("mcp-server-code-runner@0.1.8", "mcp-server-code-runner"),
        &[],
    ),
    server(
        "time",
        PyPi(&["mcp-server-time==2026.10.19"], "mcp_server_time"),
        &[],
    ),
    server(
        "fetch",
        PyPi(&["mcp-server-fetch==2026.10.24"], "mcp_server_fetch"),
        // It fetches a page of this machine.
        &["--allow-private-ips"],
    ),
    server(
        "arxiv",
        PyPi(&["arxiv-mcp-server==0.8.2", "mcp<2"], "arxiv_mcp_server"),
        &[],
    ),
    server(
        "duckduckgo",
        PyPi(
            &["duckduckgo-mcp-server==0.6.1", "mcp<2"],
            "duckduckgo_mcp_server.server",
        ),
        &[],
    ),
    server(
        "calculator",
        PyPi(
            &["mcp-server-calculator==0.2.1", "mcp<2"],
            "mcp_server_calculator",
        ),
        &[],
    ),
    server(
        "fastmcp",
        Script("fastmcp==4.1.2", "fastmcp_server.py"),
        &[],
    ),
];

const fn server(
    name: &'static str,
    package: Package,
    arguments: &'static [&'static str],
) -> Server {
    Server {
        name,
        package,
        arguments,
    }
}

impl Server {
    /// Installs the server under the target directory and returns its command, which sets the variables that it needs.
    pub(in crate::clients) fn install(&self) -> anyhow::Result<Vec<String>> {
        let folder = format!("server-{}", self.name);
        let mut command = match self.package {
            Npm(package, program) => Packages::install(&folder, &[package])?.program(program)?,
            PyPi(requirements, module) => {
                let mut python = Command::new(python::install(&folder, requirements)?);
                python.args(["-m", module]);
                python
            }
            Script(requirement, script) => {
                let mut python = Command::new(python::install(&folder, &[requirement])?);
                python.arg(root().join("tests/clients").join(script));
                python
            }
        };
        command.args(self.arguments);
        let text = |word: &OsStr| word.to_string_lossy().into_owned();
        let variables = command
            .get_envs()
            .filter_map(|(name, value)| Some(format!("{}={}", text(name), text(value?))));
        let program = std::iter::once(command.get_program()).chain(command.get_args());
        Ok(std::iter::once("env".to_owned())
            .chain(variables)
            .chain(program.map(text))
            .collect())
    }
}
