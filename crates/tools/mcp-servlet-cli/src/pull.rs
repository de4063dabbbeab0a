//! `servlet pull`: reads a module from an OCI registry.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use mcp_servlet_oci::{Client, Digest, Reference, Settings};

use crate::{
    failure::{Failure, Kind},
    login::block_on,
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Pull {
    /// The image, such as `oci://ghcr.io/ada/mine:1.2.0`
    reference: String,

    /// Write the module to this file
    ///
    /// Without it, the file has the name of the repository, and a file that is there is kept.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Pull {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let reference = Reference::parse_image(&self.reference)?;
        let pulled = block_on(async {
            let client = Client::new(Settings::default())?;
            Ok(client.pull(&reference).await?)
        })?;
        let path = if let Some(path) = self.output {
            fs::write(&path, &pulled.wasm).map_err(|error| cannot_write(&path, &error))?;
            path
        } else {
            let path = PathBuf::from(format!("{}.wasm", reference.name()));
            write_new(&path, &pulled.wasm)?;
            path
        };
        let mut out = terminal::out();
        writeln!(out, "{}: written", path.display())?;
        writeln!(out, "  image   {}", reference.with_digest(pulled.digest))?;
        writeln!(out, "  module  {}", Digest::of(&pulled.wasm))?;
        Ok(())
    }
}

/// Writes a file that is not there yet, or has these bytes already.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = OpenOptions::new().write(true).create_new(true).open(path);
    match written.and_then(|mut file| file.write_all(bytes)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::read(path).is_ok_and(|old| old == bytes) {
                return Ok(());
            }
            let message = format!("`{}` exists, and differs from the image", path.display());
            let help = "name the file to write with `-o FILE`";
            Err(Failure::with_help(Kind::Usage, message, help))
        }
        written => written.map_err(|error| cannot_write(path, &error)),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write `{}`: {error}", path.display());
    Failure::new(Kind::Usage, message)
}
