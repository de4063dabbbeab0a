//! Finds processes by their programs. Linux only.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// Kills the processes of a program. Fails if there are none.
pub(super) fn kill(program: &Path) -> anyhow::Result<()> {
    let mut killed = 0;
    for (id, running) in all()? {
        if running.program.as_deref() == Some(program) {
            kill_process(id, Signal::KILL).context("cannot kill a remote")?;
            killed += 1;
        }
    }
    ensure!(killed > 0, "`{}` does not run", program.display());
    Ok(())
}

/// The command lines of all processes whose program or arguments are in this folder.
pub(super) fn command_lines_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let folder = folder.to_string_lossy();
    let lines = all()?.into_iter().map(|(_, running)| running.line);
    Ok(lines.filter(|line| line.contains(&*folder)).collect())
}

struct Running {
    /// None for a process of another user, or one that has just ended.
    program: Option<PathBuf>,
    /// The program and its arguments.
    line: String,
}

fn all() -> anyhow::Result<Vec<(Pid, Running)>> {
    let mut processes = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let folder = entry?.path();
        let id = folder
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        let (Some(id), Ok(line)) = (id.and_then(Pid::from_raw), fs::read(folder.join("cmdline")))
        else {
            continue;
        };
        let running = Running {
            program: fs::read_link(folder.join("exe")).ok(),
            line: String::from_utf8_lossy(&line).replace('\0', " "),
        };
        processes.push((id, running));
    }
    Ok(processes)
}
