//! Reloads the configuration when it changes.

use std::{collections::HashSet, path::PathBuf, sync::Arc};

use mcp_servlet_host::{Filter, Host, Loaded, Mount, Prefix, Servlet};

use super::{Endpoints, Served};
use crate::{
    config::{Config, EndpointTransport, Remotes, Renewed, Watch},
    panics::survived,
    server::metrics::ReloadOutcome,
};

impl Endpoints {
    /// Reloads the configuration whenever the file or a module that it names changes.
    ///
    /// Servlets, and the members, introductions, headers, callers and rules of endpoints, change at once. Only clients of
    /// endpoints whose lists differ are notified. The log names changes that need a restart.
    /// `config`, `loaded` and `remotes` are what is being served. Never returns.
    pub async fn watch(&self, path: PathBuf, config: Config, loaded: Loaded, remotes: Remotes) {
        let mut watch = Watch::new(path, config, remotes);
        let mut members = loaded.host;
        loop {
            let reloaded = survived("reload", self.reload(&mut watch, &mut members));
            if reloaded.await.is_none() {
                let metrics = &self.server().0.process.metrics;
                metrics.reloaded(ReloadOutcome::Failed);
            }
        }
    }

    async fn reload(&self, watch: &mut Watch, members: &mut Host) {
        let previous = || Arc::new(self.with_current_lists(members));
        let Renewed {
            config,
            loaded,
            remotes,
        } = watch.next(&self.server().0.process.metrics, previous).await;
        for Served {
            server, endpoint, ..
        } in &self.all
        {
            let Some(endpoint) = endpoint else {
                // Endpoints that the file has now are served after a restart. Until then, everything is.
                server.replace(Arc::new(config.host_of_all(&loaded, &remotes)));
                continue;
            };
            let mut renewed = config.endpoints.iter();
            let renewed = renewed.find(|new| new.name == endpoint.name);
            // An endpoint that the file no longer has is served until the restart.
            let host = config.host_of(renewed.unwrap_or(endpoint), &loaded, &remotes);
            // The new rules apply first, so that they have decided on everything that is served from now on.
            if let Some(renewed) = renewed {
                server.replace_rules(&renewed.options.rules);
            }
            server.replace(Arc::new(host));
            // It keeps its headers and callers. Those of the start could have keys that were removed since.
            let transport = renewed.map(|renewed| &renewed.transport);
            if let Some(EndpointTransport::Http { options, .. }) = transport {
                server.replace_headers(options.endpoint_headers());
                server.0.access.replace(options.auth.as_ref());
            }
        }
        watch.report(self.server());
        *members = loaded.host;
    }

    /// All members. Those that an endpoint serves come from there, because it may have read their
    /// lists again.
    fn with_current_lists(&self, members: &Host) -> Host {
        let hosts: Vec<_> = self.all.iter().map(|one| one.server.host()).collect();
        let served = hosts.iter().flat_map(|host| host.servlets());
        let mut seen = HashSet::new();
        let mut mounts = Vec::new();
        for servlet in served.chain(members.servlets()) {
            if seen.insert((servlet.name(), servlet.origin())) {
                mounts.push(mount(servlet));
            }
        }
        Host::compose(mounts)
    }
}

fn mount(servlet: &Arc<Servlet>) -> Mount {
    Mount {
        member: Arc::clone(servlet).into(),
        prefix: Prefix::default(),
        filter: Filter::default(),
    }
}
