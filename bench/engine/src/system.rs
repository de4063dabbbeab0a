//! What the operating system says about this process. Linux only.

use std::fs;

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};

/// The processor time of all threads so far, in seconds.
pub(crate) fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The memory of this process in bytes. A page that several processes share counts in parts.
pub(crate) fn memory() -> anyhow::Result<f64> {
    const FILE: &str = "/proc/self/smaps_rollup";
    let text = fs::read_to_string(FILE).context(FILE)?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes: f64 = kibibytes.context("no line `Pss:`")?.trim().parse()?;
    Ok(kibibytes * 1024.0)
}
