//! `servlet man`: a manual page for the command and for each of its subcommands. Packages contain them.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};

use crate::{
    cli::Cli,
    failure::{Failure, Kind},
};

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// An existing folder to write the pages to
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(self) -> Result<(), Failure> {
        clap_mangen::generate_to(Cli::command(), &self.folder).map_err(|error| {
            let folder = self.folder.display();
            Failure::new(Kind::Output, format!("cannot write to `{folder}`: {error}"))
        })
    }
}
