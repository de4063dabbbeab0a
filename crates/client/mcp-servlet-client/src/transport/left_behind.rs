//! What a process has started and left behind in another session (`setsid`), where signals to its group do not reach it.
//!
//! Each process that is started here gets a variable with a random value, which the processes that it starts inherit.

use std::ffi::{OsStr, OsString};

/// The variable that marks a process and what it starts.
const VARIABLE: &str = "MCP_SERVLET_PROCESS";

/// How often processes are looked for, because they could start others at the same time.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 10;

/// The mark of one process and all that it starts.
#[derive(Clone, Debug)]
pub(super) struct Mark(OsString);

impl Mark {
    pub(super) fn new() -> Self {
        let mut random = [0; 16];
        // Without random numbers, the time since the start of the process has to do.
        if getrandom::fill(&mut random).is_err() {
            random = std::time::UNIX_EPOCH
                .elapsed()
                .unwrap_or_default()
                .as_nanos()
                .to_ne_bytes();
        }
        Self(format!("{:032x}", u128::from_ne_bytes(random)).into())
    }

    /// The variable, and its value.
    pub(super) fn variable(&self) -> (&'static str, &OsStr) {
        (VARIABLE, &self.0)
    }

    /// Kills all processes with the mark.
    #[cfg(target_os = "linux")]
    pub(super) fn kill(&self) {
        use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
        use std::os::unix::ffi::OsStrExt as _;
        let entry = [VARIABLE.as_bytes(), b"=", self.0.as_bytes()].concat();
        for _ in 0..ROUNDS {
            let mut is_over = true;
            for (pid, folder) in processes() {
                // Opened first: the number may belong to another process soon.
                let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
                    continue;
                };
                let variables = std::fs::read(folder.join("environ")).unwrap_or_default();
                if variables.split(|byte| *byte == 0).any(|one| one == entry) {
                    is_over = pidfd_send_signal(&process, Signal::KILL).is_err();
                }
            }
            if is_over {
                return;
            }
        }
    }

    /// Other systems have no list of the variables of processes.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn kill(&self) {}
}

/// All processes, with their folders in `/proc`.
#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = (rustix::process::Pid, std::path::PathBuf)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Some((rustix::process::Pid::from_raw(number)?, entry.path()))
    })
}
