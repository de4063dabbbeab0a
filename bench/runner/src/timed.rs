//! Time and memory in the host. The two sides run in turns.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use extism::Plugin;

use crate::build::{Builder, Side};
use crate::host::{GREET, compile as compile_servlet, instance};
use crate::system;

const ROUNDS: usize = 20;
const CALLS: usize = 5_000;
const COMPILATIONS: usize = 12;
const INSTANCES: u32 = 200;

/// The median duration of a call of each servlet, in microseconds.
pub(crate) fn calls(servlets: &[Vec<u8>]) -> anyhow::Result<[f64; 2]> {
    let mut plugins = Vec::new();
    for wasm in servlets {
        plugins.push(instance(&compile_servlet(wasm)?)?);
    }
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for (plugin, times) in plugins.iter_mut().zip(&mut times) {
            // The first round only warms up.
            let calls = timed_calls(plugin)?;
            if round > 0 {
                times.extend(calls);
            }
        }
    }
    Ok(times.map(|times| median(times) * 1e6))
}

fn timed_calls(plugin: &mut Plugin) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let start = Instant::now();
        plugin.call::<_, &[u8]>("call", GREET)?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(times)
}

/// The CPU time to compile each servlet without a cache, in milliseconds.
pub(crate) fn compile(servlets: &[Vec<u8>]) -> anyhow::Result<[f64; 2]> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..COMPILATIONS {
        for (wasm, times) in servlets.iter().zip(&mut times) {
            let start = system::process_cpu()?;
            drop(compile_servlet(wasm)?);
            times.push(system::process_cpu()? - start);
        }
    }
    Ok(times.map(|times| median(times) * 1e3))
}

/// The resident memory of one more instance of each servlet, in KiB, each measured in a fresh process.
pub(crate) fn memory(builder: &Builder, servlets: &[Vec<u8>]) -> anyhow::Result<[f64; 2]> {
    let mut memory = [0.0; 2];
    for ((side, wasm), memory) in Side::BOTH.into_iter().zip(servlets).zip(&mut memory) {
        let path = builder.target(side).join("memory.wasm");
        std::fs::write(&path, wasm).with_context(|| path.display().to_string())?;
        let output = Command::new(std::env::current_exe()?)
            .arg("--memory-of")
            .arg(&path)
            .output()?;
        let messages = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cannot measure memory: {messages}");
        let bytes: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
        *memory = bytes / 1024.0;
    }
    Ok(memory)
}

/// The resident bytes of one more instance, measured in this process.
pub(crate) fn memory_here(wasm: &Path) -> anyhow::Result<u64> {
    let wasm = std::fs::read(wasm).with_context(|| wasm.display().to_string())?;
    let compiled = compile_servlet(&wasm)?;
    let called = || {
        let mut plugin = instance(&compiled)?;
        plugin.call::<_, &[u8]>("call", GREET)?;
        anyhow::Ok(plugin)
    };
    let _first = called()?;
    let before = system::resident()?;
    let mut instances = Vec::new();
    for _ in 0..INSTANCES {
        instances.push(called()?);
    }
    Ok((system::resident()? - before) / u64::from(INSTANCES))
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
