//! OAuth 2.1: logs in to servers, and gives sessions their tokens.

mod client;
mod failure;
mod folder;
mod login;
mod logout;
mod loopback;
mod network;
mod private;
mod provider;
mod response;
mod store;
mod tokens;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::AUTHORIZATION;

use self::client::{Client, Identity};
use self::store::{ClientSecret, Login, LoginFile};
use self::tokens::{ClientTokens, Tokens};
use crate::bearer::Bearer;
use crate::error::Error;
use crate::target::Http;

/// How long the user has for a login.
const LOGIN_TIMEOUT: Duration = Duration::from_mins(5);

/// Logins to servers, as MCP's authorization describes them.
///
/// A login is stored in a file that only its user can read. A session whose [options](crate::Options::oauth) have an
/// `OAuth` sends the token of the stored login, and renews it when it expires: once, even if several processes use the
/// same login.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = puppet::AuthorizationServer::default().start().await;
/// # let url = server.url();
/// # let folder = tempfile::tempdir()?;
/// # let open_in_browser = |url: &str| puppet::browse(url);
/// use mcp_servlet_client::{Http, OAuth, Options, Session};
///
/// let oauth = OAuth::new();
/// # let oauth = oauth.folder(folder.path());
/// let server = Http::new(&url)?;
/// let login = oauth.login(&server, |url| open_in_browser(url)).await?;
/// println!("logged in at {}", login.issuer());
///
/// let options = Options::new().oauth(oauth);
/// let session = Session::connect_with(&server.into(), &options).await?;
/// # assert_eq!(session.lists().await?.tools.map(|tools| tools.len()), Some(1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OAuth {
    identity: Identity,
    /// The client whose tokens are used, instead of a stored login.
    client: Option<Client>,
    scopes: Vec<String>,
    folder: Option<PathBuf>,
    wait: Duration,
}

/// A login that has succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedIn {
    issuer: String,
    client_id: String,
    scopes: Vec<String>,
}

/// The result of a logout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoggedOut {
    /// There was no login.
    NotLoggedIn,
    /// The login is removed from this machine, and the authorization server has revoked its tokens.
    Revoked,
    /// The login is removed from this machine. Its tokens stay valid until they expire, because the authorization server offers no
    /// revocation, or could not be reached.
    Removed,
}

impl Default for OAuth {
    fn default() -> Self {
        Self {
            identity: Identity {
                name: env!("CARGO_PKG_NAME").to_owned(),
                id: None,
                secret: None,
                metadata: None,
            },
            client: None,
            scopes: Vec::new(),
            folder: None,
            wait: LOGIN_TIMEOUT,
        }
    }
}

impl OAuth {
    /// A client that each authorization server registers anew, with logins in the state directory of the user.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name that the user sees when the client is registered.
    #[must_use]
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.identity.name = name.into();
        self
    }

    /// Sets the id of a client that the authorization server knows. It registers no new one then. Each client has a login
    /// of its own; without an id, a session uses the only login to its server, and fails if there are several.
    #[must_use]
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.identity.id = Some(id.into());
        self
    }

    /// Sets the environment variable that has the secret of the client. The login stores its name, and never its value.
    #[must_use]
    pub fn client_secret_env(mut self, name: impl Into<String>) -> Self {
        self.identity.secret = Some(ClientSecret::Variable(name.into()));
        self
    }

    /// Uses the tokens of a client that the authorization server knows, instead of a stored login. Each session gets them with
    /// the id and the secret, by the grant `client_credentials` of OAuth, and keeps them in memory.
    #[must_use]
    pub fn client_credentials(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.client = Some(Client {
            id: id.into(),
            secret: ClientSecret::Issued(secret.into()),
        });
        self
    }

    /// Sets the `https` URL of the client's metadata document. Authorization servers that read such documents take it as the
    /// id of the client.
    #[must_use]
    pub fn client_metadata(mut self, url: impl Into<String>) -> Self {
        self.identity.metadata = Some(url.into());
        self
    }

    /// Adds a scope to ask for, to those that an earlier login has. Without any, the server says which ones it needs.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Sets the folder of the logins. It is created for its user alone.
    ///
    /// The default is `mcp-servlet/logins` in `$XDG_STATE_HOME` or `~/.local/state`, on macOS in
    /// `~/Library/Application Support`, and on Windows in `%LOCALAPPDATA%`.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets how long to wait for the browser: 5 minutes.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Logs in with a browser on this machine. `show` gets the URL that the user has to open.
    ///
    /// # Errors
    /// If the server publishes no OAuth metadata, if its authorization server does not register this client, or if the user
    /// refuses or takes longer than the [wait](Self::wait).
    pub async fn login(&self, server: &Http, show: impl FnOnce(&str)) -> Result<LoggedIn, Error> {
        let login = async {
            let file = self.new_file(server)?;
            let granted = file.load()?.map(|login| login.credentials.granted_scopes);
            let in_browser = login::InBrowser {
                identity: &self.identity,
                target: server,
                scopes: self.with_scopes(granted.unwrap_or_default()),
                wait: self.wait,
            };
            store(&file, in_browser.run(show).await?).await
        };
        login.await.map_err(|error| error.at(&server.label()))
    }

    /// Logs in without a browser, with the [id](Self::client_id) and the [secret](Self::client_secret_env) of the client. This is
    /// the grant `client_credentials` of OAuth, for programs.
    ///
    /// # Errors
    /// If one of them is missing, or if the authorization server refuses them.
    pub async fn login_with_secret(&self, server: &Http) -> Result<LoggedIn, Error> {
        let login = async {
            let (Some(id), Some(secret)) = (&self.identity.id, &self.identity.secret) else {
                let message = "a login without a browser needs the id and the secret of a client";
                return Err(failure::authentication(message));
            };
            let file = self.new_file(server)?;
            let login = login::with_secret(server, id, secret.clone(), self.scopes.clone());
            store(&file, login.await?).await
        };
        login.await.map_err(|error| error.at(&server.label()))
    }

    /// Removes a login from this machine, and revokes its tokens if the authorization server offers that.
    ///
    /// # Errors
    /// If the login cannot be read or removed.
    pub async fn logout(&self, server: &Http) -> Result<LoggedOut, Error> {
        let logout = async {
            let file = self.file(server)?;
            if file.load()?.is_none() {
                return Ok(LoggedOut::NotLoggedIn);
            }
            let lock = file.lock().await?;
            let login = file.load()?;
            file.remove()?;
            lock.remove();
            let Some(login) = login else {
                return Ok(LoggedOut::NotLoggedIn);
            };
            match logout::revoke(&login, server).await {
                Ok(true) => Ok(LoggedOut::Revoked),
                Ok(false) => Ok(LoggedOut::Removed),
                Err(error) => {
                    tracing::warn!(%error, "tokens not revoked");
                    Ok(LoggedOut::Removed)
                }
            }
        };
        logout
            .await
            .map_err(|error: Error| error.at(&server.label()))
    }

    /// What gives the requests of a session their tokens. None if they have other credentials.
    pub(crate) fn bearer(&self, server: &Http) -> Result<Option<Arc<dyn Bearer>>, Error> {
        if server.headers().contains_key(AUTHORIZATION) {
            return Ok(None);
        }
        if let Some(client) = &self.client {
            let tokens = ClientTokens::new(server, client.clone(), self.scopes.clone());
            return Ok(Some(Arc::new(tokens)));
        }
        // Without a folder for logins, there is no login to use.
        let Ok(folder) = self.logins() else {
            return Ok(None);
        };
        let file = LoginFile::find(&folder, server.url(), self.identity.id.as_deref())?;
        Ok(Some(Arc::new(Tokens::new(server, file))))
    }

    /// The file for a new login.
    fn new_file(&self, server: &Http) -> Result<LoginFile, Error> {
        let client_id = self.identity.id.as_deref();
        Ok(LoginFile::new(&self.logins()?, server.url(), client_id))
    }

    /// The file of a login.
    fn file(&self, server: &Http) -> Result<LoginFile, Error> {
        LoginFile::find(&self.logins()?, server.url(), self.identity.id.as_deref())
    }

    fn logins(&self) -> Result<PathBuf, Error> {
        self.folder.clone().map_or_else(folder::logins, Ok)
    }

    /// The scopes to ask for, next to others. None if the server should say which ones it needs.
    fn with_scopes(&self, mut scopes: Vec<String>) -> Vec<String> {
        if self.scopes.is_empty() {
            return Vec::new();
        }
        for scope in &self.scopes {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
        scopes
    }
}

impl LoggedIn {
    /// The URL that names the authorization server.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The id of the client at the authorization server.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// The scopes that the token has, as far as the authorization server says.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }
}

/// Stores a new login. A session that renews the old one at this moment must not overwrite it.
async fn store(file: &LoginFile, login: Login) -> Result<LoggedIn, Error> {
    let _lock = file.lock().await?;
    file.save(&login)?;
    let credentials = login.credentials;
    Ok(LoggedIn {
        issuer: credentials.issuer.unwrap_or_default(),
        client_id: credentials.client_id,
        scopes: credentials.granted_scopes,
    })
}

/// Without the secret.
impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("client_id", &self.identity.id)
            .field("scopes", &self.scopes)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}
