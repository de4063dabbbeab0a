//! Sessions with servlets in this process: their server is at the other end of a pipe.

use std::{iter, path::Path, sync::Arc, time::Duration};

use mcp_servlet_client::{Options, Session, Timeouts};
use mcp_servlet_host::{Host, Loaded, Mount, Prefix};
use mcp_servlet_runtime::{LoadOptions, Source};
use mcp_servlet_server::{
    NotReady, Remotes, ServeOptions, Server,
    config::{Config, Endpoint},
    serve_stream,
};
use tokio::io::{duplex, split};

use super::{ServerOptions, Target, Use, answers::Answering, is_config, missing};
use crate::{
    failure::{Failure, Kind},
    limits::Limits,
    needs, serve,
    terminal::note,
};

/// The capacity of the pipe, in bytes.
const PIPE: usize = 64 << 10;
/// The host has its own time limit, which the servlets of a configuration may raise.
const REQUEST: Duration = Duration::from_hours(24);

/// Loads servlets as `servlet serve` does, and opens a session with their server.
pub(super) async fn attach(
    target: &Target,
    with: &ServerOptions,
    session_use: Use,
) -> Result<Session, Failure> {
    let remotes = Remotes::default();
    let (mut host, options) = match target {
        Target::Servlets(path) if is_config(path) => {
            configured(path, with, session_use, &remotes).await?
        }
        _ => (
            load(target, &with.limits, session_use)?,
            ServeOptions::default(),
        ),
    };
    if let Some(recorder) = &with.recorder {
        host = host.with_recorder(Arc::clone(recorder));
    }
    for servlet in host.servlets() {
        if !servlet.is_compiled() {
            let name = servlet.name();
            note(format_args!(
                "`{name}` did not run: its lists come from its contract"
            ));
        }
    }
    let server = Server::new(Arc::new(host), options);
    let (ours, theirs) = duplex(PIPE);
    tokio::spawn(async move {
        let (reader, writer) = split(theirs);
        if let Err(error) = serve_stream(&server, reader, writer).await {
            tracing::error!(%error, "the server in this process stopped");
        }
        remotes.close().await;
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

/// Loads what an endpoint of a configuration lists, or everything in the configuration. Remotes that cannot be reached are left out
/// with a warning.
async fn configured(
    path: &Path,
    with: &ServerOptions,
    session_use: Use,
    remotes: &Remotes,
) -> Result<(Host, ServeOptions), Failure> {
    let mut config = Config::read(path)?;
    for entry in &mut config.entries {
        entry.options.from_contract = session_use == Use::Lists;
    }
    if with.is_raw {
        config.without_shapes();
    }
    let endpoint = match &with.endpoint {
        Some(name) => Some(named(&config, name)?),
        None => None,
    };
    let host_of = |loaded: &Loaded, remotes: &[Mount]| match endpoint {
        Some(endpoint) => config.host_of(endpoint, loaded, remotes),
        None => config.host_of_all(loaded, remotes),
    };
    let mut options = ServeOptions::default();
    options.tasks.clone_from(&config.tasks);
    let loaded = config.load(None)?;
    serve::warn_about_skipped(&loaded);
    if config.remotes.is_empty() {
        serve::require_servlets(&loaded)?;
        let host = host_of(&loaded, &[]);
        serve::warn_of(&host);
        return Ok((host, options));
    }
    let not_ready = |error: NotReady| Failure::new(Kind::Servlet, error.to_string());
    remotes.update(&config.remotes).await.map_err(not_ready)?;
    for error in remotes.tried().await {
        note(format_args!("warning: {error}"));
    }
    // They have their lists now.
    let mounts = remotes.update(&config.remotes).await.map_err(not_ready)?;
    let host = host_of(&loaded, &mounts);
    serve::warn_of(&host);
    Ok((host, options))
}

fn named<'c>(config: &'c Config, name: &str) -> Result<&'c Endpoint, Failure> {
    let mut endpoints = config.endpoints.iter();
    if let Some(endpoint) = endpoints.find(|endpoint| endpoint.name == name) {
        return Ok(endpoint);
    }
    let names = config.endpoints.iter().map(|one| format!("`{}`", one.name));
    let names = names.collect::<Vec<_>>().join(", ");
    let help = match &*names {
        "" => "leave `--endpoint` out: the configuration has no endpoints".to_owned(),
        names => format!("its endpoints are {names}"),
    };
    let message = format!("the configuration has no endpoint `{name}`");
    Err(Failure::with_help(Kind::Usage, message, help))
}

fn load(target: &Target, limits: &Limits, session_use: Use) -> Result<Host, Failure> {
    let mut options = limits.options()?;
    options.from_contract = session_use == Use::Lists;
    let loaded = match target {
        Target::Servlets(path) => load_files(&Source::File(path.clone()), &options)?,
        Target::Module(source) => load_files(source, &options)?,
        _ => return Err(missing("a servlet")),
    };
    serve::report(&loaded)?;
    Ok(loaded.host)
}

fn load_files(source: &Source, options: &LoadOptions) -> Result<Loaded, Failure> {
    let sources = iter::once(source.clone());
    let entries = serve::entries(sources, options, &Prefix::default())?;
    let loaded = Loaded::load(&entries, None)?;
    serve::check_calls(&loaded)?;
    needs::warn(loaded.unmet_needs(), true);
    Ok(loaded)
}
