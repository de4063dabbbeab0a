//! The tokens of a stored login, which are renewed when they expire.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::transport::auth::{AuthError, StoredCredentials};
use tokio::sync::Mutex;

use super::client::Client;
use super::failure;
use super::login::{get_with_secret, with_secret};
use super::network::Network;
use super::provider::{Provider, unlogged};
use super::store::{ClientSecret, Grant, Login, LoginFile};
use crate::bearer::{Bearer, Secret};
use crate::error::{Error, ErrorKind};
use crate::target::{Http, bare_url};
use crate::task::spawn;

/// Gives the requests of one session their tokens.
pub(super) struct Tokens {
    renewal: Arc<Renewal>,
    /// The login that was last read from the file. The lock lets one task renew it, and the others wait.
    login: Mutex<Option<Login>>,
}

/// What it takes to renew a login.
struct Renewal {
    target: Http,
    file: LoginFile,
}

impl Tokens {
    pub(super) fn new(target: &Http, file: LoginFile) -> Self {
        let target = target.clone();
        Self {
            renewal: Arc::new(Renewal { target, file }),
            login: Mutex::new(None),
        }
    }

    async fn current(&self, refused: Option<&Secret>) -> Result<Option<Secret>, Error> {
        let mut known = self.login.lock().await;
        let usable = |login: &Login| login.usable_token(refused, now());
        if let Some(token) = known.as_ref().and_then(usable) {
            return Ok(Some(token));
        }
        // Another process may have renewed it, or the user has logged in or out since.
        *known = self.renewal.file.load()?;
        let Some(login) = known.as_ref() else {
            return Ok(None);
        };
        if let Some(token) = usable(login) {
            return Ok(Some(token));
        }
        *known = self.renew(refused.cloned()).await?;
        Ok(known.as_ref().and_then(Login::access_token))
    }

    /// Renews the login in a task of its own. A refresh token can often be used only once, so the new tokens must be
    /// stored even if the request that needs them is cancelled.
    async fn renew(&self, refused: Option<Secret>) -> Result<Option<Login>, Error> {
        let renewal = Arc::clone(&self.renewal);
        let task = spawn(async move { renewal.run(refused.as_ref()).await });
        task.await.unwrap_or_else(|error| {
            let message = "the login could not be renewed";
            Err(Error::new(ErrorKind::Connectivity, message).with_source(error))
        })
    }
}

impl Renewal {
    /// Renews the login, unless another task or process has done so while this one waited for the lock.
    async fn run(&self, refused: Option<&Secret>) -> Result<Option<Login>, Error> {
        let _lock = self.file.lock().await?;
        let Some(mut login) = self.file.load()? else {
            return Ok(None);
        };
        if login.usable_token(refused, now()).is_none() {
            let network = Network::new(&self.target).await?;
            self.renew(&mut login, &network).await?;
            self.file.save(&login)?;
            tracing::debug!(server = %self.target.label(), "login renewed");
        }
        Ok(Some(login))
    }

    async fn renew(&self, login: &mut Login, network: &Network) -> Result<(), Error> {
        if login.grant == Grant::AuthorizationCode && login.refresh_token().is_none() {
            return Err(failure::login_needed("the login has expired", &self.target));
        }
        let mut provider = Provider::discover(&self.target, network).await?;
        if login.credentials.issuer.as_ref() != Some(&provider.issuer) {
            let message = "the server has another authorization server than at the login";
            return Err(failure::login_needed(message, &self.target));
        }
        let secret = login
            .client_secret
            .as_ref()
            .map(ClientSecret::value)
            .transpose()?;
        let client_id = login.credentials.client_id.clone();
        login.credentials = match (login.grant, secret) {
            (Grant::AuthorizationCode, secret) => {
                self.refresh(&mut provider, login, secret.as_ref()).await?
            }
            (Grant::ClientCredentials, Some(secret)) => {
                let scopes = login.credentials.granted_scopes.clone();
                get_with_secret(&mut provider, &self.target, &client_id, &secret, scopes).await?
            }
            (Grant::ClientCredentials, None) => {
                return Err(failure::login_needed("the login has expired", &self.target));
            }
        };
        Ok(())
    }

    async fn refresh(
        &self,
        provider: &mut Provider,
        login: &Login,
        secret: Option<&Secret>,
    ) -> Result<StoredCredentials, Error> {
        let credentials = login.credentials.clone();
        // A refresh sends no redirect URI, but the library wants one.
        let redirect_uri = bare_url(self.target.url());
        let configured = provider.configure(&credentials.client_id, secret, &redirect_uri);
        configured.map_err(|error| self.failed(error))?;
        let remembered = provider.remember(credentials).await;
        remembered.map_err(|error| self.failed(error))?;
        let refreshed = unlogged(provider.manager.refresh_token()).await;
        refreshed.map_err(|error| self.failed(error))?;
        let credentials = provider.credentials().await;
        credentials.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: AuthError) -> Error {
        failure::from_rmcp(error, &self.target)
    }
}

impl Bearer for Tokens {
    fn token<'a>(
        &'a self,
        refused: Option<&'a Secret>,
    ) -> BoxFuture<'a, Result<Option<Secret>, Error>> {
        self.current(refused).boxed()
    }
}

/// Gives the requests of one session the tokens of a client that needs no user. They are in memory only.
pub(super) struct ClientTokens {
    target: Http,
    client: Client,
    scopes: Vec<String>,
    /// The last login. The lock lets one task get a new one, and the others wait.
    login: Mutex<Option<Login>>,
}

impl ClientTokens {
    pub(super) fn new(target: &Http, client: Client, scopes: Vec<String>) -> Self {
        Self {
            target: target.clone(),
            client,
            scopes,
            login: Mutex::new(None),
        }
    }

    async fn current(&self, refused: Option<&Secret>) -> Result<Option<Secret>, Error> {
        let mut known = self.login.lock().await;
        let login = known.as_ref();
        if let Some(token) = login.and_then(|login| login.usable_token(refused, now())) {
            return Ok(Some(token));
        }
        let Client { id, secret } = &self.client;
        let login = with_secret(&self.target, id, secret.clone(), self.scopes.clone()).await?;
        let token = login.access_token();
        *known = Some(login);
        Ok(token)
    }
}

impl Bearer for ClientTokens {
    fn token<'a>(
        &'a self,
        refused: Option<&'a Secret>,
    ) -> BoxFuture<'a, Result<Option<Secret>, Error>> {
        self.current(refused).boxed()
    }
}

impl fmt::Debug for ClientTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientTokens").finish_non_exhaustive()
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.unwrap_or_default().as_secs()
}
