//! `servlet login`: logs in to a server that requires it.

use std::{env, fs, io::Write as _};

use clap::Args;
use mcp_client_config::{Connection, Places, Platform, Variables, discover};
use mcp_servlet_client::{Http, LoggedIn, OAuth, Target};

use crate::{
    failure::{Failure, Kind},
    logins::oauth,
    session::Target as Word,
    terminal::{self, note, one_line},
};

/// Log in to a server that requires it
///
/// Prints a URL for the browser, and opens it if standard error is a terminal. The login is stored in a file that only you
/// can read. Its token is renewed before it expires.
#[derive(Args, Debug)]
pub(crate) struct Login {
    /// A URL, or the name of a server in the configuration of an MCP client
    target: String,

    /// Print the URL for the browser, but do not open the browser
    #[arg(long)]
    no_browser: bool,

    /// The ID of a client that the authorization server knows, instead of a new registration
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// The environment variable with the secret of that client
    #[arg(long, value_name = "NAME", requires = "client_id")]
    client_secret_env: Option<String>,

    /// Log in with the ID and the secret of the client, without a browser
    #[arg(long, requires = "client_secret_env", conflicts_with = "no_browser")]
    client_credentials: bool,

    /// A scope to ask for, in addition to those of an earlier login; several are separated by spaces
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
}

impl Login {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let server = server(&self.target)?;
        let oauth = self.oauth();
        let login = block_on(async {
            if self.client_credentials {
                return Ok(oauth.login_with_secret(&server).await?);
            }
            Ok(oauth.login(&server, |url| self.show(url)).await?)
        })?;
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

/// The URL of a server, without user, password and query.
pub(crate) fn label(server: &Http) -> String {
    Target::from(server.clone()).to_string()
}

/// The server that a URL or a name means.
pub(crate) fn server(target: &str) -> Result<Http, Failure> {
    let usage = |error: &dyn std::error::Error| Failure::new(Kind::Usage, error.to_string());
    let name = match Word::parse(target)? {
        Word::Url(url) => return Http::new(&url).map_err(|error| usage(&error)),
        Word::Name(name) => name,
        _ => return Err(no_url(target)),
    };
    let home = env::home_dir().unwrap_or_default();
    let folder = env::current_dir()?;
    let environment = |name: &str| env::var(name).ok();
    let places = Places::new(Platform::HERE, home, folder, &environment);
    let found = discover(&places, |path| fs::read_to_string(path));
    let server = found.find(&name).ok_or_else(|| unknown(&name))?;
    let variables = Variables::new(&places, &environment);
    let connection = server.connection.resolve(&variables);
    match connection.map_err(|error| usage(&error))? {
        Connection::Command { .. } => Err(no_url(target)),
        Connection::Http { url, headers, .. } => {
            let http = Http::new(&url).map_err(|error| usage(&error))?;
            let mut headers = headers.iter();
            let http = headers.try_fold(http, |http, (name, value)| {
                http.literal_header(name, value.expose())
            });
            http.map_err(|error| usage(&error))
        }
    }
}

fn unknown(name: &str) -> Failure {
    let message = format!("no configuration of an MCP client has a server `{name}`");
    let help = "write the URL of the server, such as `https://mcp.example.com/mcp`";
    Failure::with_help(Kind::Usage, message, help)
}

fn no_url(name: &str) -> Failure {
    let message = format!("`{name}` is not at a URL; only such servers have logins");
    Failure::new(Kind::Usage, message)
}

/// Runs a future on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(future)
}
