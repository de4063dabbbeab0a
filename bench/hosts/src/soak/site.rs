//! Three processes of the server behind a load balancer, each with a remote that is its child process.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};

use super::lasting::Progress;
use super::policy::{Policy, Random};
use crate::artifacts::Artifacts;
use crate::balancer;
use crate::http::{Listening, free_port};
use crate::issuer::{AUDIENCE, ISSUER};
use crate::stdio::ANSWER_TIMEOUT;

/// The remote of each process.
pub(super) const REMOTE: &str = "child";
/// How many processes there are. The first one stays, and its memory is watched.
const PROCESSES: usize = 3;
/// The interval between two ends of a process or of the remotes.
const END_EVERY: Duration = Duration::from_secs(20);
/// How long a process is gone.
const PROCESS_DOWNTIME: Duration = Duration::from_secs(2);
/// How long calls may fail after a process or the remotes were killed.
const MAX_OUTAGE: Duration = Duration::from_secs(3);
/// How long a change of the rules may take.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How many random rules are tried. Most are accepted.
const RULE_ATTEMPTS: usize = 50;

pub(super) struct Site {
    servlet: PathBuf,
    wasm: PathBuf,
    /// A copy of the native server, by whose path its processes are found.
    remote: PathBuf,
    folder: PathBuf,
    ports: [u16; PROCESSES],
    process_kill: LastKill,
    remote_kill: LastKill,
    /// The rules since these times.
    history: Mutex<Vec<(Instant, Policy)>>,
}

impl Site {
    pub(super) fn new(artifacts: &Artifacts, folder: &Path) -> anyhow::Result<Self> {
        let remote = folder.join(REMOTE);
        let native = artifacts.native();
        fs::copy(&native, &remote).with_context(|| native.display().to_string())?;
        Ok(Self {
            servlet: artifacts.servlet(),
            wasm: artifacts.wasm("spin"),
            remote,
            folder: folder.to_owned(),
            ports: [free_port()?, free_port()?, free_port()?],
            process_kill: LastKill::default(),
            remote_kill: LastKill::default(),
            history: Mutex::default(),
        })
    }

    fn config(&self, policy: &Policy, number: usize) -> String {
        let key = BASE64_STANDARD.encode([7; 32]);
        let (wasm, remote) = (self.wasm.display(), self.remote.display());
        let (rules, port) = (policy.text(), self.ports[number]);
        format!(
            r#"
[server]
state_keys = ["{key}"]
[http]
leave = "2s"
[listener.local]
address = "127.0.0.1:{port}"
[endpoint.main]
kind = "http"
listener = "local"
auth = "corp"
session = {{ store = "sealed", life = "1m", idle = "1m" }}
[auth.corp]
resource = "{AUDIENCE}"
scopes = ["mcp"]
claims = ["tenant"]
jwt = [{{ issuer = "{ISSUER}", jwks = "keys.json", leeway = "1s" }}]
{rules}
[servlet.greeter]
source = '{wasm}'
[remote.{REMOTE}]
command = ['{remote}', '--stdio']
required = true
tools = {{ only = ["wait"] }}
[bundle.ops.tool.pay]
handler = "greeter:greet"
inputs = {{ name = "${{{{ string(request.arguments.amount) + request.arguments.?to.orValue('') }}}}" }}
[bundle.ops.tool.pay.arguments]
type = "object"
properties = {{ amount = {{ type = "integer" }}, to = {{ type = "string" }} }}
required = ["amount"]
"#
        )
    }

    fn file(&self, number: usize) -> PathBuf {
        self.folder.join(format!("servlet-{number}.toml"))
    }

    /// Writes rules that the server accepts. Some random ones are mistakes, such as a rule that nothing reaches.
    pub(super) fn write(&self, random: &mut Random) -> anyhow::Result<()> {
        let new = self.folder.join("new.toml");
        let (mut accepted, mut log) = (None, String::new());
        for _ in 0..RULE_ATTEMPTS {
            let policy = Policy::random(random);
            fs::write(&new, self.config(&policy, 0))?;
            let mut check = Command::new(&self.servlet);
            check.args(["config", "check", "--load"]).arg(&new);
            let output = check.env("RUST_LOG", "off").output()?;
            if output.status.success() {
                accepted = Some(policy);
                break;
            }
            log = String::from_utf8_lossy(&output.stderr).into_owned();
        }
        let policy = accepted.with_context(|| format!("no rules are accepted: {log}"))?;
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.push((Instant::now(), policy.clone()));
        for number in 0..PROCESSES {
            fs::write(&new, self.config(&policy, number))?;
            // No process ever sees half of a file.
            fs::rename(&new, self.file(number))?;
        }
        Ok(())
    }

    /// How many rules there were.
    pub(super) fn policies(&self) -> usize {
        let history = self.history.lock();
        history.unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Rules that a process may have had since this time.
    pub(super) fn since(&self, begin: Instant) -> Vec<Policy> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = history
            .iter()
            .skip(1)
            .map(|(next, _)| Some(*next + RELOAD_TIMEOUT));
        let with_ends = history.iter().zip(ends.chain([None]));
        let had = with_ends.filter(|(_, end)| end.is_none_or(|end| end >= begin));
        had.map(|((_, policy), _)| policy.clone()).collect()
    }

    /// Whether a request that began then may have been lost with its process.
    pub(super) fn may_be_lost(&self, begin: Instant) -> bool {
        self.process_kill.may_have_met(begin)
    }

    /// Whether a call that began then may have met a remote that was down.
    pub(super) fn may_be_refused(&self, begin: Instant) -> bool {
        self.remote_kill.may_have_met(begin)
    }

    pub(super) fn start(&self, number: usize) -> anyhow::Result<Listening> {
        let mut command = Command::new(&self.servlet);
        command.arg("serve").arg(self.file(number));
        Listening::start(command.env("RUST_LOG", "off").env("RUST_BACKTRACE", "0"))
    }

    /// Starts `HAProxy` in front of the processes. Each request may go to another one.
    pub(super) fn balance(&self) -> anyhow::Result<Listening> {
        let config = balancer::CONFIG
            // While the remotes are down, the processes serve the rest.
            .replace("GET /ready", &format!("GET /ready?exclude={REMOTE}"))
            .replace("balance hdr(Mcp-Session-Id)", "balance roundrobin")
            .replace("timeout client", "timeout check 10s\n    timeout client");
        balancer::start(&config, &self.folder, &self.ports)
    }

    /// In turns, ends a process as an operator does, kills one, and kills all remotes. Starts the processes again. `others` has the
    /// number of each process. Returns how many turns there were.
    pub(super) fn end_in_turns(
        &self,
        mut others: VecDeque<(usize, Listening)>,
        progress: &Progress,
    ) -> anyhow::Result<usize> {
        let mut turn = 0_usize;
        while progress.goes_on_after(END_EVERY) {
            turn += 1;
            if turn.is_multiple_of(3) {
                self.remote_kill.note();
                self.kill_remotes()?;
                continue;
            }
            let (number, server) = others.pop_front().context("there are others")?;
            let mut process = server.process;
            if turn % 3 == 1 {
                ensure!(process.end(ANSWER_TIMEOUT)?, "a process does not end");
            } else {
                self.process_kill.note();
                drop(process);
            }
            progress.goes_on_after(PROCESS_DOWNTIME);
            others.push_back((number, self.start(number)?));
        }
        Ok(turn)
    }

    fn kill_remotes(&self) -> anyhow::Result<()> {
        let mut kill = Command::new("pkill");
        kill.args(["-KILL", "--full"]).arg(&self.remote);
        ensure!(kill.status()?.success(), "`pkill` finds no remote");
        Ok(())
    }

    /// Ends the last process as an operator does. Fails if a process is left.
    pub(super) fn end(&self, last: Listening) -> anyhow::Result<()> {
        let mut process = last.process;
        ensure!(process.end(ANSWER_TIMEOUT)?, "a process does not end");
        // A remote whose server was killed ends when it finds its input closed.
        thread::sleep(Duration::from_secs(1));
        let mut find = Command::new("pgrep");
        find.args(["--full", "--list-full"]).arg(&self.folder);
        let found = find.output()?;
        let [left, errors] =
            [&found.stdout, &found.stderr].map(|text| String::from_utf8_lossy(text));
        // The code for no process. Errors of `pgrep` have other codes.
        let is_none = found.status.code() == Some(1);
        ensure!(is_none, "processes are left:\n{left}{errors}");
        println!("no process is left");
        Ok(())
    }
}

/// When something was killed last.
#[derive(Default)]
struct LastKill(Mutex<Option<Instant>>);

impl LastKill {
    /// Notes a kill. Call this before the kill, so that a failed request never comes first.
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a request that began then may have failed because of a kill.
    fn may_have_met(&self, begin: Instant) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|kill| kill + MAX_OUTAGE >= begin)
    }
}
