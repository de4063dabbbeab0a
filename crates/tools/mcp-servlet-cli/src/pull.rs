//! `servlet pull`: reads a module from an OCI registry.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use mcp_servlet_host::Servlet;
use mcp_servlet_oci::{Client, Digest, Reference, Settings};
use mcp_servlet_runtime::{LoadOptions, Source, block_on};

use crate::{
    can::{imports, in_words},
    config::count,
    failure::{Failure, Kind, cannot_write, chain},
    inspect::{package, write_signers},
    policy,
    sign::named_keys,
    terminal::{self, Visible, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct Pull {
    /// The image, such as `oci://ghcr.io/ada/mine:1.2.0`
    reference: String,

    /// Write the module to this file; one that is there is replaced
    ///
    /// Without it, the file has the name of the repository, and a file that is there is kept.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Verify the image as this configuration asks: with its `[oci."HOST"]` and `signed_by`
    #[arg(long, value_name = "CONFIG")]
    policy: Option<PathBuf>,
}

impl Pull {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let reference = Reference::parse_image(&self.reference)?;
        let source = policy::apply(Source::parse(&self.reference), self.policy.as_deref())?;
        let settings = match &source {
            Source::Image(image) => Settings {
                ca: image.ca.clone(),
                signers: image.signers.clone(),
                ..Settings::default()
            },
            _ => Settings::default(),
        };
        let pulled = block_on(Client::new(settings)?.pull(&reference))?;
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
        let pinned = reference.with_digest(pulled.digest);
        writeln!(out, "  image    {pinned}")?;
        writeln!(out, "  module   {}", Digest::of(&pulled.wasm))?;
        if source.signers().is_empty() {
            // The tag may name another image by now.
            let source = match source {
                Source::Image(mut image) => {
                    image.reference = pinned.to_string();
                    Source::Image(image)
                }
                source => source,
            };
            write_signers(&mut out, named_keys(&source).as_ref())?;
        } else {
            writeln!(out, "  signed   as the policy asks")?;
        }
        write_module(&mut out, reference.name(), pulled.wasm)
    }
}

/// Prints what a module can do, and what it says about itself in its contract, if it has one. The module does not run.
fn write_module<W: io::Write>(
    out: &mut Visible<W>,
    name: &str,
    wasm: Vec<u8>,
) -> Result<(), Failure> {
    let name = name.to_owned();
    let source = Source::Bytes { name, wasm };
    // An image may have a module that is no servlet.
    let Ok(module) = source.module() else {
        return Ok(());
    };
    writeln!(out, "  can      {}", in_words(imports(&module)))?;
    let Some(contract) = module.contract() else {
        return Ok(());
    };
    if !contract.package.is_empty() {
        writeln!(out, "  package  {}", package(contract))?;
    }
    let mut options = LoadOptions::default();
    options.from_contract = true;
    let servlet = match Servlet::load(source, &options) {
        Ok(servlet) => servlet,
        Err(error) => {
            let problem = chain(&error);
            return Ok(writeln!(
                out,
                "  contract unusable: {}",
                one_line(&problem)
            )?);
        }
    };
    if let Some(digest) = servlet.contract_digest() {
        writeln!(out, "  contract {}", Digest::from(digest))?;
    }
    let offers: Vec<_> = [
        (servlet.tools().len(), "tool"),
        (servlet.resources().len(), "resource"),
        (servlet.resource_templates().len(), "template"),
        (servlet.prompts().len(), "prompt"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, one)| count(number, one))
    .collect();
    writeln!(out, "  offers   {}", offers.join(", "))?;
    Ok(())
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
