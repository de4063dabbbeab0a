//! `servlet cache`: what was pulled from registries.

use std::io::Write as _;

use clap::{Args, Subcommand};
use mcp_servlet_oci::Cache;

use crate::{failure::Failure, terminal};

#[derive(Args, Debug)]
pub(crate) struct CacheCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Remove what was pulled from registries
    Clean,
}

impl CacheCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Action::Clean = self.action;
        let cleaned = Cache::of_user().clean()?;
        let (files, bytes) = (cleaned.blobs, cleaned.bytes);
        writeln!(terminal::out(), "removed {files} files with {bytes} bytes")?;
        Ok(())
    }
}
