//! The endpoints of a configuration.

use std::{path::PathBuf, time::Duration};

use mcp_servlet_host::Loaded;
use mcp_servlet_server::{Bound, Endpoints, Remotes, config::Config, operations};

use super::transports::{Transports, bind, second_signal, stop_on_signal, warn_if_public};
use crate::{
    failure::{Failure, Kind, chain},
    memory,
    terminal::note,
};

/// Serves the endpoints until a signal arrives, or until the client on standard input disconnects if
/// there is no other endpoint.
pub(super) fn serve(
    path: PathBuf,
    config: Config,
    loaded: Loaded,
    transports: &Transports,
) -> Result<(), Failure> {
    let runtime = memory::runtime()?;
    let remotes = Remotes::default();
    let result = runtime.block_on(async {
        let members = remotes.update(&config.remotes).await;
        let members = members.map_err(|error| Failure::new(Kind::Servlet, error.to_string()))?;
        config.prove_required(&loaded, &members)?;
        let Some(endpoints) = Endpoints::new(&config, &loaded, &members) else {
            return Ok(());
        };
        super::warn_of_findings(&config, &loaded, &members);
        if config.remotes.is_empty() {
            super::require_servlets(&loaded)?;
        }
        let bound = endpoints.bind().await.map_err(|error| {
            let source = &error.source;
            Failure::new(Kind::Usage, format!("{error}: {source}"))
        })?;
        for one in &bound {
            announce(one)?;
        }
        let leave = if bound.is_empty() {
            Duration::ZERO
        } else {
            config.http.leave
        };
        let watch = endpoints.watch(path, config, loaded, remotes.clone());
        tokio::select! {
            result = run(&endpoints, bound, transports, leave) => result,
            () = watch => Ok(()),
        }
    });
    runtime.block_on(remotes.close());
    // Does not wait for standard input or for a call whose result is no longer needed.
    runtime.shutdown_background();
    result
}

/// Prints the URLs of a listener.
fn announce(bound: &Bound) -> Result<(), Failure> {
    let address = bound.address()?;
    warn_if_public(address);
    for (name, path) in bound.paths() {
        note(format_args!(
            "endpoint {name}: listening on http://{address}{path}"
        ));
    }
    Ok(())
}

async fn run(
    endpoints: &Endpoints,
    bound: Vec<Bound>,
    transports: &Transports,
    leave: Duration,
) -> Result<(), Failure> {
    let server = endpoints.server();
    let metrics = bind(transports.operations.as_deref()).await?;
    let serving = async {
        let ended = endpoints.serve(bound).await;
        ended.map_err(|error| Failure::new(Kind::Usage, chain(&error)))
    };
    let metrics = async {
        if let Some(listener) = metrics {
            note(format_args!(
                "metrics on http://{}/metrics",
                listener.local_addr()?
            ));
            operations(server, listener).await;
        }
        Ok(())
    };
    let all = async { tokio::try_join!(serving, metrics, stop_on_signal(server, leave)).map(drop) };
    tokio::select! {
        result = all => result,
        result = second_signal(server) => result,
    }
}
