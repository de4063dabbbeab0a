//! Ends a login at the authorization server (RFC 7009).

use reqwest::header::CONTENT_TYPE;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::failure;
use super::network::Network;
use super::store::{ClientSecret, Login};
use crate::error::Error;
use crate::target::Http;

/// Revokes the tokens of a login. Returns false if the authorization server does not offer that.
pub(super) async fn revoke(login: &Login, target: &Http) -> Result<bool, Error> {
    let Some(endpoint) = &login.revocation_endpoint else {
        return Ok(false);
    };
    let network = Network::new(target).await?;
    let endpoint = network.check("revocation_endpoint", endpoint)?;
    // With the refresh token, the access tokens end as well.
    let (token, hint) = match (login.refresh_token(), login.access_token()) {
        (Some(token), _) => (token, "refresh_token"),
        (None, Some(token)) => (token, "access_token"),
        (None, None) => return Ok(false),
    };
    let client_id = &login.credentials.client_id;
    let mut form = Serializer::new(String::new());
    form.append_pair("token", token.expose());
    form.append_pair("token_type_hint", hint);
    let mut request = network.client().post(endpoint);
    match login.client_secret.as_ref().map(ClientSecret::value) {
        Some(secret) => {
            request = request.basic_auth(encoded(client_id), Some(encoded(secret?.expose())));
        }
        None => {
            form.append_pair("client_id", client_id);
        }
    }
    let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let response = request.body(form.finish()).send().await;
    let status = response.map_err(failure::not_answered)?.status();
    if status.is_success() {
        return Ok(true);
    }
    let message = format!("the authorization server does not end the login (HTTP {status})");
    Err(failure::authentication(message))
}

/// As RFC 6749 wants it in a header (section 2.3.1).
fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}
