//! Sessions with servlets in this process: their server is at the other end of a pipe.

use std::{iter, sync::Arc, time::Duration};

use mcp_servlet_client::{Options, Session, Timeouts};
use mcp_servlet_host::{Host, Loaded, Prefix};
use mcp_servlet_runtime::Source;
use mcp_servlet_server::{ServeOptions, Server, config::Config, serve_stream};
use tokio::io::{duplex, split};

use super::{Target, answers::Answering, is_config, missing};
use crate::{failure::Failure, limits::Limits, needs, serve};

/// The capacity of the pipe, in bytes.
const PIPE: usize = 64 << 10;
/// The host has its own time limit, which the servlets of a configuration may raise.
const REQUEST: Duration = Duration::from_hours(24);

/// Loads servlets as `servlet serve` does, and opens a session with their server.
pub(super) async fn attach(target: &Target, limits: &Limits) -> Result<Session, Failure> {
    let (host, options) = load(target, limits)?;
    let server = Server::new(Arc::new(host), options);
    let (ours, theirs) = duplex(PIPE);
    tokio::spawn(async move {
        let (reader, writer) = split(theirs);
        if let Err(error) = serve_stream(&server, reader, writer).await {
            tracing::error!(%error, "the server in this process stopped");
        }
    });
    let (reader, writer) = split(ours);
    let mut timeouts = Timeouts::default();
    timeouts.request = REQUEST;
    let options = Options::new()
        .client("servlet", env!("CARGO_PKG_VERSION"))
        .timeouts(timeouts)
        .answers(Answering::new());
    Ok(Session::attach(reader, writer, &options).await?)
}

fn load(target: &Target, limits: &Limits) -> Result<(Host, ServeOptions), Failure> {
    let mut options = ServeOptions::default();
    let loaded = match target {
        Target::Servlets(path) if is_config(path) => {
            let config = Config::read(path)?;
            options.tasks.clone_from(&config.tasks);
            config.load(None)?
        }
        Target::Servlets(path) => load_files(&Source::File(path.clone()), limits)?,
        Target::Module(source) => load_files(source, limits)?,
        _ => return Err(missing("a servlet")),
    };
    serve::report(&loaded)?;
    Ok((loaded.host, options))
}

fn load_files(source: &Source, limits: &Limits) -> Result<Loaded, Failure> {
    let sources = iter::once(source.clone());
    let entries = serve::entries(sources, &limits.options()?, &Prefix::default())?;
    let loaded = Loaded::load(&entries, None)?;
    needs::warn(loaded.unmet_needs(), true);
    Ok(loaded)
}
