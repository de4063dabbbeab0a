//! `servlet serve`: servlets as an MCP server.

mod transports;

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use mcp_servlet_host::{
    Host, LoadError, Servlet,
    serve::{ServeOptions, Server},
};

use crate::{failure::Failure, limits::Limits};
use transports::Transports;

/// Serve the tools of one or more servlets to MCP clients, over standard input and output or HTTP
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// The servlets' `.wasm` files
    #[arg(required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    transports: Transports,

    #[command(flatten)]
    limits: Limits,
}

impl Serve {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let options = self.limits.options();
        let servlets = self.files.iter().map(|file| Servlet::load(file, &options));
        let host = Host::new(servlets.collect::<Result<_, LoadError>>()?)?;
        let server = Server::new(Arc::new(host), ServeOptions::default());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let result = runtime.block_on(self.transports.run(server));
        // Waits neither for input nor for a call that nobody awaits any more.
        runtime.shutdown_background();
        result
    }
}
