//! `servlet serve`: servlets as an MCP server.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use mcp_servlet_host::{Host, LoadError, Servlet};

use crate::{
    failure::{Failure, Kind, chain},
    limits::Limits,
};

/// Serve the tools of one or more servlets to an MCP client, over standard input and output
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// The servlets' `.wasm` files
    #[arg(required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    limits: Limits,
}

impl Serve {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let options = self.limits.options();
        let servlets = self.files.iter().map(|file| Servlet::load(file, &options));
        let host = Host::new(servlets.collect::<Result<_, LoadError>>()?)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let served = runtime.block_on(mcp_servlet_host::serve::stdio(Arc::new(host)));
        // Waits neither for input nor for a call that nobody awaits any more.
        runtime.shutdown_background();
        served.map_err(|error| Failure::new(Kind::Usage, chain(&error)))
    }
}
