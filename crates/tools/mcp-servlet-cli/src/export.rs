//! `servlet export`: what a server offers, in formats of others.

pub(crate) mod registry;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::{
    catalog::{catalog, print, write_problem},
    failure::Failure,
    format::Format,
    session::ServerOptions,
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Export {
    #[command(subcommand)]
    document: Document,
}

#[derive(Debug, Subcommand)]
enum Document {
    /// Print an OpenAPI 3.1 document of the tools, prompts and resources
    ///
    /// Each tool is a path /tools/NAME with POST, and each prompt a path /prompts/NAME with POST. The request body has the
    /// arguments. The response of a tool is its structured content or its result. GET /resources?uri= reads a resource.
    ///
    /// A schema that cannot be used is replaced by one that accepts more, with a warning.
    #[command(name = "openapi")]
    OpenApi(Box<OpenApi>),
    /// Print a `server.json`, with which `mcp-publisher` lists a servlet in the MCP registry
    ///
    /// Nothing is written if the registry would refuse it. Whether the packages exist and are yours, only the registry can check.
    Registry(registry::ServerJson),
}

/// Prints an OpenAPI document.
#[derive(Args, Debug)]
struct OpenApi {
    /// A `.wasm` file, a folder of them, a `servlet.toml`, a URL, the name of a server in the configuration of an MCP client, or a
    /// `.json` file with a catalog
    target: Option<String>,

    /// Write the document to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    server: ServerOptions,
}

impl Export {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.document {
            Document::OpenApi(document) => document.run(),
            Document::Registry(document) => document.run(),
        }
    }
}

impl OpenApi {
    fn run(self) -> Result<(), Failure> {
        let target = self.server.only_target(self.target.as_ref())?;
        let catalog = catalog(&self.server, &target, Format::Human)?;
        let openapi = catalog.to_openapi();
        print(&openapi.document, self.output.as_deref())?;
        let mut errors = terminal::err();
        // Losing a warning is better than failing for it.
        let _ = openapi
            .diagnostics
            .iter()
            .try_for_each(|problem| write_problem(&mut errors, problem));
        Ok(())
    }
}
