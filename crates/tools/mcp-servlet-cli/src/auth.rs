//! `servlet auth`: keys for the callers of a server.

use std::io::Write as _;

use clap::{Args, Subcommand};
use mcp_servlet_server::{Sha256, new_key};

use crate::{failure::Failure, terminal};

#[derive(Args, Debug)]
pub(crate) struct AuthCommand {
    #[command(subcommand)]
    action: AuthAction,
}

#[derive(Debug, Subcommand)]
enum AuthAction {
    /// Make a key for a caller, and print it with its SHA-256 digest
    ///
    /// Give the key to the caller. Write the digest into the configuration of the server, as `sha256` of `[[auth.NAME.key]]`. The
    /// key is not stored anywhere.
    Key,
}

impl AuthCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let AuthAction::Key = self.action;
        let key = new_key();
        let digest = Sha256::of(key.as_bytes());
        let mut out = terminal::out();
        writeln!(out, "key     {key}")?;
        writeln!(out, "sha256  {digest}")?;
        Ok(())
    }
}
