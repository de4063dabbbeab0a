//! `servlet stamp`: writes what a servlet describes into its module.

use std::{io::Write as _, path::PathBuf};

use clap::Args;
use mcp_servlet_call::JsonObject;
use mcp_servlet_host::{LoadError, Servlet};
use mcp_servlet_runtime::{Contract, Fetched, LoadError as ModuleError, LoadOptions, Source};

use crate::{
    failure::{Failure, cannot_write},
    replace::replace,
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Stamp {
    /// The `.wasm` files to add contracts to; they are overwritten
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

impl Stamp {
    pub(crate) fn run(self) -> Result<(), Failure> {
        for path in self.files {
            let old = Source::File(path.clone()).module()?;
            let package = old.contract().map(|contract| contract.package.clone());
            let Fetched { name, wasm, .. } = Source::File(path.clone()).fetch()?;
            let wasm = stamped(name, &wasm, package.unwrap_or_default())?;
            let (before, after) = (old.size, wasm.len());
            replace(&path, &wasm).map_err(|error| cannot_write(&path, &error))?;
            let path = path.display();
            writeln!(terminal::out(), "{path}: stamped, {before} → {after} bytes")?;
        }
        Ok(())
    }
}

/// A module with what its servlet describes. This loads and runs the servlet, with default options.
pub(crate) fn stamped(
    name: String,
    wasm: &[u8],
    package: JsonObject,
) -> Result<Vec<u8>, LoadError> {
    let wasm = Contract::strip(wasm).map_err(|source| ModuleError::Unreadable {
        servlet: name.clone(),
        source,
    })?;
    let source = Source::Bytes {
        name,
        wasm: wasm.clone(),
    };
    let mut contract = Servlet::load(source, &LoadOptions::default())?.to_contract()?;
    contract.package = package;
    Ok(contract.stamp(&wasm))
}
