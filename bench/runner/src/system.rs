//! Process statistics of the operating system. Linux only.

use std::fs;
use std::time::Duration;

use anyhow::Context;
use rustix::time::{ClockId, clock_gettime};

/// The CPU seconds of this process: all threads, user and system.
pub(crate) fn process_cpu() -> anyhow::Result<f64> {
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime))?;
    Ok(time.as_secs_f64())
}

/// The CPU seconds of all finished child processes and their children.
pub(crate) fn children_cpu() -> anyhow::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("/proc/self/stat")?;
    // The name of the program, in parentheses, may contain spaces. The fields after it do not.
    let (_, fields) = stat
        .rsplit_once(')')
        .context("/proc/self/stat has no name")?;
    let ticks: u64 = fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(|field| field.parse().unwrap_or(0_u64))
        .sum();
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The resident memory of this process, in bytes.
pub(crate) fn resident() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes: u64 = kibibytes
        .context("/proc/self/status has no VmRSS")?
        .trim()
        .parse()?;
    Ok(kibibytes * 1024)
}
