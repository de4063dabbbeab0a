//! `servlet login`: logs in to a server that requires it.

use std::io::Write as _;

use clap::Args;
use mcp_servlet_client::{Http, LoggedIn, OAuth, Target};
use mcp_servlet_runtime::block_on;

use crate::{
    failure::Failure,
    limits::Secret,
    logins::oauth,
    session::{Access, login_target},
    terminal::{self, note, one_line},
    variable::variable_name,
};

#[derive(Args, Debug)]
pub(crate) struct Login {
    /// A URL, or the name of a server in the configuration of an MCP client
    target: Option<String>,

    /// Print the URL for the browser, but do not open the browser
    #[arg(long)]
    no_browser: bool,

    /// The ID of a client that the authorization server knows, instead of a new registration
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// The environment variable with the secret of that client
    #[arg(long, value_name = "NAME", requires = "client_id", value_parser = Secret(variable_name))]
    client_secret_env: Option<String>,

    /// Log in with the ID and the secret of the client, without a browser
    #[arg(long, requires = "client_secret_env", conflicts_with = "no_browser")]
    client_credentials: bool,

    /// A scope to ask for, in addition to those of an earlier login; several are separated by spaces; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    #[command(flatten)]
    access: Access,
}

impl Login {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let server = login_target(self.target.as_ref(), &self.access)?;
        let oauth = self.oauth();
        let login = if self.client_credentials {
            block_on(oauth.login_with_secret(&server))?
        } else {
            block_on(oauth.login(&server, |url| self.show(url)))?
        };
        Ok(report(&server, &login)?)
    }

    fn oauth(&self) -> OAuth {
        let mut oauth = oauth(self.client_id.as_deref());
        if let Some(name) = &self.client_secret_env {
            oauth = oauth.client_secret_env(name);
        }
        let scopes = self.scope.iter().flat_map(|scope| scope.split_whitespace());
        scopes.fold(oauth, OAuth::scope)
    }

    /// Shows the URL for the browser.
    fn show(&self, url: &str) {
        note(format_args!("open this URL to log in:\n  {url}"));
        if self.no_browser || !terminal::is_watched() {
            return;
        }
        let url = url.to_owned();
        // In the background, because browsers without windows run until the user leaves them.
        std::thread::spawn(move || {
            if let Err(error) = webbrowser::open(&url) {
                note(format_args!("note: cannot open a browser: {error}"));
            }
        });
    }
}

fn report(server: &Http, login: &LoggedIn) -> std::io::Result<()> {
    let server = label(server);
    let scopes = login.scopes().join(" ");
    let scopes = match one_line(&scopes) {
        none if none.is_empty() => String::new(),
        scopes => format!(", with the scopes: {scopes}"),
    };
    writeln!(terminal::out(), "logged in to `{server}`{scopes}")
}

/// The name of a server, or its URL without user, password and query.
pub(crate) fn label(server: &Http) -> String {
    Target::from(server.clone()).to_string()
}
