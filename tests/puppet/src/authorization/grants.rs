//! What an authorization server has given to whom.

use std::collections::HashMap;

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::form_urlencoded;

use super::{ROBOT, ROBOT_SECRET, SECRET};

/// The error code of a refusal.
pub(super) struct Refused(pub(super) &'static str);

/// Parameters of a request.
pub(super) struct Form(HashMap<String, String>);

/// A code that was not exchanged yet.
struct Code {
    client: String,
    redirect_uri: String,
    challenge: String,
    scope: String,
}

/// Everything that is valid.
#[derive(Default)]
pub(super) struct Grants {
    /// What has happened.
    pub(super) log: Vec<String>,
    /// The scopes of access tokens.
    pub(super) access: HashMap<String, String>,
    /// The clients and scopes of refresh tokens.
    pub(super) refresh: HashMap<String, (String, String)>,
    /// The redirect URIs of registered clients.
    clients: HashMap<String, String>,
    codes: HashMap<String, Code>,
    /// The PKCE verifiers that clients have sent.
    pub(super) verifiers: Vec<String>,
    /// How many access tokens were given.
    pub(super) issued: usize,
    made: usize,
}

impl std::fmt::Debug for Grants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grants")
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

impl Form {
    pub(super) fn new(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The form, with the client that the header `Authorization` names.
    pub(super) fn with_client(text: &str, headers: &HeaderMap) -> Self {
        let mut form = Self::new(text);
        let basic = headers.get(header::AUTHORIZATION);
        let basic = basic.and_then(|value| value.to_str().ok()?.strip_prefix("Basic "));
        let basic = basic.and_then(|basic| STANDARD.decode(basic).ok());
        let basic = basic.and_then(|basic| String::from_utf8(basic).ok());
        if let Some((id, secret)) = basic.as_deref().and_then(|basic| basic.split_once(':')) {
            for (name, value) in [("client_id", id), ("client_secret", secret)] {
                let decoded = form_urlencoded::parse(value.as_bytes()).next();
                let decoded = decoded.map(|(value, _)| value.into_owned());
                form.0.insert(name.to_owned(), decoded.unwrap_or_default());
            }
        }
        form
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

impl Grants {
    pub(super) fn register(&mut self, redirect_uri: &str) -> String {
        self.log.push("register".to_owned());
        let id = format!("client-{}", self.clients.len() + 1);
        self.clients.insert(id.clone(), redirect_uri.to_owned());
        id
    }

    /// A code for a request of a client that is known, or that names itself by a URL.
    pub(super) fn authorize(&mut self, form: &Form, resource: &str) -> Result<String, Refused> {
        let (client, redirect_uri) = (form.get("client_id"), form.get("redirect_uri"));
        let is_known = match self.clients.get(client) {
            Some(registered) => registered == redirect_uri,
            None => client == ROBOT || client.starts_with("https://"),
        };
        if !is_known || !redirect_uri.starts_with("http://127.0.0.1:") {
            return Err(Refused("invalid_client"));
        }
        let is_valid = form.get("response_type") == "code"
            && form.get("code_challenge_method") == "S256"
            && !form.get("state").is_empty();
        if !is_valid || form.get("resource") != resource {
            return Err(Refused("invalid_request"));
        }
        let code = Code {
            client: client.to_owned(),
            redirect_uri: redirect_uri.to_owned(),
            challenge: form.get("code_challenge").to_owned(),
            scope: form.get("scope").to_owned(),
        };
        let text = self.secret("code");
        self.codes.insert(text.clone(), code);
        Ok(text)
    }

    pub(super) fn token(&mut self, form: &Form, resource: &str) -> Result<Value, Refused> {
        let grant = form.get("grant_type");
        self.log.push(grant.to_owned());
        if form.get("resource") != resource {
            return Err(Refused("invalid_target"));
        }
        check_client(form)?;
        match grant {
            "authorization_code" => self.exchange(form),
            "refresh_token" => self.renew(form),
            "client_credentials" if form.get("client_id") == ROBOT => {
                Ok(json!({ "access_token": self.access("read"), "token_type": "Bearer" }))
            }
            _ => Err(Refused("unauthorized_client")),
        }
    }

    fn exchange(&mut self, form: &Form) -> Result<Value, Refused> {
        let code = self.codes.remove(form.get("code"));
        let code = code.ok_or(Refused("invalid_grant"))?;
        let verifier = form.get("code_verifier");
        self.verifiers.push(verifier.to_owned());
        let digest = Sha256::digest(verifier);
        let is_valid = code.challenge == URL_SAFE_NO_PAD.encode(digest)
            && code.redirect_uri == form.get("redirect_uri")
            && code.client == form.get("client_id");
        if !is_valid {
            return Err(Refused("invalid_grant"));
        }
        Ok(self.tokens(&code.client, &code.scope))
    }

    /// A refresh token works once.
    fn renew(&mut self, form: &Form) -> Result<Value, Refused> {
        let login = self.refresh.remove(form.get("refresh_token"));
        let (client, scope) = login.ok_or(Refused("invalid_grant"))?;
        if client != form.get("client_id") {
            return Err(Refused("invalid_grant"));
        }
        Ok(self.tokens(&client, &scope))
    }

    pub(super) fn revoke(&mut self, form: &Form) -> Result<(), Refused> {
        self.log.push("revoke".to_owned());
        check_client(form)?;
        let token = form.get("token");
        match self.refresh.remove(token) {
            Some((client, _)) if client == form.get("client_id") => self.access.clear(),
            _ => {
                self.access.remove(token);
            }
        }
        Ok(())
    }

    fn tokens(&mut self, client: &str, scope: &str) -> Value {
        let refresh = self.secret("refresh");
        let login = (client.to_owned(), scope.to_owned());
        self.refresh.insert(refresh.clone(), login);
        json!({
            "access_token": self.access(scope),
            "refresh_token": refresh,
            "id_token": self.secret("id"),
            "token_type": "Bearer",
            "scope": scope,
        })
    }

    fn access(&mut self, scope: &str) -> String {
        self.issued += 1;
        let token = self.secret("access");
        self.access.insert(token.clone(), scope.to_owned());
        token
    }

    fn secret(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{SECRET}{kind}-{}", self.made)
    }
}

/// Checks the secret of a client that has one.
fn check_client(form: &Form) -> Result<(), Refused> {
    let has_secret = form.get("client_id") == ROBOT;
    if has_secret && form.get("client_secret") != ROBOT_SECRET {
        return Err(Refused("invalid_client"));
    }
    Ok(())
}
