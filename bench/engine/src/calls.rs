//! Calls of tools, several at a time.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use mcp_servlet_runtime::{Guest, Job};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    task::{JoinHandle, JoinSet},
    time::sleep,
};

/// A tool of a servlet and its arguments.
#[derive(Deserialize)]
pub(crate) struct Tool {
    pub(crate) wasm: PathBuf,
    name: String,
    arguments: Value,
}

impl Tool {
    fn job(&self, guest: &Guest) -> Job {
        let params = json!({ "name": self.name, "arguments": self.arguments });
        guest.job("call", json!({ "params": params }).to_string().into_bytes())
    }
}

/// Makes calls, a number of them at a time.
///
/// # Panics
///
/// If a call fails.
pub(crate) async fn in_flight(guest: &Guest, tool: &Tool, at_once: usize, count: usize) {
    let mut tasks = JoinSet::new();
    for _ in 0..at_once {
        let (guest, job) = (guest.clone(), tool.job(guest));
        tasks.spawn(async move {
            for _ in 0..count.div_ceil(at_once) {
                let output = guest.run_async(job.clone()).await;
                output.expect("the tool returns a result");
            }
        });
    }
    tasks.join_all().await;
}

/// The median and the 99th percentile of calls that run while 16 slow calls run all the time.
pub(crate) async fn under_load(
    fast: &Guest,
    fast_tool: &Tool,
    slow: &Guest,
    slow_tool: &Tool,
    count: usize,
) -> Vec<f64> {
    let (guest, job) = (slow.clone(), slow_tool.job(slow));
    let load = move || {
        let (guest, job) = (guest.clone(), job.clone());
        async move {
            loop {
                let output = guest.run_async(job.clone()).await;
                output.expect("the tool returns a result");
            }
        }
    };
    let mut tasks: JoinSet<()> = (0..16).map(|_| load()).collect();
    let mut took = Vec::new();
    for _ in 0..count {
        sleep(Duration::from_millis(5)).await;
        let start = Instant::now();
        let output = fast.run_async(fast_tool.job(fast)).await;
        output.expect("the tool returns a result");
        took.push(start.elapsed().as_secs_f64());
    }
    tasks.shutdown().await;
    took.sort_by(f64::total_cmp);
    vec![took[count / 2], took[count * 99 / 100]]
}

/// Stops one of eight endless calls, again and again. Returns how many of the others ended.
pub(crate) async fn wrong_stops(guest: &Guest, endless: &Tool, times: usize) -> usize {
    let start = || -> JoinHandle<()> {
        let (guest, job) = (guest.clone(), endless.job(guest));
        tokio::spawn(async move { drop(guest.run_async(job).await) })
    };
    let mut calls: Vec<_> = (0..8).map(|_| start()).collect();
    let mut wrong = 0;
    for time in 0..times {
        sleep(Duration::from_millis(20)).await;
        let stopped = time % calls.len();
        calls[stopped].abort();
        // This does not wait until the instance has stopped.
        drop((&mut calls[stopped]).await);
        calls[stopped] = start();
        sleep(Duration::from_millis(80)).await;
        for call in &mut calls {
            if call.is_finished() {
                wrong += 1;
                *call = start();
            }
        }
    }
    for call in calls {
        call.abort();
    }
    wrong
}
