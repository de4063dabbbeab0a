//! The clients, and how each is installed.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::npm::Packages;
use crate::python;
use crate::shell::{cargo, root, run, target};

/// A program in `tests/clients` that calls every tool with one client: `PROGRAM MODE CALLS TARGET…`.
pub(super) struct Client {
    pub(super) name: &'static str,
    /// `legacy` for protocol versions up to 2025-11-25, or a protocol version.
    modes: &'static [&'static str],
    transports: &'static [Transport],
    program: Program,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Stdio,
    Http,
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

impl Transport {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "HTTP",
            Self::Sse => "SSE",
        }
    }
}

enum Program {
    /// A script, and the requirements that pip installs.
    Python(&'static str, &'static [&'static str]),
    /// A script, and the packages that npm installs.
    Node(&'static str, &'static [&'static str]),
    /// A cargo package.
    Cargo(&'static str),
}

use Program::{Cargo, Node, Python};

const LEGACY: &[&str] = &["legacy"];
const BOTH: &[&str] = &["legacy", "2026-07-28"];
/// The client chooses the protocol version.
const AUTO: &[&str] = &["auto"];
const HTTP: &[Transport] = &[Transport::Http];
const ALL: &[Transport] = &[Transport::Stdio, Transport::Http];
const WITH_SSE: &[Transport] = &[Transport::Stdio, Transport::Http, Transport::Sse];

const MCP_1: &str = "mcp==1.30.0";
const MCP_2: &str = "mcp==2.3.0";
const SDK_1: &str = "@modelcontextprotocol/sdk@1.32.2";
const SDK_2: &str = "@modelcontextprotocol/client@2.4.0";
const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";

pub(super) const CLIENTS: [Client; 12] = [
    Client {
        transports: WITH_SSE,
        ..client("Python SDK 1", LEGACY, Python("with_mcp_1.py", &[MCP_1]))
    },
    client("Python SDK 2", BOTH, Python("with_mcp_2.py", &[MCP_2])),
    client(
        "FastMCP 4",
        BOTH,
        Python("with_fastmcp.py", &["fastmcp==4.1.0"]),
    ),
    client(
        "OpenAI Agents SDK",
        AUTO,
        Python("with_openai_agents.py", &["openai-agents==0.24.0"]),
    ),
    client(
        "Pydantic AI",
        AUTO,
        Python("with_pydantic_ai.py", &["pydantic-ai-slim[mcp]==2.68.0"]),
    ),
    client(
        "LangChain",
        AUTO,
        Python("with_langchain.py", &["langchain-mcp-adapters==0.3.2"]),
    ),
    client("TypeScript SDK 1", LEGACY, Node("with_sdk_1.mjs", &[SDK_1])),
    client("TypeScript SDK 2", BOTH, Node("with_sdk_2.mjs", &[SDK_2])),
    Client {
        transports: WITH_SSE,
        ..client("Inspector", BOTH, Node("with_inspector.mjs", &[INSPECTOR]))
    },
    client(
        "mcporter",
        AUTO,
        Node("with_mcporter.mjs", &["mcporter@0.12.3"]),
    ),
    Client {
        transports: HTTP,
        ..client(
            "Chromium, CORS",
            BOTH,
            Node(
                "with_browser.mjs",
                &[SDK_2, "esbuild@0.28.2", "playwright-core@1.65.1"],
            ),
        )
    },
    client("rmcp", BOTH, Cargo("with_rmcp")),
];

/// The name of the client that sends a key, and logs in nowhere.
pub(super) const INSPECTOR_LOGIN: &str = "Inspector, key";

/// Programs that log in over HTTP, and call two tools: `PROGRAM MODE URL`.
pub(super) const LOGINS: [Client; 5] = [
    login("Python SDK 1", LEGACY, Python("login_mcp_1.py", &[MCP_1])),
    login("Python SDK 2", BOTH, Python("login_mcp_2.py", &[MCP_2])),
    login(
        "TypeScript SDK 1",
        LEGACY,
        Node("login_sdk_1.mjs", &[SDK_1]),
    ),
    login("TypeScript SDK 2", BOTH, Node("login_sdk_2.mjs", &[SDK_2])),
    login(
        INSPECTOR_LOGIN,
        BOTH,
        Node("login_inspector.mjs", &[INSPECTOR]),
    ),
];

const fn client(name: &'static str, modes: &'static [&'static str], program: Program) -> Client {
    Client {
        name,
        modes,
        transports: ALL,
        program,
    }
}

const fn login(name: &'static str, modes: &'static [&'static str], program: Program) -> Client {
    Client {
        transports: HTTP,
        ..client(name, modes, program)
    }
}

impl Client {
    pub(super) fn is_wanted(&self, only: Option<&str>) -> bool {
        let contains = |part: &str| self.name.to_lowercase().contains(&part.to_lowercase());
        only.is_none_or(contains)
    }

    pub(super) fn combinations(&self) -> impl Iterator<Item = (&'static str, Transport)> {
        let transports = self.transports;
        let with = move |&mode: &&'static str| transports.iter().map(move |&over| (mode, over));
        let all = self.modes.iter().flat_map(with);
        // HTTP+SSE is older than the protocol versions that a client asks for by name.
        all.filter(|(mode, over)| *over != Transport::Sse || LEGACY.contains(mode))
    }

    /// Installs the client under the target directory. Returns the program and its first arguments.
    pub(super) fn install(&self) -> anyhow::Result<(PathBuf, Vec<OsString>)> {
        let scripts = root().join("tests/clients");
        // The two scripts of a client share what is installed.
        let folder = |script: &str| script.replace("login_", "with_");
        match self.program {
            Python(script, requirements) => {
                let folder = folder(script.trim_end_matches(".py"));
                let python = python::install(&folder, requirements)?;
                Ok((python, vec![scripts.join(script).into()]))
            }
            Node(script, packages) => {
                let folder = folder(script.trim_end_matches(".mjs"));
                let packages = Packages::install(&folder, packages)?;
                // Node looks for packages next to the script.
                let script = packages.adopt(&scripts, script)?;
                Ok((packages.node(), vec![script.into()]))
            }
            Cargo(package) => {
                let target = target().join(package);
                let mut build = cargo(&["build", "--quiet", "--locked", "--manifest-path"]);
                build.arg(scripts.join(package).join("Cargo.toml"));
                run(build.arg("--target-dir").arg(&target))?;
                Ok((target.join("debug").join(package), Vec::new()))
            }
        }
    }
}
