//! Finds the functions of `servlet` that a start and the first calls need, for `start-order.txt` of its crate.

mod functions;
mod trace;

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::ensure;
use serde_json::json;

pub(crate) use self::trace::Trace;
use crate::Subject;
use crate::peer::{Host, Servlet};
use crate::stdio::Stdio;

/// As many as `compare` starts.
const SERVLETS: usize = 10;

#[derive(clap::Args)]
pub(crate) struct Order {
    /// `servlet` must have its symbols
    #[command(flatten)]
    subject: Subject,
    /// Where to write the names
    #[arg(long)]
    output: PathBuf,
}

impl Order {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let servlets = Servlet::several(SERVLETS, &self.subject.wasm, folder.path())?;
        let host = Host::Ours(self.subject.servlet.canonicalize()?);
        let command = host.command(&servlets, folder.path())?;
        // In the first session, the servlets are compiled. That is not a part of most starts.
        session(&mut with_program(
            &command,
            Command::new(command.get_program()),
        ))?;
        let mut tracer = Command::new(env::current_exe()?);
        let found = folder.path().join("order.txt");
        tracer.arg("trace").arg("--output").arg(&found);
        tracer.arg("--").arg(command.get_program());
        session(&mut with_program(&command, tracer))?;
        let names = fs::read_to_string(&found)?;
        ensure!(!names.is_empty(), "no function was called");
        fs::write(&self.output, &names)?;
        println!(
            "{} functions in {}",
            names.lines().count(),
            self.output.display()
        );
        Ok(())
    }
}

/// A program with the arguments and variables of a command.
fn with_program(command: &Command, mut program: Command) -> Command {
    program.args(command.get_args());
    let variables = command.get_envs();
    program.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    program
}

fn session(command: &mut Command) -> anyhow::Result<()> {
    let mut server = Stdio::start(command)?;
    server.request("tools/list", &json!({}))?;
    for _ in 0..3 {
        let arguments = json!({ "name": "Ada Lovelace" });
        let call = json!({ "name": "s0_greet", "arguments": arguments });
        server.request("tools/call", &call)?;
    }
    server.finish()
}
