//! Sessions with any MCP server: which one a command line means, and how a command talks to it.

mod access;
mod answers;
mod attach;
mod configured;
mod connection;
mod items;
mod target;

use std::{ffi::OsString, path::Path, sync::Arc, time::Duration};

use clap::Args;
use futures_util::future::LocalBoxFuture;
use mcp_servlet_client::{ErrorKind, Http, HttpTransport, Session, Target as Server};
use mcp_servlet_host::Recorder;
use mcp_servlet_runtime::Source;
use mcp_servlet_server::{Service, ShutdownSignals};
use tokio::{
    runtime::{Builder, Handle},
    time::{Instant, sleep, timeout},
};

pub(crate) use self::{
    access::{Access, Lookup},
    configured::{discover, places},
    items::{PASS_JSON, entries, find, unknown},
    target::Target,
};
use self::{answers::Answering, connection::Connection};
use crate::{
    failure::{Failure, Kind},
    format::Format,
    limits::Limits,
    logins,
};

/// How long the process of a server, or the renewal of a login, may take to end after the command has.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(1500);

// The servlet or server of a command, with its options.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
pub(crate) struct ServerOptions {
    /// Start this command as the server, instead of TARGET; it runs without a shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    /// Use what this endpoint of the configuration lists; default: everything in the configuration
    #[arg(long, value_name = "NAME")]
    endpoint: Option<String>,

    #[command(flatten)]
    connection: Connection,

    #[command(flatten)]
    pub(crate) limits: Limits,

    /// Whether the results of a configuration's tools stay as they are, without their `shape`.
    #[arg(skip)]
    pub(crate) is_raw: bool,

    /// Learns about the calls that servlets in this process make.
    #[arg(skip)]
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
}

/// The work of a command. A trait object, so that the code that runs it is compiled once per type of result, not per command.
type Work<'a, T> = LocalBoxFuture<'a, Result<T, Failure>>;

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Everything.
    Calls,
    /// Only lists, which come from the contracts of servlets that have one.
    Lists,
}

/// A server that is ready to be connected to.
struct Opening {
    server: Server,
    /// What messages call the server, if its own text may be secret.
    name: Option<String>,
    connect: Option<Duration>,
    request: Option<Duration>,
}

/// A session, and what ends with it.
struct Opened {
    session: Session,
    /// What messages call the server, if its command or URL may be secret.
    name: Option<String>,
    /// The server, if it is in this process.
    service: Option<Service>,
}

impl Opened {
    async fn close(self) {
        self.session.close().await;
        if let Some(service) = self.service {
            // It logs its errors.
            let _ = timeout(SHUTDOWN_GRACE, service.stop()).await;
        }
    }
}

impl ServerOptions {
    /// The target, and the words of the command line after it.
    pub(crate) fn target(&self, words: Vec<String>) -> Result<(Target, Vec<String>), Failure> {
        let (target, words) = self.named(words)?;
        self.check(&target)?;
        Ok((target, words))
    }

    /// The target, whose options are not checked, and the words after it.
    fn named(&self, words: Vec<String>) -> Result<(Target, Vec<String>), Failure> {
        let mut words = words.into_iter();
        let target = match (&self.connection.access.server, self.command.is_empty()) {
            (Some(_), false) => {
                let message = "`--server` cannot be combined with a command after `--`";
                return Err(Failure::new(Kind::Usage, message));
            }
            (Some(name), true) => Target::Name(name.clone()),
            (None, false) => Target::Command(self.command.clone()),
            (None, true) => match words.next() {
                Some(word) => self.parse(&word)?,
                None => return Err(missing("a servlet or a server")),
            },
        };
        Ok((target, words.collect()))
    }

    /// The target that a word names. The policy holds for an image.
    fn parse(&self, word: &str) -> Result<Target, Failure> {
        match Target::parse(word)? {
            Target::Module(_) => Ok(Target::Module(self.limits.source(word)?)),
            target => target.check_path(word).map(|()| target),
        }
    }

    /// Whether an option or a command after `--` names a server.
    pub(crate) fn names_one(&self) -> bool {
        self.connection.access.server.is_some() || !self.command.is_empty()
    }

    /// The target of a command that needs nothing else.
    pub(crate) fn only_target(&self, word: Option<&String>) -> Result<Target, Failure> {
        let target = self.only_named(word)?;
        self.check(&target)?;
        Ok(target)
    }

    /// The targets of a comparison. The options apply to both, so they must not have credentials if both are servers.
    pub(crate) fn two_targets(
        &self,
        old: &str,
        new: Option<&String>,
    ) -> Result<(Target, Target), Failure> {
        let (old, new) = (self.parse(old)?, self.only_named(new)?);
        let secret = self.connection.first_secret();
        if let Some(option) = secret.filter(|_| old.is_server() && new.is_server()) {
            let message = format!("`{option}` would go to both servers");
            let help = "write one catalog to a file with `servlet catalog TARGET --output FILE`, and compare the file";
            return Err(Failure::with_help(Kind::Usage, message, help));
        }
        let has_options = if old.is_server() && !new.is_server() {
            &old
        } else {
            &new
        };
        self.check(has_options)?;
        Ok((old, new))
    }

    fn only_named(&self, word: Option<&String>) -> Result<Target, Failure> {
        let (target, words) = self.named(word.cloned().into_iter().collect())?;
        match words.first() {
            None => Ok(target),
            Some(word) => {
                let message = format!("`{word}` is one server too many");
                let help = "name the server as TARGET, with `--server`, or as a command after `--`";
                Err(Failure::with_help(Kind::Usage, message, help))
            }
        }
    }

    /// Refuses options that the target does not have.
    pub(crate) fn check(&self, target: &Target) -> Result<(), Failure> {
        let Self {
            connection, limits, ..
        } = self;
        let of_servers = || {
            let option = connection.first_given()?;
            Some((option, "only applies to servers that are not servlets"))
        };
        let of_servlets = || Some((limits.first_given(false)?, "only applies to servlets"));
        let is_configuration = matches!(target, Target::Servlets(path) if is_config(path));
        let wrong = match target {
            _ if self.endpoint.is_some() && !is_configuration => {
                Some(("--endpoint", "only applies to a configuration file"))
            }
            Target::Servlets(path) if is_config(path) => of_servers().or_else(|| {
                let option = limits.first_given(true)?;
                Some((option, "cannot be combined with a configuration file"))
            }),
            Target::Module(_) => of_servers(),
            Target::Servlets(_) => {
                limits.refuse_policy()?;
                of_servers()
            }
            Target::Catalog(_) => connection
                .first_given()
                .or_else(|| limits.first_given(true))
                .map(|option| (option, "does not apply to a catalog in a file")),
            Target::Url(_) => of_servlets().or_else(|| {
                let option = connection.first_of_command()?;
                Some((option, "only applies to commands"))
            }),
            Target::Command(_) => of_servlets().or_else(|| {
                let option = connection.first_of_http()?;
                Some((option, "only applies to URLs"))
            }),
            Target::Name(_) => of_servlets(),
        };
        match wrong {
            None => Ok(()),
            Some((option, problem)) => {
                Err(Failure::new(Kind::Usage, format!("`{option}` {problem}")))
            }
        }
    }

    /// The module, if the target is one that needs nothing else. A path without an extension may lead to a folder or a file. With
    /// grants, the module needs a server, which has what it calls.
    pub(crate) fn module(&self, target: &Target) -> Option<Source> {
        match target {
            _ if self.limits.grant_calls() => None,
            Target::Module(source) => Some(source.clone()),
            Target::Servlets(path) if !is_config(path) && !path.is_dir() => {
                Some(Source::File(path.clone()))
            }
            _ => None,
        }
    }

    /// Connects, lets a command work with the session, and closes it. With [`Format::Json`], an error of the server is
    /// printed as JSON, too.
    pub(crate) fn with_session<T>(
        &self,
        target: &Target,
        format: Format,
        command: impl AsyncFnOnce(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.work(target, Use::Calls, format, command)
    }

    /// As [`with_session`](Self::with_session), for a command that only lists things. Servlets with a contract do not run for
    /// that.
    pub(crate) fn with_lists<T>(
        &self,
        target: &Target,
        format: Format,
        command: impl AsyncFnOnce(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.work(target, Use::Lists, format, command)
    }

    fn work<T>(
        &self,
        target: &Target,
        session_use: Use,
        format: Format,
        command: impl AsyncFnOnce(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let work = async {
            let mut signals = ShutdownSignals::listen()?;
            let opening = Box::pin(self.open(target, session_use));
            let opened = until_signal(opening, &mut signals).await?;
            let result = until_signal(Box::pin(command(&opened.session)), &mut signals).await;
            let name = opened.name.clone();
            opened.close().await;
            result.map_err(|failure| failure.of_server(name))
        };
        let is_other = !matches!(target, Target::Module(_) | Target::Servlets(_));
        let result = run_to_end(Box::pin(work), is_other);
        if let (Err(failure), Format::Json) = (&result, format) {
            failure.print_json()?;
        }
        match target {
            Target::Module(_) | Target::Servlets(_) => result.map_err(Failure::of_servlet),
            _ => result,
        }
    }

    async fn open(&self, target: &Target, session_use: Use) -> Result<Opened, Failure> {
        let opening = match target {
            Target::Module(_) | Target::Servlets(_) => {
                let (session, service) = attach::attach(target, self, session_use).await?;
                return Ok(Opened {
                    session,
                    name: None,
                    service: Some(service),
                });
            }
            Target::Catalog(path) => return Err(not_a_server(path)),
            Target::Url(url) => Opening::of(self.connection.http(url, HttpTransport::Auto)?.into()),
            Target::Command(words) => Opening::of(self.connection.command(words).into()),
            Target::Name(name) => configured::find(name, &self.connection)?,
        };
        let request = self.limits.request_timeout().or(opening.request);
        let options = self
            .connection
            .options(opening.connect, request)
            .answers(Answering::new())
            .oauth(logins::oauth(self.connection.client_id.as_deref()));
        let session = Session::connect_with(&opening.server, &options).await;
        match session {
            Ok(session) => Ok(Opened {
                session,
                name: opening.name,
                service: None,
            }),
            Err(error) => Err(Failure::from(error).of_server(opening.name)),
        }
    }
}

impl Opening {
    fn of(server: Server) -> Self {
        Self {
            server,
            name: None,
            connect: None,
            request: None,
        }
    }
}

/// The environment of a server that a client starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Environment {
    /// That of a client with windows: without the variables that only terminals have.
    Desktop,
    /// That of a client in this terminal.
    Terminal,
}

/// The variables of [`Environment::Desktop`], about those that the official SDKs pass on.
const OF_DESKTOP: [&str; 17] = [
    "APPDATA",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USER",
    "USERNAME",
    "USERPROFILE",
];

/// Connects to a server of a configuration, and counts its tools.
pub(crate) fn count_tools(
    server: &mcp_client_config::Connection,
    environment: Environment,
) -> Result<usize, Failure> {
    let server = match (configured::plain(server)?, environment) {
        (Server::Command(command), Environment::Desktop) => command.inherit_only(OF_DESKTOP).into(),
        (server, _) => server,
    };
    run_until_signal(async {
        let session = Session::connect(&server).await?;
        let lists = session.lists().await;
        session.close().await;
        Ok(lists?.tools.map_or(0, |tools| tools.len()))
    })
}

/// Works with other servers until the user presses Ctrl-C, and waits until their processes have ended.
pub(crate) fn run_until_signal<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let work = async {
        let mut signals = ShutdownSignals::listen()?;
        until_signal(Box::pin(work), &mut signals).await
    };
    run_to_end(Box::pin(work), true)
}

/// Whether a path leads to a `servlet.toml`. Case does not count, as on the file systems of Windows and macOS.
pub(crate) fn is_config(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// The server that a login is for, which is at a URL.
pub(crate) fn login_target(word: Option<&String>, access: &Access) -> Result<Http, Failure> {
    let target = match (&access.server, word) {
        (Some(_), Some(word)) => {
            let message = format!("`{word}` is one server too many");
            let help = "name the server as TARGET or with `--server`";
            return Err(Failure::with_help(Kind::Usage, message, help));
        }
        (Some(name), None) => Target::Name(name.clone()),
        (None, Some(word)) => Target::parse(word)?,
        (None, None) => return Err(missing("a server")),
    };
    let found = match &target {
        Target::Url(url) => Some(access.http(url, HttpTransport::Auto)?),
        Target::Name(name) => configured::find_http(name, access)?,
        _ => None,
    };
    found.ok_or_else(|| {
        let word = word
            .or(access.server.as_ref())
            .map(String::as_str)
            .unwrap_or_default();
        let message = format!("`{word}` is not at a URL; only such servers have logins");
        Failure::new(Kind::Usage, message)
    })
}

/// A word that the command line lacks.
pub(crate) fn missing(what: &str) -> Failure {
    let message = format!("{what} is missing");
    Failure::with_help(Kind::Usage, message, "`--help` shows the usage")
}

fn not_a_server(path: &Path) -> Failure {
    let message = format!("cannot connect to `{}`: it is a catalog", path.display());
    Failure::with_help(Kind::Usage, message, "name a servlet or a server")
}

/// Runs the work of a command. If the server is another process or at a URL, waits for the tasks that stop it or store a login.
fn run_to_end<T>(work: Work<'_, T>, is_other: bool) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let result = work.await;
        if is_other {
            settle().await;
        }
        result
    });
    // Does not wait for a thread that reads standard input.
    runtime.shutdown_background();
    result
}

/// Works until the user presses Ctrl-C. The process of a server is in a group of its own, so it does not get that signal.
async fn until_signal<T>(work: Work<'_, T>, signals: &mut ShutdownSignals) -> Result<T, Failure> {
    tokio::select! {
        biased;
        result = work => result,
        () = signals.received() => {
            Err(Failure::new(Kind::Server(ErrorKind::Cancelled), "cancelled"))
        }
    }
}

/// Waits until the tasks that end the process of a server, or store a renewed login, have done so.
async fn settle() {
    let end = Instant::now() + SHUTDOWN_GRACE;
    while Handle::current().metrics().num_alive_tasks() > 0 && Instant::now() < end {
        sleep(Duration::from_millis(2)).await;
    }
}
