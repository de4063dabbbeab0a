//! Servers that are started as processes.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error::{Error, ErrorKind};
use crate::target::Command;

/// How long a process has after the end of its input, and again after the signal to terminate.
const GRACE: Duration = Duration::from_millis(500);
/// How many lines of standard error an error quotes.
const STDERR_LINES: usize = 20;
/// How much of such a line is kept, in bytes.
const STDERR_LENGTH: usize = 1000;
#[cfg(unix)]
const SIGTERM: i32 = 15;

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
    /// Starts a process.
    pub(crate) fn start(command: &Command) -> Result<(Self, ChildStdin, ChildStdout), Error> {
        let program = command.program().to_string_lossy().into_owned();
        let mut process = spawn(command).map_err(|source| {
            let message = format!("cannot start `{program}`: {source}");
            Error::new(ErrorKind::Connectivity, message)
                .with_help("check that the program is installed, and in PATH")
                .with_source(source)
        })?;
        let stdin = process.stdin().take().expect("it is piped");
        let stdout = process.stdout().take().expect("it is piped");
        let stderr = process.stderr().take().expect("it is piped");
        let tail = Arc::<Mutex<Tail>>::default();
        let reading = tokio::spawn(read_stderr(stderr, Arc::clone(&tail)));
        let stop = CancellationToken::new();
        let (sender, exit) = watch::channel(None);
        let token = stop.clone();
        tokio::spawn(async move {
            let status = supervise(process, token).await;
            // What the process wrote last may still be in the pipe. Its own children may keep the pipe open.
            let _ = timeout(GRACE, reading).await;
            sender.send_replace(Some(status.map_err(Arc::new)));
        });
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
        let waited = timeout(GRACE, exit.wait_for(Option::is_some)).await;
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
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Starts a process in a group of its own, so that signals reach its children too.
fn spawn(command: &Command) -> io::Result<Box<dyn ChildWrapper>> {
    let mut wrap = CommandWrap::with_new(command.program(), |process| {
        if let Some(names) = command.inherited() {
            process.env_clear().envs(copied_variables(names));
        }
        process
            .args(command.arguments())
            .envs(command.variables())
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
        ended = timeout(GRACE, process.wait()).await.ok();
    }
    #[cfg(unix)]
    if ended.is_none() {
        process.signal(SIGTERM)?;
        ended = timeout(GRACE, process.wait()).await.ok();
    }
    // Also what the process has started and left behind. It fails if nothing is left.
    let _ = process.start_kill();
    match ended {
        Some(status) => status,
        None => process.wait().await,
    }
}

/// The last lines of an output.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<Vec<u8>>,
    /// Whether the last line goes on.
    is_open: bool,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_open {
                self.lines.push_back(Vec::new());
                if self.lines.len() > STDERR_LINES {
                    self.lines.pop_front();
                }
            }
            self.is_open = !piece.ends_with(b"\n");
            if let Some(line) = self.lines.back_mut() {
                let room = STDERR_LENGTH.saturating_sub(line.len());
                line.extend(piece.iter().take(room));
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        let lines = self.lines.iter();
        lines
            .map(|line| String::from_utf8_lossy(line).trim_end().to_owned())
            .collect()
    }
}

async fn read_stderr(mut stderr: impl AsyncRead + Unpin, tail: Arc<Mutex<Tail>>) {
    let mut buffer = vec![0; 8 << 10];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let bytes = &buffer[..length];
        tracing::debug!(text = %String::from_utf8_lossy(bytes).trim_end(), "standard error of the server");
        tail.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_keeps_the_last_lines_and_cuts_long_ones() {
        let mut tail = Tail::default();
        for number in 0..30 {
            tail.push(format!("line {number}").as_bytes());
            tail.push(b"\n");
        }
        let lines = tail.lines();
        assert_eq!((lines.len(), lines[0].as_str()), (STDERR_LINES, "line 10"));
        tail.push(&vec![b'x'; 10_000]);
        tail.push(b"y\nlast");
        let lines = tail.lines();
        assert_eq!(lines[STDERR_LINES - 2].len(), STDERR_LENGTH);
        assert_eq!(lines[STDERR_LINES - 1], "last");
    }
}
