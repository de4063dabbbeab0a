//! Runs a program and writes the names of the functions that it calls, in the order of their first calls.
//!
//! Each function begins with a breakpoint, which is removed when it is hit, so the program runs at almost its usual speed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::functions::Functions;

/// Stops before it becomes the program, so that it can be traced from its first instruction.
const STOP_THEN_EXEC: &str = "kill -STOP $$; exec \"$0\" \"$@\"";

#[derive(clap::Args)]
pub(crate) struct Trace {
    /// Where to write the names
    #[arg(long)]
    output: PathBuf,
    /// The program, with its symbols
    program: PathBuf,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Trace {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let program = self.program.canonicalize()?;
        let functions = Functions::read(&program)?;
        let mut command = Command::new("sh");
        command.args(["-c", STOP_THEN_EXEC]).arg(&program);
        let child = command.args(&self.arguments).spawn()?;
        let process = Pid::from_raw(i32::try_from(child.id())?);
        let output = File::create(&self.output);
        let mut tracer = Tracer {
            process,
            program,
            functions,
            memory: None,
            seen: BTreeSet::new(),
            output: output.with_context(|| self.output.display().to_string())?,
        };
        tracer.start()?;
        tracer.trace()
    }
}

struct Tracer {
    process: Pid,
    program: PathBuf,
    functions: Functions,
    /// The memory of the program, and the address where its file begins in it.
    memory: Option<(File, u64)>,
    seen: BTreeSet<u64>,
    output: File,
}

impl Tracer {
    fn start(&self) -> anyhow::Result<()> {
        waitpid(self.process, Some(WaitPidFlag::WUNTRACED))?;
        let options =
            Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
        ptrace::seize(self.process, options)?;
        kill(self.process, Signal::SIGCONT)?;
        Ok(())
    }

    /// Returns when the program has ended.
    fn trace(&mut self) -> anyhow::Result<()> {
        loop {
            let signal = match waitpid(None, Some(WaitPidFlag::__WALL))? {
                WaitStatus::Exited(process, code) if process == self.process => {
                    return ended(code);
                }
                WaitStatus::Signaled(process, signal, _) if process == self.process => {
                    bail!("the program was ended by {signal}");
                }
                WaitStatus::PtraceEvent(thread, _, event) => {
                    if event == ptrace::Event::PTRACE_EVENT_EXEC as i32 {
                        self.arm()?;
                    }
                    Some((thread, None))
                }
                WaitStatus::Stopped(thread, Signal::SIGTRAP) if self.hit(thread)? => {
                    Some((thread, None))
                }
                WaitStatus::Stopped(thread, signal) => Some((thread, Some(signal))),
                _ => None,
            };
            if let Some((thread, signal)) = signal {
                ptrace::cont(thread, signal)?;
            }
        }
    }

    fn arm(&mut self) -> anyhow::Result<()> {
        let base = base_address(self.process, &self.program)?;
        let memory = File::options()
            .write(true)
            .open(format!("/proc/{}/mem", self.process))?;
        for section in self.functions.with_breakpoints() {
            memory.write_all_at(&section.code, base + section.address)?;
        }
        self.memory = Some((memory, base));
        Ok(())
    }

    /// Whether the thread has hit a breakpoint. It goes on with the instruction that was there.
    fn hit(&mut self, thread: Pid) -> anyhow::Result<bool> {
        let Some((memory, base)) = &self.memory else {
            return Ok(false);
        };
        let mut registers = ptrace::getregs(thread)?;
        // The breakpoint has one byte.
        let stopped = registers.rip - 1;
        let address = stopped.wrapping_sub(*base);
        let Some((names, first)) = self.functions.at(address) else {
            return Ok(false);
        };
        // Another thread may have hit it at the same time.
        if self.seen.insert(address) {
            memory.write_all_at(&[first], stopped)?;
            for name in names {
                writeln!(self.output, "{name}")?;
            }
        }
        registers.rip = stopped;
        ptrace::setregs(thread, registers)?;
        Ok(true)
    }
}

fn ended(code: i32) -> anyhow::Result<()> {
    match code {
        0 => Ok(()),
        code => bail!("the program ended with exit status {code}"),
    }
}

/// The address where the file of a program begins in its memory.
fn base_address(process: Pid, program: &Path) -> anyhow::Result<u64> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let program = program.to_string_lossy();
    let first = maps.lines().find(|line| line.ends_with(&*program));
    let address = first.and_then(|line| line.split('-').next());
    let address = address.with_context(|| format!("{program} is not in its own memory"))?;
    Ok(u64::from_str_radix(address, 16)?)
}
