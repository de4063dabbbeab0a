//! `servlet completions`: a script that completes subcommands and options in a shell.

use std::io::Write as _;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::{cli::Cli, failure::Failure, terminal};

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell that reads the script
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "servlet", &mut script);
        Ok(terminal::document().write_all(&script)?)
    }
}
