//! Calls a tool and reads its result into a type, with `mcp-servlet-client` and with rmcp alone.
//!
//! `bench-hosts client` runs it. It prints one line of JSON: for each size of the structured content, the processor time of a call
//! in every round and on both sides, in seconds. The server runs on another thread, behind a pipe in memory, and only the thread
//! of the clients is measured. Both sides take turns. All threads share one processor, because waking a thread on another one
//! costs more than a small call. Linux only.

#![allow(clippy::print_stdout, reason = "a command talks to people")]

mod report;
mod server;
mod sides;

use std::time::Duration;

use anyhow::{Context as _, ensure};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use tokio::runtime::Builder;

use sides::{Ours, Side, WithRmcp};

/// How many rounds each side runs.
const ROUNDS: usize = 15;
/// The number of stations in a report, and of calls in a round. The reports have 0.2, 7 and 780 kB.
const SIZES: [(usize, u32); 3] = [(2, 500), (68, 200), (7_300, 5)];

/// The figures of one size.
#[derive(Serialize)]
struct Figures {
    /// The length of the structured content, in bytes.
    bytes: usize,
    ours: Vec<f64>,
    peer: Vec<f64>,
}

fn main() -> anyhow::Result<()> {
    share_a_processor()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let figures = runtime.block_on(measure())?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

/// Keeps this thread, and those that it starts, on one processor.
fn share_a_processor() -> anyhow::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu));
    let mut one = CpuSet::new();
    one.set(first.context("this thread may run on no processor")?);
    Ok(sched_setaffinity(None, &one)?)
}

async fn measure() -> anyhow::Result<Vec<Figures>> {
    let (ours, peer) = (Ours::connect().await?, WithRmcp::connect().await?);
    let mut all = Vec::new();
    for (stations, calls) in SIZES {
        let mut figures = Figures {
            bytes: report::text(stations)?.len(),
            ours: Vec::new(),
            peer: Vec::new(),
        };
        for round in 0..=ROUNDS {
            let times = [
                round_of(&ours, stations, calls).await?,
                round_of(&peer, stations, calls).await?,
            ];
            // The first round only warms up.
            if round > 0 {
                figures.ours.push(times[0]);
                figures.peer.push(times[1]);
            }
        }
        all.push(figures);
    }
    Ok(all)
}

/// The processor time of a call, in seconds.
async fn round_of(side: &impl Side, stations: usize, calls: u32) -> anyhow::Result<f64> {
    let started = processor_time()?;
    for _ in 0..calls {
        let report = side.call(stations).await?;
        ensure!(report.stations.len() == stations, "another report arrived");
    }
    let took = processor_time()? - started;
    Ok(took.as_secs_f64() / f64::from(calls))
}

/// The processor time of this thread.
fn processor_time() -> anyhow::Result<Duration> {
    Ok(Duration::try_from(clock_gettime(ClockId::ThreadCPUTime))?)
}
