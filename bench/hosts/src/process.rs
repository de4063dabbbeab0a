//! The process of a server, and its memory and processor time according to the operating system. Linux only.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Signal, kill_process};

/// A process that is killed when this value is dropped.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// The current resident memory, in MiB.
    pub(crate) fn resident(&self) -> anyhow::Result<f64> {
        self.status("VmRSS:")
    }

    /// The peak resident memory, in MiB.
    pub(crate) fn peak(&self) -> anyhow::Result<f64> {
        self.status("VmHWM:")
    }

    /// How many seconds of processor time the process has used. Its children do not count.
    pub(crate) fn processor_time(&self) -> anyhow::Result<f64> {
        let path = format!("/proc/{}/stat", self.0.id());
        let stat = fs::read_to_string(&path).context("the process is gone")?;
        // The name of the program is in parentheses and may have spaces. The next field is the third one, and the times of the
        // process are the fields 14 and 15.
        let (_, fields) = stat.rsplit_once(')').context("the fields of a process")?;
        let times = fields.split_whitespace().skip(11).take(2);
        let ticks: Vec<f64> = times.map(str::parse).collect::<Result<_, _>>()?;
        Ok(ticks.iter().sum::<f64>() / clock_ticks_per_second() as f64)
    }

    /// Asks the process to end. Returns whether it did so within this time.
    pub(crate) fn end(&mut self, within: Duration) -> anyhow::Result<bool> {
        kill_process(Pid::from_child(&self.0), Signal::TERM)?;
        let begin = Instant::now();
        while self.0.try_wait()?.is_none() {
            if begin.elapsed() > within {
                return Ok(false);
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(true)
    }

    fn status(&self, field: &str) -> anyhow::Result<f64> {
        let path = format!("/proc/{}/status", self.0.id());
        let status = fs::read_to_string(&path).context("the server is gone")?;
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kibibytes = line
            .and_then(|line| line.trim().strip_suffix(" kB"))
            .with_context(|| format!("{path} has no {field}"))?;
        Ok(kibibytes.trim().parse::<f64>()? / 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
