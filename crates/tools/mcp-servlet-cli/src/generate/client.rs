//! `servlet gen client`: generates a typed client from a catalog.

mod needed;

use std::{io::Write as _, path::PathBuf};

use clap::Args;
use xtp_codegen::client::{Client, ClientError};

use super::compare;
use crate::{
    catalog,
    failure::{Failure, Kind},
    terminal::{self, note, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct GenerateClient {
    /// A `.json` file that `servlet catalog --output` has written
    catalog: PathBuf,

    /// The file to write; by default standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The Rust type of the client; by default the name of the server
    #[arg(long)]
    name: Option<String>,

    /// Generate only the items of these names, URIs or URI templates
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,

    /// Write nothing; fail if `--output` is out of date
    #[arg(long, requires = "output")]
    check: bool,
}

impl GenerateClient {
    pub(super) fn run(self) -> Result<(), Failure> {
        let catalog = catalog::read(&self.catalog)?;
        let mut client = Client::new().only(self.only).own_file(true);
        if let Some(name) = self.name {
            client = client.name(name);
        }
        let generated = client.generate(&catalog).map_err(|error| {
            let kind = match error {
                ClientError::Name { .. } | ClientError::NoItem { .. } => Kind::Usage,
                _ => Kind::Build,
            };
            Failure::new(kind, error.to_string())
        })?;
        for warning in &generated.warnings {
            note(format_args!("warning: {}", one_line(&warning.to_string())));
        }
        match &self.output {
            Some(path) if self.check => compare(path, &generated.rust),
            Some(path) => {
                super::write(path, &generated.rust)?;
                for command in needed::commands(path) {
                    note(format_args!("help: the client needs a crate: {command}"));
                }
                Ok(())
            }
            None => Ok(terminal::document().write_all(generated.rust.as_bytes())?),
        }
    }
}
