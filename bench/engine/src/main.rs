//! Measures the runtime of the tree that it was built in.
//!
//! `bench-hosts engine` runs one such program of each tree and sends them commands, one JSON value
//! per line of standard input. The program answers with a line of JSON: a list of numbers. The
//! argument is the directory for compiled modules.

#![allow(
    clippy::cast_precision_loss,
    reason = "no figure has more than 53 bits"
)]

mod calls;
mod system;

use std::{
    env, fs,
    io::{Write as _, stdin, stdout},
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context as _;
use mcp_servlet_runtime::{CompileCache, Guest, Instances, Isolation, LoadOptions};
use serde::Deserialize;
use tokio::runtime::Runtime;

use calls::Tool;

/// Times are in seconds, memory is in bytes.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Command {
    /// Loads and describes all servlets of a folder: time, processor time, memory afterwards.
    Load(PathBuf),
    /// Makes a number of calls, 16 at a time: time and processor time of each.
    Calls(Calls),
    /// Makes one call, and then a number of calls at the same time: memory of each instance after
    /// the first.
    Instances(Calls),
    /// Makes short calls while 16 calls of another tool run: the median and the 99th percentile.
    UnderLoad {
        fast: Tool,
        slow: Tool,
        count: usize,
    },
    /// Runs eight calls that do not end by themselves, and stops one of them, again and again: the
    /// number of other calls that end.
    Stops { endless: Tool, times: usize },
}

#[derive(Deserialize)]
struct Calls {
    tool: Tool,
    count: usize,
    #[serde(default)]
    in_new_instances: bool,
}

struct Bench {
    runtime: Runtime,
    cache: PathBuf,
    /// The servlets that stay loaded.
    loaded: Vec<Guest>,
}

fn main() -> anyhow::Result<()> {
    let cache = env::args_os().nth(1).context("expected a directory")?;
    let mut bench = Bench {
        runtime: Runtime::new()?,
        cache: cache.into(),
        loaded: Vec::new(),
    };
    for line in stdin().lines() {
        let figures = bench.run(serde_json::from_str(&line?)?)?;
        serde_json::to_writer(stdout(), &figures)?;
        stdout().write_all(b"\n")?;
    }
    Ok(())
}

impl Bench {
    fn run(&mut self, command: Command) -> anyhow::Result<Vec<f64>> {
        match command {
            Command::Load(folder) => self.load_all(&folder),
            Command::Calls(calls) => self.calls(&calls),
            Command::Instances(calls) => self.further_instances(&calls),
            Command::UnderLoad { fast, slow, count } => {
                let guests = (
                    self.load(&fast.wasm, 1, false)?,
                    self.load(&slow.wasm, 16, false)?,
                );
                let latencies = calls::under_load(&guests.0, &fast, &guests.1, &slow, count);
                Ok(self.runtime.block_on(latencies))
            }
            Command::Stops { endless, times } => {
                let guest = self.load(&endless.wasm, 8, false)?;
                let wrong = calls::wrong_stops(&guest, &endless, times);
                Ok(vec![self.runtime.block_on(wrong) as f64])
            }
        }
    }

    fn load(&self, wasm: &Path, instances: usize, in_new_instances: bool) -> anyhow::Result<Guest> {
        let isolation = if in_new_instances {
            Isolation::Call
        } else {
            Isolation::Shared
        };
        let mut options = LoadOptions::default();
        options.cache = CompileCache::Directory(self.cache.clone());
        options.timeout = None;
        options.compile = None;
        options.instances = Instances {
            min: 1,
            max: instances,
            idle: None,
        }
        .into();
        // An option in some versions of the runtime.
        options.isolation = isolation.into();
        Guest::load(wasm, &options).with_context(|| wasm.display().to_string())
    }

    fn load_all(&mut self, folder: &Path) -> anyhow::Result<Vec<f64>> {
        let (start, cpu) = (Instant::now(), system::processor_time());
        for entry in fs::read_dir(folder)? {
            let guest = self.load(&entry?.path(), 1, false)?;
            guest.call("describe", Vec::new())?;
            self.loaded.push(guest);
        }
        let took = start.elapsed().as_secs_f64();
        Ok(vec![
            took,
            system::processor_time() - cpu,
            system::memory()?,
        ])
    }

    fn calls(&self, calls: &Calls) -> anyhow::Result<Vec<f64>> {
        let guest = self.load(&calls.tool.wasm, 16, calls.in_new_instances)?;
        let run = |count| {
            self.runtime
                .block_on(calls::in_flight(&guest, &calls.tool, 16, count))
        };
        // The first calls make the instances.
        run(calls.count / 10);
        let (start, cpu) = (Instant::now(), system::processor_time());
        run(calls.count);
        let (took, cpu) = (
            start.elapsed().as_secs_f64(),
            system::processor_time() - cpu,
        );
        Ok([took, cpu].map(|time| time / calls.count as f64).into())
    }

    fn further_instances(&self, calls: &Calls) -> anyhow::Result<Vec<f64>> {
        let guest = self.load(&calls.tool.wasm, calls.count, false)?;
        let run = |count| {
            self.runtime
                .block_on(calls::in_flight(&guest, &calls.tool, count, count))
        };
        run(1);
        let one = system::memory()?;
        run(calls.count);
        Ok(vec![(system::memory()? - one) / (calls.count - 1) as f64])
    }
}
