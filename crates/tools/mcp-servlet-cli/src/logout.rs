//! `servlet logout`: removes a login.

use std::io::Write as _;

use clap::Args;
use mcp_servlet_client::LoggedOut;
use mcp_servlet_runtime::block_on;

use crate::{
    failure::Failure,
    login::label,
    logins::oauth,
    session::{Access, login_target},
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Logout {
    /// A URL, or the name of a server in the configuration of an MCP client
    target: Option<String>,

    /// The `--client-id` that you logged in with, if any
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    #[command(flatten)]
    access: Access,
}

impl Logout {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let server = login_target(self.target.as_ref(), &self.access)?;
        let oauth = oauth(self.client_id.as_deref());
        let ended = block_on(oauth.logout(&server))?;
        let target = label(&server);
        let mut out = terminal::out();
        match ended {
            LoggedOut::Revoked => writeln!(out, "logged out of `{target}`")?,
            LoggedOut::NotLoggedIn => writeln!(out, "there is no login to `{target}`")?,
            _ => writeln!(
                out,
                "the login to `{target}` is removed; its tokens could not be revoked and stay valid until they expire"
            )?,
        }
        Ok(())
    }
}
