//! `servlet cache`: what was pulled from registries.

use std::io::Write as _;

use clap::{Args, Subcommand};
use mcp_servlet_oci::Cache;

use crate::{failure::Failure, terminal};

#[derive(Args, Debug)]
pub(crate) struct CacheCommand {
    #[command(subcommand)]
    action: CacheAction,
}

#[derive(Debug, Subcommand)]
enum CacheAction {
    /// Remove what was pulled from registries
    Clean,
}

impl CacheCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let CacheAction::Clean = self.action;
        let cleaned = Cache::of_user().clean()?;
        let (files, bytes) = (cleaned.blobs, cleaned.bytes);
        writeln!(terminal::out(), "removed {files} files with {bytes} bytes")?;
        Ok(())
    }
}
