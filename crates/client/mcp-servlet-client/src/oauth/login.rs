//! Logs in: in the browser of the user, or with the secret of the client.

use std::time::Duration;

use rmcp::transport::auth::{AuthError, ClientCredentialsConfig, StoredCredentials};
use tokio::time::timeout;
use url::Url;

use super::client::Identity;
use super::failure;
use super::loopback::{LoginAnswer, Loopback};
use super::network::Network;
use super::provider::{Provider, unlogged};
use super::store::{ClientSecret, Grant, Login};
use crate::bearer::Secret;
use crate::error::{Error, ErrorKind};
use crate::target::{Http, bare_url};

/// A login in the browser (authorization code with PKCE).
pub(super) struct InBrowser<'a> {
    pub(super) identity: &'a Identity,
    pub(super) target: &'a Http,
    /// The scopes of the login so far, and those that the caller adds.
    pub(super) scopes: Vec<String>,
    /// How long to wait for the browser.
    pub(super) wait: Duration,
}

impl InBrowser<'_> {
    /// Logs in. `show` gets the URL that the user has to open.
    pub(super) async fn run(&self, show: impl FnOnce(&str)) -> Result<Login, Error> {
        let network = Network::new(self.target).await?;
        let mut provider = Provider::discover(self.target, &network).await?;
        provider.check_pkce()?;
        let loopback = Loopback::bind().await.map_err(not_listening)?;
        let scopes = self.scopes_to_ask(&provider).await;
        let secret = self
            .set_client(&mut provider, &loopback.redirect_uri(), &scopes)
            .await?;
        let url = provider
            .manager
            .get_authorization_url(&borrowed(&scopes))
            .await
            .map_err(|error| self.failed(error))?;
        let state = state_of(&url);
        show(&url);
        let answer = self.wait_for(loopback, &state).await?;
        let code = check_answer(&answer, &provider)?;
        let issuer = answer.get("iss");
        let exchange = provider
            .manager
            .exchange_code_for_token_with_issuer(code, &state, issuer);
        unlogged(exchange)
            .await
            .map_err(|error| self.failed(error))?;
        let credentials = provider
            .credentials()
            .await
            .map_err(|error| self.failed(error))?;
        let grant = Grant::AuthorizationCode;
        Ok(stored(&provider, self.target, grant, secret, credentials))
    }

    /// The scopes that the caller wants, or else those that the server asks for.
    async fn scopes_to_ask(&self, provider: &Provider) -> Vec<String> {
        if self.scopes.is_empty() {
            return provider.manager.select_initial_scopes(&[]).await;
        }
        let mut scopes = self.scopes.clone();
        let offline = "offline_access";
        if provider.has_offline_access() && !scopes.iter().any(|scope| scope == offline) {
            scopes.push(offline.to_owned());
        }
        scopes
    }

    /// Sets the client, in the order of MCP: one that is known there, the URL of its metadata, a new registration. Returns
    /// the secret of the client.
    async fn set_client(
        &self,
        provider: &mut Provider,
        redirect_uri: &str,
        scopes: &[String],
    ) -> Result<Option<ClientSecret>, Error> {
        let known = self.identity.id.as_ref();
        let metadata = self
            .identity
            .metadata
            .as_ref()
            .filter(|_| provider.reads_client_metadata());
        if let Some(id) = known.or(metadata) {
            let secret = self.identity.secret.clone().filter(|_| known.is_some());
            let value = secret.as_ref().map(ClientSecret::value).transpose()?;
            let configured = provider.configure(id, value.as_ref(), redirect_uri);
            configured.map_err(|error| self.failed(error))?;
            return Ok(secret);
        }
        if !provider.registers() {
            return Err(no_registration());
        }
        let scopes = borrowed(scopes);
        let registering =
            provider
                .manager
                .register_client(&self.identity.name, redirect_uri, &scopes);
        // Its response may have a secret.
        let client = unlogged(registering)
            .await
            .map_err(|error| self.failed(error))?;
        Ok(client.client_secret.map(ClientSecret::Issued))
    }

    async fn wait_for(&self, loopback: Loopback, state: &str) -> Result<LoginAnswer, Error> {
        let answer = timeout(self.wait, loopback.answer(state))
            .await
            .map_err(|_| {
                let message = format!("the browser brought no answer within {:?}", self.wait);
                Error::new(ErrorKind::RequestTimeout, message)
                    .with_help("open the URL in a browser on this machine")
            });
        answer?.map_err(not_listening)
    }

    fn failed(&self, error: AuthError) -> Error {
        failure::from_rmcp(error, self.target)
    }
}

/// Logs in with the secret of a client (client credentials).
pub(super) async fn with_secret(
    target: &Http,
    client_id: &str,
    secret: ClientSecret,
    scopes: Vec<String>,
) -> Result<Login, Error> {
    let network = Network::new(target).await?;
    let mut provider = Provider::discover(target, &network).await?;
    let value = secret.value()?;
    let credentials = get_with_secret(&mut provider, target, client_id, &value, scopes).await?;
    let grant = Grant::ClientCredentials;
    Ok(stored(&provider, target, grant, Some(secret), credentials))
}

/// Gets a token for a client from its authorization server.
pub(super) async fn get_with_secret(
    provider: &mut Provider,
    target: &Http,
    client_id: &str,
    secret: &Secret,
    scopes: Vec<String>,
) -> Result<StoredCredentials, Error> {
    let failed = |error| failure::from_rmcp(error, target);
    let config = ClientCredentialsConfig::ClientSecret {
        client_id: client_id.to_owned(),
        client_secret: secret.expose().to_owned(),
        scopes: scopes.clone(),
        resource: Some(bare_url(target.url())),
    };
    let manager = &mut provider.manager;
    manager
        .validate_client_credentials_metadata(&config)
        .map_err(failed)?;
    manager
        .configure_client_credentials(&config)
        .map_err(failed)?;
    let getting = provider.manager.exchange_client_credentials(&config);
    unlogged(getting).await.map_err(failed)?;
    let mut credentials = provider.credentials().await.map_err(failed)?;
    // A response without scopes means those of the request (RFC 6749, section 5.1).
    if credentials.granted_scopes.is_empty() {
        credentials.granted_scopes = scopes;
    }
    Ok(credentials)
}

/// The login for the file.
fn stored(
    provider: &Provider,
    target: &Http,
    grant: Grant,
    client_secret: Option<ClientSecret>,
    credentials: StoredCredentials,
) -> Login {
    Login {
        server: bare_url(target.url()),
        grant,
        client_secret,
        revocation_endpoint: provider.revocation_endpoint().map(str::to_owned),
        credentials,
    }
}

/// The `state` of a login, which rmcp chooses.
fn state_of(url: &str) -> String {
    let url = Url::parse(url).ok();
    let state = url.and_then(|url| {
        let mut parameters = url.query_pairs();
        let state = parameters.find(|(name, _)| name == "state")?;
        Some(state.1.into_owned())
    });
    state.unwrap_or_default()
}

/// Checks that an answer comes from this authorization server, and returns its code. Nothing else of it is used before.
fn check_answer<'a>(answer: &'a LoginAnswer, provider: &Provider) -> Result<&'a str, Error> {
    let expected = || provider.issuer.clone();
    match answer.get("iss") {
        Some(issuer) if issuer != provider.issuer => {
            return Err(failure::other_issuer(&expected(), issuer));
        }
        None if provider.always_sends_issuer() => return Err(failure::no_issuer(&expected())),
        _ => {}
    }
    if let Some(code) = answer.get("error") {
        return Err(failure::refused_login(
            code,
            answer.get("error_description"),
        ));
    }
    Ok(answer.get("code").unwrap_or_default())
}

fn borrowed(scopes: &[String]) -> Vec<&str> {
    scopes.iter().map(String::as_str).collect()
}

fn no_registration() -> Error {
    let message = "the authorization server does not register clients";
    failure::authentication(message)
        .with_help("register a client there, and log in with `--client-id ID`")
}

fn not_listening(error: std::io::Error) -> Error {
    let message = format!("cannot wait for the browser on a port of this machine: {error}");
    Error::new(ErrorKind::Connectivity, message).with_source(error)
}
