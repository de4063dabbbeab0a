//! The hosts that are compared, and the commands that start them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::{Value, json};

/// The parameters of `initialize`.
pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "0" },
    })
}

/// A host of servlets.
#[derive(Clone)]
pub(crate) enum Host {
    /// `servlet serve`, with the path of the command.
    Ours(PathBuf),
    /// hyper-mcp, with the path of the command.
    HyperMcp(PathBuf),
}

impl Host {
    /// The name under which it lists a tool of a servlet.
    pub(crate) fn tool(&self, servlet: &str, tool: &str) -> String {
        match self {
            Self::Ours(_) => format!("{servlet}_{tool}"),
            Self::HyperMcp(_) => format!("{servlet}-{tool}"),
        }
    }

    /// The command that serves these servlets over stdio with logs turned off. Its files and its
    /// compile cache are in `folder`.
    pub(crate) fn command(&self, servlets: &[Servlet], folder: &Path) -> anyhow::Result<Command> {
        let (program, config) = match self {
            Self::Ours(program) => (program, folder.join("servlet.toml")),
            Self::HyperMcp(program) => (program, folder.join("hyper-mcp.json")),
        };
        let text = match self {
            Self::Ours(_) => ours(servlets),
            Self::HyperMcp(_) => hyper_mcp(servlets),
        };
        std::fs::write(&config, text).with_context(|| config.display().to_string())?;
        let mut command = Command::new(program);
        match self {
            Self::Ours(_) => command.arg("serve").arg(config),
            Self::HyperMcp(_) => command.arg("--config-file").arg(config),
        };
        command
            .env("RUST_LOG", "error")
            .env("RUST_BACKTRACE", "0")
            .env("HOME", folder)
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .env("HYPER_MCP_LOG_PATH", folder.join("logs"));
        Ok(command)
    }
}

/// A servlet with a name.
pub(crate) struct Servlet {
    pub(crate) name: String,
    pub(crate) wasm: PathBuf,
}

impl Servlet {
    /// Copies of a servlet that differ in a custom section, so that no host can reuse a compiled
    /// module for the next copy.
    pub(crate) fn several(count: usize, wasm: &Path, folder: &Path) -> anyhow::Result<Vec<Self>> {
        let module = std::fs::read(wasm).with_context(|| wasm.display().to_string())?;
        let mut servlets = Vec::new();
        for number in 0..count {
            let name = format!("s{number}");
            let wasm = folder.join(&name).with_extension("wasm");
            let mut module = module.clone();
            module.extend(custom_section(&name));
            std::fs::write(&wasm, module).with_context(|| wasm.display().to_string())?;
            servlets.push(Self { name, wasm });
        }
        Ok(servlets)
    }
}

/// An empty custom section with this name. All lengths are below 128, so each takes one byte.
fn custom_section(name: &str) -> Vec<u8> {
    let length = u8::try_from(name.len()).expect("names are short");
    let mut section = vec![0, length + 1, length];
    section.extend(name.bytes());
    section
}

fn ours(servlets: &[Servlet]) -> String {
    let entries = servlets.iter().map(|Servlet { name, wasm }| {
        let wasm = wasm.display();
        format!(
            "[servlet.{name}]\nsource = '{wasm}'\ntools = {{ prefix = \"{name}\" }}\nlimits.isolation = \"call\"\n"
        )
    });
    entries.collect()
}

fn hyper_mcp(servlets: &[Servlet]) -> String {
    let plugins = servlets.iter().map(|Servlet { name, wasm }| {
        (
            name.clone(),
            json!({ "url": format!("file://{}", wasm.display()) }),
        )
    });
    json!({ "plugins": plugins.collect::<serde_json::Map<_, _>>() }).to_string()
}
