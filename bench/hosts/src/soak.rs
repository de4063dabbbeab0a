//! A long, mixed load over HTTP of a server with a servlet, a bundle and remotes, with the server's memory minute by minute. The
//! remotes are killed again and again, while the configuration changes.

mod access;
mod clients;
mod config;
mod expected;
mod lasting;
mod outage;
mod processes;
mod servlet;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use self::clients::{CLIENTS, Call, client};
use self::config::{CATCH, Config};
use self::expected::Expected::{Success, SuccessUnlessDown, ToolError};
use self::expected::{Expected, Refusal};
use self::lasting::{Progress, Worker};
use self::outage::Outage;
use crate::artifacts::Artifacts;
use crate::http::{Client, Listening, free_port};
use crate::stdio::ANSWER_TIMEOUT;

const KILL_EVERY: Duration = Duration::from_secs(20);
const CHANGE_EVERY: Duration = Duration::from_secs(30);
/// How long the remote over HTTP is down.
const WEB_DOWNTIME: Duration = Duration::from_secs(3);
/// How long a change of the configuration may take.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(clap::Args)]
pub(crate) struct Soak {
    /// How long
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// Instead, keep three processes behind `HAProxy` under the load of callers whose tokens expire, while the processes end and the
    /// rules change, and check each decision with a second evaluator
    #[arg(long)]
    access: bool,
}

impl Soak {
    pub(crate) fn run(self, artifacts: &Artifacts) -> anyhow::Result<()> {
        ensure!(
            self.minutes > lasting::SETTLED_MINUTE,
            "memory settles within {} minutes; give more",
            lasting::SETTLED_MINUTE
        );
        if self.access {
            access::run(artifacts, self.minutes)
        } else {
            run(artifacts, self.minutes)
        }
    }
}

fn run(artifacts: &Artifacts, minutes: u64) -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let folder = temporary.path().canonicalize()?;
    let remotes = Remotes::new(artifacts.native(), &folder)?;
    let config = Config {
        file: folder.join("servlet.toml"),
        wasm: artifacts.wasm("spin"),
        port: remotes.port,
        programs: remotes
            .children
            .each_ref()
            .map(|child| child.program.clone()),
    };
    config.write(config::GREETINGS[0])?;
    let web = remotes.start_web()?;
    let mut command = Command::new(artifacts.servlet());
    command.arg("serve").arg(&config.file);
    let server = Listening::start(command.env("RUST_LOG", "off").env("RUST_BACKTRACE", "0"))?;
    let urls = config::PATHS.map(|path| with_path(&server.url, path));
    let next = |turn| remotes.next(turn);
    let mut workers: Vec<Worker<'_>> = (0..CLIENTS)
        .map(|number| client(&urls[number % urls.len()], number, &next))
        .collect();
    let changes = AtomicU64::new(0);
    workers.push(Box::new(|progress| remotes.kill_in_turns(web, progress)));
    workers.push(Box::new(|progress| {
        change(&config, &urls[0], &changes, progress)
    }));
    let outcome = lasting::run(&server, minutes, workers);
    remotes.report();
    println!("configurations: {}", changes.load(Ordering::Relaxed));
    end(server, &folder)?;
    outcome
}

/// The URL with another path.
fn with_path(url: &str, path: &str) -> String {
    let host = url.rsplit_once('/').map_or(url, |(host, _)| host);
    format!("{host}{path}")
}

/// A remote that is a child process of the server.
struct Child {
    name: &'static str,
    /// A copy of the native server, by whose path its processes are found.
    program: PathBuf,
    outage: Outage,
}

/// The remotes of the configuration.
struct Remotes {
    native: PathBuf,
    /// The port of the remote over HTTP.
    port: u16,
    web: Outage,
    /// One that the server starts itself, and one that a shell starts.
    children: [Child; 2],
}

impl Remotes {
    fn new(native: PathBuf, folder: &Path) -> anyhow::Result<Self> {
        let child = |name: &'static str| {
            let program = folder.join(name);
            fs::copy(&native, &program).with_context(|| native.display().to_string())?;
            anyhow::Ok(Child {
                name,
                program,
                outage: Outage::default(),
            })
        };
        Ok(Self {
            children: [child("child")?, child("shell")?],
            native,
            port: free_port()?,
            web: Outage::default(),
        })
    }

    /// Calls to each remote and to virtual tools, in addition to those of the load without them.
    fn next(&self, turn: usize) -> Call<'_> {
        let name = if turn.is_multiple_of(15) {
            "b".repeat(65_536)
        } else {
            format!("Ada {turn}")
        };
        let end = format!("{}!", &name[name.len().saturating_sub(20)..]);
        let greet = |tool, expected| Call::new(tool, &json!({ "name": name }), expected);
        let [child, shell] = &self.children;
        match turn % 8 {
            0 => greet(
                "web_greet",
                self.web_expected(end, Refusal::OfServer("web")),
            ),
            1 => greet("child_greet", child.expected(end)),
            2 => greet("shell_greet", shell.expected(end)),
            3 => greet("welcome", Success(end)),
            4 => greet(
                "welcome_by_web",
                self.web_expected(end, Refusal::OfCatch(CATCH)),
            ),
            5 => Call::new("welcome", &json!({ "name": 1 }), ToolError),
            _ => servlet::next(turn / 8),
        }
    }

    fn web_expected(&self, end: String, refusal: Refusal) -> Expected<'_> {
        SuccessUnlessDown(end, &self.web, refusal)
    }

    /// A worker that kills one remote after the other.
    fn kill_in_turns(&self, mut web: Listening, progress: &Progress) -> anyhow::Result<()> {
        loop {
            if !progress.goes_on_after(KILL_EVERY) {
                return Ok(());
            }
            let kill = || Ok(drop(web));
            let mut started = None;
            self.web.last(kill, |()| {
                progress.goes_on_after(WEB_DOWNTIME);
                started = Some(self.start_web()?);
                Ok(())
            })?;
            web = started.context("it has started")?;
            for child in &self.children {
                if !progress.goes_on_after(KILL_EVERY) {
                    return Ok(());
                }
                let kill = || processes::kill(&child.program);
                child.outage.last(kill, |()| Ok(()))?;
            }
        }
    }

    fn start_web(&self) -> anyhow::Result<Listening> {
        let mut command = Command::new(&self.native);
        Listening::start(command.args(["--listen", &format!("127.0.0.1:{}", self.port)]))
    }

    fn report(&self) {
        let children = self
            .children
            .iter()
            .map(|child| (child.name, &child.outage));
        println!("{:>6}  {:>6}  {:>13}", "remote", "killed", "refused calls");
        for (name, outage) in [("web", &self.web)].into_iter().chain(children) {
            let (times, refused) = outage.counts();
            println!("{name:>6}  {times:>6}  {refused:>13}");
        }
    }
}

impl Child {
    fn expected(&self, end: String) -> Expected<'_> {
        SuccessUnlessDown(end, &self.outage, Refusal::OfServer(self.name))
    }
}

/// A worker that changes the configuration again and again, and waits until clients notice.
fn change(
    config: &Config,
    url: &str,
    changes: &AtomicU64,
    progress: &Progress,
) -> anyhow::Result<()> {
    for greeting in config::GREETINGS.iter().cycle().skip(1) {
        if !progress.goes_on_after(CHANGE_EVERY) {
            break;
        }
        config.write(greeting)?;
        let written = Instant::now();
        let mut client = Client::open(url)?;
        while !welcome(&mut client)?.starts_with(greeting) {
            ensure!(
                written.elapsed() < RELOAD_TIMEOUT,
                "the configuration is still the previous one after {} s",
                RELOAD_TIMEOUT.as_secs()
            );
            thread::sleep(Duration::from_millis(50));
        }
        client.close()?;
        changes.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn welcome(client: &mut Client) -> anyhow::Result<String> {
    let params = json!({ "name": "welcome", "arguments": { "name": "Ada" } });
    let answer: Value = client.request("tools/call", &params)?;
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .with_context(|| format!("a virtual tool is answered by {answer}"))?;
    Ok(text.to_owned())
}

/// Ends the server as an operator does. Fails if one of its processes is left.
fn end(server: Listening, folder: &Path) -> anyhow::Result<()> {
    let mut process = server.process;
    ensure!(
        process.end(ANSWER_TIMEOUT)?,
        "the server does not end within {} s",
        ANSWER_TIMEOUT.as_secs()
    );
    // A process that the shell has started only ends when it finds its input closed.
    thread::sleep(Duration::from_secs(1));
    let left = processes::command_lines_in(folder)?;
    ensure!(left.is_empty(), "processes are left: {left:?}");
    println!("no process is left");
    Ok(())
}
