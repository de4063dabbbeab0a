//! A long, mixed load over HTTP, with the server's memory minute by minute.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use crate::Subject;
use crate::http::{Listening, Session};

/// The minute after which memory should stay constant.
const SETTLED: u64 = 5;
/// How much it may still change, as a fraction.
const TOLERANCE: f64 = 0.05;
const CLIENTS: usize = 8;
/// The interval between requests of a client, so that the machine is not fully busy for half an hour.
const PACE: Duration = Duration::from_millis(20);
/// The timeout of a call: far longer than a shared machine may pause the process.
const TIMEOUT: &str = "2s";
/// After this many requests a client ends its session, and a new client starts.
const REQUESTS: usize = 200;

#[derive(clap::Args)]
pub(crate) struct Soak {
    #[command(flatten)]
    subject: Subject,
    /// How long
    #[arg(long, default_value_t = 30)]
    minutes: u64,
}

impl Soak {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        ensure!(
            self.minutes > SETTLED,
            "memory settles within {SETTLED} minutes; give more"
        );
        let mut command = Command::new(&self.subject.servlet);
        command.arg("serve").arg(&self.subject.wasm).args([
            "--http",
            "127.0.0.1:0",
            "--timeout",
            TIMEOUT,
        ]);
        let server = Listening::start(command.env("RUST_LOG", "off").env("RUST_BACKTRACE", "0"))?;
        let (ended, requests) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| {
                    let (url, ended, requests) = (&server.url, &ended, &requests);
                    scope.spawn(move || client(url, number, ended, requests))
                })
                .collect();
            let watched = watch(&server, self.minutes, &requests, || {
                clients.iter().any(ScopedJoinHandle::is_finished)
            });
            ended.store(true, Ordering::Relaxed);
            for client in clients {
                client.join().expect("clients do not panic")?;
            }
            watched
        })
    }
}

/// Prints the average memory of each minute, because it varies with the running requests. At the
/// end, it must be close to the value at minute [`SETTLED`].
fn watch(
    server: &Listening,
    minutes: u64,
    requests: &AtomicU64,
    failed: impl Fn() -> bool,
) -> anyhow::Result<()> {
    println!("{:>6}  {:>10}  {:>9}", "minute", "requests", "MiB");
    let start = Instant::now();
    let mut settled = 0.0;
    let mut now = 0.0;
    for minute in 1..=minutes {
        let mut taken = Vec::new();
        while start.elapsed() < Duration::from_secs(60 * minute) {
            if failed() {
                return Ok(());
            }
            taken.push(server.process.resident()? / 1024.0);
            thread::sleep(Duration::from_millis(100));
        }
        now = taken.iter().sum::<f64>() / taken.len() as f64;
        println!(
            "{minute:>6}  {:>10}  {now:>9.1}",
            requests.load(Ordering::Relaxed)
        );
        if minute == SETTLED {
            settled = now;
        }
    }
    let ratio = now / settled;
    println!("minute {minutes} to minute {SETTLED}: {ratio:.3}");
    ensure!(
        (ratio - 1.0).abs() <= TOLERANCE,
        "memory changed by more than {:.0} %",
        TOLERANCE * 100.0
    );
    Ok(())
}

/// Runs one client after the other, each with a session of its own.
fn client(
    url: &str,
    number: usize,
    ended: &AtomicBool,
    requests: &AtomicU64,
) -> anyhow::Result<()> {
    let mut turn = number;
    while !ended.load(Ordering::Relaxed) {
        let mut session = Session::open(url)?;
        for _ in 0..REQUESTS {
            let start = Instant::now();
            let (request, expected) = &next(turn);
            let answer = session.request("tools/call", request)?;
            ensure!(
                expected.fits(&answer),
                "{:.200} is answered by {:.500}",
                request.to_string(),
                answer.to_string()
            );
            requests.fetch_add(1, Ordering::Relaxed);
            turn += 1;
            if ended.load(Ordering::Relaxed) {
                break;
            }
            thread::sleep(PACE.saturating_sub(start.elapsed()));
        }
        session.close()?;
    }
    Ok(())
}

/// The expected outcome of a request.
enum Expected {
    Success,
    ToolError,
    Fault,
}

impl Expected {
    fn fits(&self, answer: &Value) -> bool {
        let is_error = answer["result"]["isError"] == true;
        match self {
            Self::Success => answer["result"].is_object() && !is_error,
            Self::ToolError => is_error,
            Self::Fault => answer["error"].is_object(),
        }
    }
}

/// One of this many requests runs a loop, which uses processor time until its timeout.
const LOOP_EVERY: usize = 3000;
/// Takes weeks on any machine.
const ENDLESS: u64 = 1 << 52;

/// Small and large calls, computation, invalid arguments, an unknown tool, and now and then an endless loop.
fn next(turn: usize) -> (Value, Expected) {
    use Expected::{Fault, Success, ToolError};
    let call = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments });
    let greet = |name: &str| call("greet", json!({ "name": name }));
    if turn.is_multiple_of(LOOP_EVERY) {
        return (call("spin", json!({ "rounds": ENDLESS })), Fault);
    }
    match turn % 6 {
        0 => (greet(&"a".repeat(65_536)), Success),
        1 => (call("spin", json!({ "rounds": 100_000 })), Success),
        2 => (call("greet", json!({})), ToolError),
        3 => (call("no_such_tool", json!({})), Fault),
        _ => (greet("Ada Lovelace"), Success),
    }
}
