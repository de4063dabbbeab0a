//! The authorization server of a server.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore as _,
    InMemoryCredentialStore, OAuthClientConfig, StoredCredentials, VendorExtraTokenFields,
};
use serde_json::Value;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber as _;

use super::failure;
use super::network::Network;
use crate::bearer::Secret;
use crate::error::{Error, ErrorKind};
use crate::target::{Http, bare_url};
use crate::transport::http::{bearer_challenge, not_sent};

/// A message without effect, which a server refuses if it requires a login.
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// An authorization server, with what it says about itself.
pub(super) struct Provider {
    pub(super) manager: AuthorizationManager,
    pub(super) issuer: String,
    metadata: AuthorizationMetadata,
    /// What the manager reads and writes. Files are written here, under a lock that the manager does not have.
    memory: InMemoryCredentialStore,
}

impl Provider {
    /// Finds the authorization server as the server describes it: protected resource metadata (RFC 9728), then
    /// authorization server metadata (RFC 8414) or `OpenID` discovery.
    ///
    /// The future is a trait object, so that crates that await it do not compile its code again.
    pub(super) fn discover<'a>(
        target: &'a Http,
        network: &'a Network,
    ) -> BoxFuture<'a, Result<Self, Error>> {
        Box::pin(Self::discover_unboxed(target, network))
    }

    async fn discover_unboxed(target: &Http, network: &Network) -> Result<Self, Error> {
        let challenge = challenge(target, network).await?;
        let mut manager = manager(target, network).await?;
        let memory = InMemoryCredentialStore::new();
        manager.set_credential_store(memory.clone());
        let found = manager
            .resolve_metadata_from_challenge(challenge.as_deref())
            .await
            .map_err(|error| failure::from_rmcp(error, target))?;
        let is_published = found.source.is_discovered();
        let published = is_published.then_some(found.metadata);
        let (metadata, issuer) = published
            .and_then(|metadata| Some((metadata.clone(), metadata.issuer?)))
            .ok_or_else(no_authorization_server)?;
        manager.set_metadata(metadata.clone());
        let provider = Self {
            manager,
            issuer,
            metadata,
            memory,
        };
        provider.check_endpoints(network)?;
        Ok(provider)
    }

    fn check_endpoints(&self, network: &Network) -> Result<(), Error> {
        let metadata = &self.metadata;
        let endpoints = [
            (
                "authorization_endpoint",
                Some(&*metadata.authorization_endpoint),
            ),
            ("token_endpoint", Some(&*metadata.token_endpoint)),
            (
                "registration_endpoint",
                metadata.registration_endpoint.as_deref(),
            ),
            ("revocation_endpoint", self.revocation_endpoint()),
        ];
        for (name, url) in endpoints {
            if let Some(url) = url {
                network.check(name, url)?;
            }
        }
        Ok(())
    }

    /// Checks that a stolen code would be useless. MCP requires PKCE to be announced.
    pub(super) fn check_pkce(&self) -> Result<(), Error> {
        let methods = self.metadata.code_challenge_methods_supported.as_deref();
        let has_s256 = methods
            .unwrap_or_default()
            .iter()
            .any(|method| method == "S256");
        has_s256.then_some(()).ok_or_else(failure::no_pkce)
    }

    pub(super) fn revocation_endpoint(&self) -> Option<&str> {
        self.metadata
            .additional_fields
            .get("revocation_endpoint")?
            .as_str()
    }

    pub(super) fn registers(&self) -> bool {
        self.metadata.registration_endpoint.is_some()
    }

    /// Whether the client can be named by the URL of its metadata.
    pub(super) fn reads_client_metadata(&self) -> bool {
        self.is_true("client_id_metadata_document_supported")
    }

    /// Whether every answer has `iss` (RFC 9207).
    pub(super) fn always_sends_issuer(&self) -> bool {
        self.is_true("authorization_response_iss_parameter_supported")
    }

    /// Whether it gives refresh tokens to clients that ask for the scope `offline_access`.
    pub(super) fn has_offline_access(&self) -> bool {
        self.metadata
            .scopes_supported
            .as_deref()
            .unwrap_or_default()
            .iter()
            .any(|scope| scope == "offline_access")
    }

    fn is_true(&self, member: &str) -> bool {
        let value = self.metadata.additional_fields.get(member);
        value.and_then(Value::as_bool).unwrap_or_default()
    }

    /// Sets the client of a stored login.
    pub(super) fn configure(
        &mut self,
        client_id: &str,
        secret: Option<&Secret>,
        redirect_uri: &str,
    ) -> Result<(), AuthError> {
        let mut client = OAuthClientConfig::new(client_id, redirect_uri);
        if let Some(secret) = secret {
            client = client.with_client_secret(secret.expose());
        }
        self.manager.configure_client(client)
    }

    /// Gives the manager the tokens to renew.
    pub(super) async fn remember(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.memory.save(credentials).await
    }

    /// The tokens that the manager got, without members that nothing here uses, such as `id_token`.
    pub(super) async fn credentials(&self) -> Result<StoredCredentials, AuthError> {
        let mut credentials = self
            .memory
            .load()
            .await?
            .ok_or(AuthError::AuthorizationRequired)?;
        if let Some(tokens) = &mut credentials.token_response {
            tokens.set_extra_fields(VendorExtraTokenFields::default());
        }
        Ok(credentials)
    }
}

/// Runs a step without logs, because rmcp logs codes and responses with tokens.
pub(super) async fn unlogged<F: Future>(step: F) -> F::Output {
    step.with_subscriber(Dispatch::none()).await
}

/// rmcp's part. It refuses private addresses in the metadata, unless the server has one itself. Both HTTP clients read at
/// most 1 MiB of a body.
async fn manager(target: &Http, network: &Network) -> Result<AuthorizationManager, Error> {
    let url = bare_url(target.url());
    let manager = if Network::is_private(target) {
        let manager = AuthorizationManager::new_allowing_private_addresses(url).await;
        manager.and_then(|mut manager| {
            manager.with_client(network.client().clone())?;
            Ok(manager)
        })
    } else {
        AuthorizationManager::new_with_oauth_http_client(url, Arc::new(network.clone())).await
    };
    manager.map_err(|error| failure::from_rmcp(error, target))
}

/// What the server asks for: its `WWW-Authenticate`. None if it answers without a login.
async fn challenge(target: &Http, network: &Network) -> Result<Option<String>, Error> {
    let request = network
        .client()
        .post(target.url().clone())
        .headers(target.headers().clone())
        .header(ACCEPT, "application/json, text/event-stream")
        .header(CONTENT_TYPE, "application/json")
        .body(PING);
    let response = request.send().await.map_err(|error| not_sent(&error))?;
    if response.status() != StatusCode::UNAUTHORIZED {
        return Ok(None);
    }
    Ok(bearer_challenge(response.headers()).map(str::to_owned))
}

fn no_authorization_server() -> Error {
    let message = "the server publishes no OAuth metadata";
    Error::new(ErrorKind::Protocol, message).with_help(
        "check the path of the URL, or send a token from the environment if the server takes one",
    )
}
