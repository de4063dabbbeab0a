//! Servers that are started as processes.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use mcp_servlet_common::lock;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::error::{Error, ErrorKind};
use crate::on_stderr::OnStderr;
use crate::target::Command;
use crate::task::spawn;

use super::left_behind::Mark;
use super::stderr::{self, Tail};

/// How long a process has after the end of its input, and again after the signal to terminate.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);
#[cfg(unix)]
const SIGTERM: i32 = 15;

/// The tasks that watch processes until they end. They outlive the connections.
static WATCHERS: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);

/// Waits until the processes of dropped connections have ended, for 2 seconds at most. Call it before the runtime shuts down,
/// because tasks of the runtime end these processes.
pub async fn processes_ended() {
    WATCHERS.close();
    let _ = timeout(4 * EXIT_TIMEOUT, WATCHERS.wait()).await;
}

/// A process. It ends when this is dropped: by the end of its input, then by signals to its whole process group.
#[derive(Debug)]
pub(crate) struct Child {
    program: String,
    stderr: Arc<Mutex<Tail>>,
    exit: watch::Receiver<Option<Exit>>,
    stop: DropGuard,
}

/// The exit status of a process, or the operating system's error.
type Exit = Result<ExitStatus, Arc<io::Error>>;

impl Child {
    /// Starts a process, whose standard error goes to `on_stderr`. `tail` gets the lines that errors quote.
    pub(crate) fn start(
        command: &Command,
        on_stderr: OnStderr,
        tail: Arc<Mutex<Tail>>,
    ) -> Result<(Self, ChildStdin, ChildStdout), Error> {
        let program = command.program().to_string_lossy().into_owned();
        let mark = Mark::new();
        let mut process = start_process(command, &mark)
            .map_err(|source| not_started(command, &program, source))?;
        let stdin = process.stdin().take().expect("it is piped");
        let stdout = process.stdout().take().expect("it is piped");
        let stderr = process.stderr().take().expect("it is piped");
        let reading = spawn(stderr::read(stderr, Arc::clone(&tail), on_stderr));
        let stop = CancellationToken::new();
        let (sender, exit) = watch::channel(None);
        let token = stop.clone();
        spawn(WATCHERS.track_future(async move {
            let status = supervise(process, token).await;
            // An error means that the search has panicked.
            let _ = tokio::task::spawn_blocking(move || mark.kill()).await;
            // What the process wrote last may still be in the pipe. Its own children may keep the pipe open.
            let _ = timeout(EXIT_TIMEOUT, reading).await;
            sender.send_replace(Some(status.map_err(Arc::new)));
        }));
        let child = Self {
            program,
            stderr: tail,
            exit,
            stop: stop.drop_guard(),
        };
        Ok((child, stdin, stdout))
    }

    /// Why the process sends no more: its exit code and the last lines of its standard error.
    pub(crate) async fn ended(&self) -> Error {
        let mut exit = self.exit.clone();
        let waited = timeout(EXIT_TIMEOUT, exit.wait_for(Option::is_some)).await;
        let status = match waited {
            Ok(Ok(exit)) => exit.clone(),
            _ => None,
        };
        let program = &self.program;
        let message = match status {
            Some(Ok(status)) => format!("`{program}` ended with {status}"),
            Some(Err(error)) => format!("`{program}` ended: {error}"),
            None => format!("`{program}` has closed its output"),
        };
        let tail = lock(&self.stderr);
        Error::new(ErrorKind::Connectivity, message).with_stderr(tail.lines())
    }

    /// Stops the process, and waits until it has ended.
    pub(crate) async fn stop(self) {
        let Self { mut exit, stop, .. } = self;
        drop(stop);
        // An error means that the task that stops the process is gone, and the process with it.
        let _ = exit.wait_for(Option::is_some).await;
    }
}

/// Why a process was not started. The system has the same error for a program and for a folder that is missing.
fn not_started(command: &Command, program: &str, source: io::Error) -> Error {
    let folder = command.folder().filter(|folder| !folder.is_dir());
    let (message, help) = match folder {
        Some(folder) => (
            format!(
                "cannot start `{program}`: there is no directory `{}`, its working directory",
                folder.display()
            ),
            "make the directory, or name another one",
        ),
        None => (
            format!("cannot start `{program}`: {source}"),
            "check that the program is installed, and in PATH",
        ),
    };
    Error::new(ErrorKind::Connectivity, message)
        .with_help(help)
        .with_source(source)
}

/// Starts a process in a group of its own, so that signals reach its children too.
fn start_process(command: &Command, mark: &Mark) -> io::Result<Box<dyn ChildWrapper>> {
    let mut wrap = CommandWrap::with_new(command.program(), |process| {
        if let Some(names) = command.inherited() {
            process.env_clear().envs(copied_variables(names));
        }
        process
            .args(command.arguments())
            .envs(command.variables())
            .envs([mark.variable()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(folder) = command.folder() {
            process.current_dir(folder);
        }
    });
    #[cfg(unix)]
    wrap.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    wrap.wrap(process_wrap::tokio::JobObject);
    wrap.spawn()
}

/// The variables of this process with these names.
fn copied_variables(names: &[OsString]) -> impl Iterator<Item = (OsString, OsString)> {
    let names = names.iter();
    names.filter_map(|name| Some((name.clone(), std::env::var_os(name)?)))
}

/// Waits until a process ends, or ends it. Its input is closed by then.
async fn supervise(
    mut process: Box<dyn ChildWrapper>,
    stop: CancellationToken,
) -> io::Result<ExitStatus> {
    let mut ended = tokio::select! {
        status = process.wait() => Some(status),
        () = stop.cancelled() => None,
    };
    if ended.is_none() {
        ended = timeout(EXIT_TIMEOUT, process.wait()).await.ok();
    }
    #[cfg(unix)]
    if ended.is_none() {
        process.signal(SIGTERM)?;
        ended = timeout(EXIT_TIMEOUT, process.wait()).await.ok();
    }
    // Also what the process has started and left behind. It fails if nothing is left.
    let _ = process.start_kill();
    match ended {
        Some(status) => status,
        None => process.wait().await,
    }
}
