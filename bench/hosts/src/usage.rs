//! What a command costs until its end, without the processes that it starts. Linux only.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::process::Process;

/// The time between two looks at the process.
const PAUSE: Duration = Duration::from_millis(1);

/// What a process used.
#[derive(Clone, Copy)]
pub(crate) struct Usage {
    /// The time from its start to its end, in seconds.
    pub(crate) took: f64,
    /// Its processor time, in seconds. The kernel counts in hundredths.
    pub(crate) processor: f64,
    /// The peak of its resident memory, in KiB. What it allocates in its last millisecond may be missing.
    pub(crate) peak: f64,
}

impl Usage {
    /// Runs a command whose standard output goes to a file.
    pub(crate) fn of(command: &mut Command, output: &Path) -> anyhow::Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let errors = output.with_extension("stderr");
        command.stdin(Stdio::null()).stdout(File::create(output)?);
        let started = Instant::now();
        let child = command.stderr(File::create(&errors)?).spawn();
        let child = child.with_context(|| format!("cannot start `{program}`"))?;
        let mut process = Process(child);
        let mut peak = 0.0;
        while !has_ended(&process.0)? {
            // The peak only grows. A process that has just ended has none.
            peak = process.peak().unwrap_or(peak);
            sleep(PAUSE);
        }
        let took = started.elapsed().as_secs_f64();
        let processor = process.processor_time()?;
        let status = process.0.wait()?;
        let errors = || fs::read_to_string(&errors).unwrap_or_default();
        ensure!(status.success(), "`{program}`: {status}\n{}", errors());
        Ok(Self {
            took,
            processor,
            peak,
        })
    }
}

/// Whether a process has ended. The kernel keeps it, so that its times can be read.
fn has_ended(child: &Child) -> anyhow::Result<bool> {
    let id = WaitId::Pid(Pid::from_child(child));
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(id, options)?.is_some())
}
