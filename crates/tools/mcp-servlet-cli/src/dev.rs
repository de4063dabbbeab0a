//! `servlet dev`: rebuilds and reloads servlets whenever their sources change.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use clap::Args;
use mcp_client_config::{Connection, Transport};
use mcp_servlet_host::{Entry, Host, Introduction, OnFailure};
use mcp_servlet_runtime::Source;
use mcp_servlet_server::{HttpOptions, Plan, Service, ShutdownSignals, watch::Snapshot};
use tokio::task::JoinError;

use crate::{
    build::{self, Abi, Project},
    clients::{self, Client},
    failure::{Failure, Kind},
    limits::Limits,
    memory,
    serve::Transports,
    terminal::note,
    variable::Variable,
    warnings::warn,
};

/// How long to keep reading the project after the client has disconnected.
const READ_AFTER_DISCONNECT: Duration = Duration::from_secs(1);

#[derive(Args, Debug)]
pub(crate) struct Dev {
    /// A crate or a workspace
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Build for size, as `servlet build` does; by default with the profile `release`, which builds faster
    #[arg(long, conflicts_with = "profile")]
    tuned: bool,

    /// Build with this profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Print the configuration that adds this server to a client, and exit
    #[arg(long, value_name = "CLIENT", value_parser = clients::editable())]
    print_client_config: Option<Client>,

    #[command(flatten)]
    transports: Transports,

    #[command(flatten)]
    limits: Limits,
}

/// The build and serve settings, without the transports.
#[derive(Debug)]
struct Workshop {
    path: PathBuf,
    tuned: bool,
    profile: Option<String>,
    limits: Limits,
}

impl Dev {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.limits.refuse_policy()?;
        if let Some(client) = self.print_client_config {
            return self.print_config(client);
        }
        // A variable that is not set is an error now, not after the first build.
        self.limits.options()?;
        let mut introduction = Introduction::default();
        introduction.name = folder_name(&self.path);
        let mut plan = Plan::without_servlets(introduction);
        self.transports.apply(&mut plan, HttpOptions::default());
        let workshop = Workshop {
            path: self.path,
            tuned: self.tuned,
            profile: self.profile,
            limits: self.limits,
        };
        let runtime = memory::runtime()?;
        let result = runtime.block_on(serve(plan, Arc::new(workshop), self.transports));
        // Does not wait for standard input or for a build whose result is no longer needed.
        runtime.shutdown_background();
        result
    }

    fn print_config(&self, client: Client) -> Result<(), Failure> {
        let name = name(&Project::read(&self.path)?)?;
        // Which values are secret is known after the build.
        let variables = self.limits.variables(&name, |_| false);
        clients::print(client, &clients::key(&name), &self.connection(&variables)?)?;
        clients::note_hidden_values(self.limits.hidden());
        clients::note_variables(client, &variables);
        Ok(())
    }

    /// How a client connects to this server.
    fn connection(&self, variables: &[Variable]) -> Result<Connection, Failure> {
        if let Some(url) = self.transports.url()? {
            return Ok(clients::at_url(url, Transport::Http));
        }
        let mut arguments = vec!["dev".to_owned(), clients::absolute(&self.path)?];
        if self.tuned {
            arguments.push("--tuned".to_owned());
        }
        if let Some(profile) = &self.profile {
            arguments.extend(["--profile".to_owned(), profile.clone()]);
        }
        arguments.extend(self.limits.arguments(variables)?);
        arguments.extend(self.transports.arguments()?);
        let names = variables.iter().map(|variable| &variable.name);
        clients::this_command(arguments, names)
    }
}

/// The server's name for a project: the name of its only servlet, or else of its folder.
fn name(project: &Project) -> Result<String, Failure> {
    let names = project.names()?;
    match &*names {
        [only] => Ok(only.clone()),
        _ => Ok(project.folder_name()),
    }
}

/// The server's name before the first build: the name of the folder.
fn folder_name(path: &Path) -> Option<String> {
    let folder = std::path::absolute(build::folder(path)).ok()?;
    Some(folder.file_name()?.to_string_lossy().into_owned())
}

/// Starts the server at once, so that clients do not wait for cargo before they can open a session,
/// and builds meanwhile.
async fn serve(plan: Plan, workshop: Arc<Workshop>, transports: Transports) -> Result<(), Failure> {
    let path = workshop.path.clone();
    let mut sources = tokio::task::spawn_blocking(move || Project::read(&path)?.sources());
    let service = Service::start(plan.on_warning(warn)).await?;
    // From the line `listening on`, other programs may send a signal.
    let mut signals = ShutdownSignals::listen()?;
    transports.announce(&service)?;
    let mut serving = pin!(service.run_until(&mut signals));
    let files = tokio::select! {
        files = &mut sources => files.map_err(defect)??,
        ended = &mut serving => {
            ended?;
            // Even if the client disconnects at once, the user should learn that there is nothing to build.
            let left = tokio::time::timeout(READ_AFTER_DISCONNECT, sources).await;
            return left.map_or(Ok(()), |files| files.map_err(defect)?.map(drop));
        }
    };
    tokio::select! {
        ended = serving => Ok(ended?),
        never = workshop.keep_up(&service, files) => match never {},
    }
}

fn defect(error: JoinError) -> Failure {
    let message = format!("the task that reads the project failed: {error}");
    Failure::with_help(Kind::Build, message, "report this as a bug of `servlet`")
}

impl Workshop {
    /// Serves the current build, and rebuilds whenever the sources change.
    async fn keep_up(self: Arc<Self>, service: &Service, mut files: Snapshot) -> Infallible {
        loop {
            files = self.renew(service, files).await;
            // After a failed build, requests that waited for it are answered without servlets.
            service.server().started();
            files.changed().await;
        }
    }

    /// Builds and loads the servlets once, and logs the outcome. Returns the state of the sources from before the build.
    async fn renew(self: &Arc<Self>, service: &Service, files: Snapshot) -> Snapshot {
        let (workshop, mut seen) = (Arc::clone(self), files.clone());
        let work = tokio::task::spawn_blocking(move || {
            seen = seen.again();
            let built = workshop.build(&mut seen);
            (seen, built)
        });
        let (seen, built) = match work.await {
            Ok(built) => built,
            Err(error) => {
                tracing::error!(%error, "the build task panicked; report this as a bug of `servlet`");
                return files.again();
            }
        };
        let loaded = match built {
            Ok(entries) => service.load(entries).await.map_err(Failure::from),
            Err(failure) => Err(failure),
        };
        report(&service.server().host(), loaded);
        seen
    }

    /// Builds the servlets. `files` becomes the state of the sources from before the build.
    fn build(&self, files: &mut Snapshot) -> Result<Vec<Entry>, Failure> {
        let project = Project::read(&self.path)?;
        *files = project.sources()?;
        let quick = !self.tuned && self.profile.is_none();
        let built = project.build(Abi::default(), quick, self.profile.as_deref())?;
        let entries = built.iter().map(|(_, file)| self.entry(file));
        entries.collect()
    }

    fn entry(&self, file: &Path) -> Result<Entry, Failure> {
        let mut entry = Entry::of(Source::from(file), self.limits.options()?);
        entry.on_failure = OnFailure::Fail;
        Ok(entry)
    }
}

/// Prints what is served after a build.
fn report(host: &Host, loaded: Result<(), Failure>) {
    let Err(failure) = loaded else {
        let servlets = host.servlets().iter().map(|servlet| servlet.name());
        let names: Vec<_> = servlets.collect();
        return note(format_args!("serving {}", names.join(", ")));
    };
    failure.report();
    let served = match host.servlets() {
        [] => "no servlet is served until a build succeeds",
        _ => "the servlets of the last successful build are still served",
    };
    note(format_args!("{served}; waiting for a change"));
}
