//! A minimal MCP client over the pipes of a server.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::{ChildStdin, ChildStdout, Command, Stdio as Pipe};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::initialize;
use crate::process::Process;

/// Longer than any step takes.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) struct Stdio {
    pub(crate) process: Process,
    pub(crate) started: Instant,
    input: ChildStdin,
    output: ChildStdout,
    received: Vec<u8>,
    last_id: u64,
}

/// A response, and the time of its arrival.
pub(crate) struct Answer {
    pub(crate) id: u64,
    pub(crate) at: Instant,
    pub(crate) outcome: Outcome,
}

/// The response of a server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    Result(Value),
    Error(Value),
}

impl Stdio {
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let started = Instant::now();
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::null())
            .spawn()
            .with_context(|| format!("cannot start `{program}`"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.context("both are piped")?;
        let mut server = Self {
            process: Process(child),
            started,
            input,
            output,
            received: Vec::new(),
            last_id: 0,
        };
        server.request("initialize", &initialize())?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    /// Sends a request and waits for its result.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let id = self.send_request(method, params)?;
        loop {
            for answer in self.receive(ANSWER_TIMEOUT)? {
                match answer.outcome {
                    Outcome::Result(result) if answer.id == id => return Ok(result),
                    Outcome::Error(error) => bail!("`{method}` is answered by {error}"),
                    Outcome::Result(_) => {}
                }
            }
        }
    }

    /// Sends a request and returns its id.
    pub(crate) fn send_request(&mut self, method: &str, params: &Value) -> anyhow::Result<u64> {
        self.last_id += 1;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }),
        )?;
        Ok(self.last_id)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let line = format!("{message}\n");
        self.input
            .write_all(line.as_bytes())
            .context("the server does not read")
    }

    /// Waits up to `patience` for the first response, and returns all that have arrived. Empty if none did.
    pub(crate) fn receive(&mut self, patience: Duration) -> anyhow::Result<Vec<Answer>> {
        if !self.is_readable(patience)? {
            ensure!(
                patience < ANSWER_TIMEOUT,
                "no answer within {} s",
                patience.as_secs()
            );
            return Ok(Vec::new());
        }
        let mut bytes = [0; 16_384];
        let length = self.output.read(&mut bytes)?;
        let at = Instant::now();
        ensure!(length > 0, "the server has gone");
        self.received.extend_from_slice(&bytes[..length]);
        let Some(end) = self.received.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let complete: Vec<u8> = self.received.drain(..=end).collect();
        let lines = complete.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| answer(line, at)).collect())
    }

    fn is_readable(&self, patience: Duration) -> anyhow::Result<bool> {
        let mut descriptors = [PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)];
        let timeout = Timespec::try_from(patience)?;
        Ok(poll(&mut descriptors, Some(&timeout))? > 0)
    }
}

/// The response on a line. None for a notification.
fn answer(line: &[u8], at: Instant) -> Option<Answer> {
    #[derive(Deserialize)]
    struct Line {
        id: u64,
        #[serde(flatten)]
        outcome: Outcome,
    }
    let line: Line = serde_json::from_slice(line).ok()?;
    let Line { id, outcome } = line;
    Some(Answer { id, at, outcome })
}
