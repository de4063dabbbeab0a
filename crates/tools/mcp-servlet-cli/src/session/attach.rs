//! Sessions with servlets in this process: their server is at the other end of a pipe.

use std::{iter, path::Path, time::Duration};

use mcp_servlet_client::{Options, Session, Timeouts};
use mcp_servlet_config::Config;
use mcp_servlet_host::Prefix;
use mcp_servlet_runtime::Source;
use mcp_servlet_server::{Plan, Service};
use tokio::io::split;

use super::{ServerOptions, Target, Use, answers::Answering, is_config, missing};
use crate::{failure::Failure, serve, terminal::note, warnings::warn};

/// The host has its own time limit, which the servlets of a configuration may raise.
const REQUEST_TIMEOUT: Duration = Duration::from_hours(24);

/// Loads servlets as `servlet serve` does, and opens a session with their server.
pub(super) async fn attach(
    target: &Target,
    with: &ServerOptions,
    session_use: Use,
) -> Result<(Session, Service), Failure> {
    let mut plan = match target {
        Target::Servlets(path) if is_config(path) => configured(path, with, session_use)?,
        Target::Servlets(path) => plan(Source::File(path.clone()), with, session_use)?,
        Target::Module(source) => plan(source.clone(), with, session_use)?,
        _ => return Err(missing("a servlet")),
    };
    plan.needs_members = true;
    plan.recorder.clone_from(&with.recorder);
    let service = Service::start(plan.on_warning(warn)).await?;
    for servlet in service.server().host().servlets() {
        if !servlet.is_compiled() {
            let name = servlet.name();
            note(format_args!(
                "`{name}` did not run: its lists come from its contract"
            ));
        }
    }
    let (reader, writer) = split(service.server().open_pipe());
    let mut timeouts = Timeouts::default();
    timeouts.request = REQUEST_TIMEOUT;
    let options = Options::new()
        .client("servlet", env!("CARGO_PKG_VERSION"))
        .timeouts(timeouts)
        .answers(Answering::new());
    let session = Session::attach(reader, writer, &options).await?;
    Ok((session, service))
}

/// What an endpoint of a configuration lists, or everything in the configuration. Remotes that cannot be reached are left out with a
/// warning.
fn configured(path: &Path, with: &ServerOptions, session_use: Use) -> Result<Plan, Failure> {
    let mut config = Config::read(path)?;
    for entry in &mut config.entries {
        entry.options.from_contract = session_use == Use::Lists;
    }
    if with.is_raw {
        config.without_shapes();
    }
    Ok(Plan::from_config_once(config, with.endpoint.as_deref()))
}

fn plan(source: Source, with: &ServerOptions, session_use: Use) -> Result<Plan, Failure> {
    let mut options = with.limits.options()?;
    options.from_contract = session_use == Use::Lists;
    let entries = serve::entries(iter::once(source), &options, &Prefix::default())?;
    Ok(Plan::from_entries(entries))
}
