//! `servlet dev`: servlets that are built and served again whenever their sources change.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use clap::Args;
use mcp_servlet_host::{
    Entry, Host, Loaded, OnFailure, Source,
    serve::{HttpOptions, ServeOptions, Server},
    watch::Snapshot,
};
use tokio::runtime::Runtime;

use crate::{
    build::{Abi, Project},
    clients::{self, Client, Way},
    failure::Failure,
    limits::Limits,
    needs,
    serve::{self, transports::Transports},
    terminal::note,
};

/// Build the servlets at a path, serve them to MCP clients, and do so again whenever their sources change
///
/// A build that fails is told on standard error, and what was built before goes on answering.
#[derive(Args, Debug)]
pub(crate) struct Dev {
    /// A crate or a workspace
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Build as `servlet build` does, for size; without it, with the profile `release`, which takes less time
    #[arg(long, conflicts_with = "profile")]
    tuned: bool,

    /// Build with this profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Print the lines that add this server to a client, and end
    #[arg(long, value_enum, value_name = "CLIENT")]
    print_client_config: Option<Client>,

    #[command(flatten)]
    transports: Transports,

    #[command(flatten)]
    limits: Limits,
}

/// What is built and served: everything but where clients connect.
#[derive(Debug)]
struct Workshop {
    path: PathBuf,
    tuned: bool,
    profile: Option<String>,
    limits: Limits,
}

impl Dev {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let project = Project::read(&self.path)?;
        if let Some(client) = self.print_client_config {
            client.print(&name(&project)?, &self.way()?)?;
            clients::say_what_is_hidden(self.limits.hidden());
            return Ok(());
        }
        let workshop = Workshop {
            path: self.path,
            tuned: self.tuned,
            profile: self.profile,
            limits: self.limits,
        };
        let nothing = Host::new(Vec::new());
        let mut files = project.sources()?;
        let host = workshop.host(&mut files, &nothing).unwrap_or(nothing);
        let server = Server::new(Arc::new(host), ServeOptions::default());
        let runtime = Runtime::new()?;
        runtime.spawn(workshop.keep_up(server.clone(), files));
        let result = runtime.block_on(self.transports.run(server, HttpOptions::default()));
        // Waits neither for input nor for a build that nobody awaits any more.
        runtime.shutdown_background();
        result
    }

    /// How a client gets to this server.
    fn way(&self) -> Result<Way, Failure> {
        if let Some(url) = self.transports.url()? {
            return Ok(Way::Http { url });
        }
        let mut arguments = vec!["dev".to_owned(), clients::absolute(&self.path)?];
        if self.tuned {
            arguments.push("--tuned".to_owned());
        }
        if let Some(profile) = &self.profile {
            arguments.extend(["--profile".to_owned(), profile.clone()]);
        }
        arguments.extend(self.limits.arguments()?);
        arguments.extend(self.transports.arguments());
        Way::this_command(arguments)
    }
}

/// What a server of a project is called: as its servlet, or if it has several as its folder.
fn name(project: &Project) -> Result<String, Failure> {
    let names = project.names()?;
    match &*names {
        [only] => Ok(only.clone()),
        _ => Ok(project.folder_name()),
    }
}

impl Workshop {
    /// Lets a server serve what is built of the sources, whenever they change. Never returns.
    async fn keep_up(self, server: Server, mut files: Snapshot) {
        let workshop = Arc::new(self);
        loop {
            files.changed().await;
            let (workshop, previous) = (Arc::clone(&workshop), server.host());
            let mut seen = files.clone();
            let work = tokio::task::spawn_blocking(move || {
                let host = workshop.host(&mut seen, &previous);
                (seen, host)
            });
            match work.await {
                Ok((seen, host)) => {
                    files = seen;
                    if let Some(host) = host {
                        server.replace(Arc::new(host));
                    }
                }
                Err(error) => {
                    files = files.again();
                    tracing::error!(%error, "this is a defect of the command");
                }
            }
        }
    }

    /// Builds and loads what is there, and says how that ended. `files` become what this depends on, as it was before.
    fn host(&self, files: &mut Snapshot, previous: &Host) -> Option<Host> {
        let start = Instant::now();
        *files = files.again();
        match self.build(files, previous) {
            Ok(host) => {
                let servlets = host.servlets().iter().map(|servlet| servlet.name());
                let names: Vec<_> = servlets.collect();
                let seconds = start.elapsed().as_secs_f64();
                note(format_args!(
                    "built in {seconds:.1} s, serving {}",
                    names.join(", ")
                ));
                Some(host)
            }
            Err(failure) => {
                failure.report();
                let served = match previous.servlets() {
                    [] => "nothing is served until it is there",
                    _ => "what was built before is served",
                };
                note(format_args!("{served}; waiting for a change"));
                None
            }
        }
    }

    fn build(&self, files: &mut Snapshot, previous: &Host) -> Result<Host, Failure> {
        let project = Project::read(&self.path)?;
        *files = project.sources()?;
        let quick = !self.tuned && self.profile.is_none();
        let built = project.build(Abi::default(), quick, self.profile.as_deref())?;
        let entries = built.iter().map(|(_, file)| self.entry(file));
        let loaded = Loaded::load(&entries.collect::<Vec<_>>(), Some(previous))?;
        serve::warn(&loaded);
        needs::warn(&loaded, true);
        Ok(loaded.host)
    }

    fn entry(&self, file: &Path) -> Entry {
        let mut entry = Entry::of(Source::from(file), self.limits.options());
        entry.on_failure = OnFailure::Fail;
        entry
    }
}
