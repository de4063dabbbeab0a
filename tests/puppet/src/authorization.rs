//! A server that requires a login, and its authorization server, at the same address.
//!
//! The authorization server checks what a real one does: registered redirect URIs, PKCE, codes and refresh tokens that work
//! once, and the `resource` that tokens are for. It asks no user. All secrets that it makes begin with [`SECRET`].

mod browser;
mod grants;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub use self::browser::{browse, visit};
use self::grants::{Form, Grants, Refused};
use crate::Puppet;
use crate::player::pause;

/// How all secrets of the authorization server begin, and those that a test chooses.
pub const SECRET: &str = "hush-";
/// The id of a client that is registered from the start. Its secret is [`ROBOT_SECRET`].
pub const ROBOT: &str = "robot";
/// The secret of [`ROBOT`].
pub const ROBOT_SECRET: &str = "hush-robot/secret+";

/// The rules of a server that requires a login.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a rule of its own, which a test changes"
)]
pub struct AuthorizationServer {
    /// The script of the server.
    pub script: &'static str,
    /// The URL of another server for which it issues tokens, instead of its own.
    pub protects: Option<String>,
    /// How long the first access token lasts, in seconds.
    pub first_lifetime: u64,
    /// How long later access tokens last, in seconds.
    pub lifetime: u64,
    /// The wait after it has issued a token, before the answer.
    pub token_wait: Duration,
    /// The scope that requests need.
    pub needed_scope: &'static str,
    /// Whether it offers to register clients.
    pub registers: bool,
    /// Whether it refuses every client that wants to be registered.
    pub refuses_clients: bool,
    /// Whether it announces PKCE.
    pub has_pkce: bool,
    /// Whether it reads the metadata documents of clients.
    pub reads_client_metadata: bool,
    /// The `state` of its answers, instead of the one of the request.
    pub state: Option<&'static str>,
    /// The `iss` of its answers, instead of its own.
    pub issuer: Option<&'static str>,
    /// Whether the user refuses.
    pub denies: bool,
    /// The token endpoint in its metadata, instead of its own.
    pub token_endpoint: Option<&'static str>,
    /// Whether it only has `OpenID` discovery.
    pub is_openid: bool,
    /// The path of the resource in the metadata of the server, instead of its own.
    pub resource: Option<&'static str>,
    /// Changes its token responses.
    pub edit_tokens: fn(&mut Value),
    /// Changes its answers to clients that register.
    pub edit_client: fn(&mut Value),
}

/// A server that requires a login, and runs.
#[derive(Clone, Debug)]
pub struct ProtectedServer {
    rules: AuthorizationServer,
    address: SocketAddr,
    grants: Arc<Mutex<Grants>>,
}

impl Default for AuthorizationServer {
    fn default() -> Self {
        Self {
            script: "plain",
            protects: None,
            first_lifetime: 3600,
            lifetime: 3600,
            token_wait: Duration::ZERO,
            needed_scope: "read",
            registers: true,
            refuses_clients: false,
            has_pkce: true,
            reads_client_metadata: false,
            state: None,
            issuer: None,
            denies: false,
            token_endpoint: None,
            is_openid: false,
            resource: None,
            edit_tokens: |_| {},
            edit_client: |_| {},
        }
    }
}

impl AuthorizationServer {
    /// Starts the server on a free port of this machine.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start(self) -> ProtectedServer {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a free port");
        let server = ProtectedServer {
            address: listener.local_addr().expect("a port"),
            grants: Arc::default(),
            rules: self,
        };
        let app = server.app();
        tokio::spawn(async move { axum::serve(listener, app).await });
        server
    }
}

impl ProtectedServer {
    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("{}/mcp", self.issuer())
    }

    /// How often something has happened: `register`, `revoke`, or the name of a grant.
    pub fn count(&self, what: &str) -> usize {
        let grants = self.grants();
        grants.log.iter().filter(|one| *one == what).count()
    }

    /// Makes all access tokens invalid.
    pub fn expire_tokens(&self) {
        self.grants().access.clear();
    }

    /// Makes all refresh tokens invalid.
    pub fn expire_logins(&self) {
        self.grants().refresh.clear();
    }

    /// How many logins are not revoked.
    pub fn logins(&self) -> usize {
        self.grants().refresh.len()
    }

    /// The PKCE verifiers of all logins.
    pub fn verifiers(&self) -> Vec<String> {
        self.grants().verifiers.clone()
    }

    /// The URL of the authorization server.
    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The URL that its tokens are for.
    fn resource(&self) -> String {
        let own = || self.url();
        self.rules.protects.clone().unwrap_or_else(own)
    }

    fn grants(&self) -> MutexGuard<'_, Grants> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn issue(&self, form: &Form) -> Result<Value, Refused> {
        let mut grants = self.grants();
        let lifetime = match grants.issued {
            0 => self.rules.first_lifetime,
            _ => self.rules.lifetime,
        };
        let mut tokens = grants.token(form, &self.resource())?;
        tokens["expires_in"] = lifetime.into();
        (self.rules.edit_tokens)(&mut tokens);
        Ok(tokens)
    }

    fn app(&self) -> Router {
        let document = if self.rules.is_openid {
            "/.well-known/openid-configuration"
        } else {
            "/.well-known/oauth-authorization-server"
        };
        let protected = Puppet::new(self.rules.script).app();
        let protected = protected.layer(middleware::from_fn_with_state(self.clone(), guard));
        Router::new()
            .route("/.well-known/oauth-protected-resource/mcp", get(resource))
            .route(document, get(metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/revoke", post(revoke))
            .route("/introspect", post(introspect))
            .with_state(self.clone())
            .merge(protected)
    }
}

/// Lets requests with a token through.
async fn guard(State(server): State<ProtectedServer>, request: Request, next: Next) -> Response {
    let token = request.headers().get(header::AUTHORIZATION);
    let token = token.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let scope = token.and_then(|token| server.grants().access.get(token).cloned());
    let needed = server.rules.needed_scope;
    let (status, error) = match scope {
        Some(scope) if scope.split(' ').any(|one| one == needed) => return next.run(request).await,
        Some(_) => (StatusCode::FORBIDDEN, r#"error="insufficient_scope", "#),
        None => (StatusCode::UNAUTHORIZED, ""),
    };
    let document = format!(
        "{}/.well-known/oauth-protected-resource/mcp",
        server.issuer()
    );
    let challenge = format!(r#"Bearer {error}resource_metadata="{document}", scope="{needed}""#);
    (status, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
}

async fn resource(State(server): State<ProtectedServer>) -> Response {
    let path = server.rules.resource.unwrap_or("/mcp");
    let resource = format!("{}{path}", server.issuer());
    answer(json!({ "resource": resource, "authorization_servers": [server.issuer()] }))
}

async fn metadata(State(server): State<ProtectedServer>) -> Response {
    let (rules, base) = (&server.rules, server.issuer());
    let mut metadata = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": rules.token_endpoint.map_or(format!("{base}/token"), str::to_owned),
        "revocation_endpoint": format!("{base}/revoke"),
        "response_types_supported": ["code"],
        "scopes_supported": ["read", "write", "offline_access"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": rules.reads_client_metadata,
    });
    if rules.registers {
        metadata["registration_endpoint"] = format!("{base}/register").into();
    }
    if rules.has_pkce {
        metadata["code_challenge_methods_supported"] = json!(["S256"]);
    }
    answer(metadata)
}

async fn register(State(server): State<ProtectedServer>, body: String) -> Response {
    let client: Value = serde_json::from_str(&body).unwrap_or_default();
    let Some(redirect_uri) = client["redirect_uris"][0].as_str() else {
        return refused(&Refused("invalid_redirect_uri"));
    };
    if server.rules.refuses_clients {
        return refused(&Refused("access_denied"));
    }
    let id = server.grants().register(redirect_uri);
    let mut body = json!({ "client_id": id, "redirect_uris": [redirect_uri] });
    (server.rules.edit_client)(&mut body);
    (StatusCode::CREATED, answer(body)).into_response()
}

/// Answers as if the user had agreed at once.
async fn authorize(State(server): State<ProtectedServer>, RawQuery(query): RawQuery) -> Response {
    let form = Form::new(&query.unwrap_or_default());
    let code = server.grants().authorize(&form, &server.resource());
    let code = match code {
        Ok(code) => code,
        Err(error) => return refused(&error),
    };
    let state = server.rules.state.unwrap_or(form.get("state"));
    let base = server.issuer();
    let issuer = server.rules.issuer.unwrap_or(&base);
    let (name, value) = if server.rules.denies {
        ("error", "access_denied")
    } else {
        ("code", &*code)
    };
    let answer = [(name, value), ("state", state), ("iss", issuer)];
    let location = url::Url::parse_with_params(form.get("redirect_uri"), answer);
    let location = location.expect("a registered URL").to_string();
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}

async fn token(
    State(server): State<ProtectedServer>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let form = Form::with_client(&body, &headers);
    let tokens = server.issue(&form);
    pause(server.rules.token_wait).await;
    match tokens {
        Ok(tokens) => answer(tokens),
        Err(error) => refused(&error),
    }
}

async fn revoke(
    State(server): State<ProtectedServer>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let form = Form::with_client(&body, &headers);
    match server.grants().revoke(&form) {
        Ok(()) => StatusCode::OK.into_response(),
        Err(error) => refused(&error),
    }
}

/// Tells [`ROBOT`] what an access token is worth (RFC 7662).
async fn introspect(
    State(server): State<ProtectedServer>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let form = Form::with_client(&body, &headers);
    if form.get("client_id") != ROBOT || form.get("client_secret") != ROBOT_SECRET {
        return refused(&Refused("invalid_client"));
    }
    let scope = server.grants().access.get(form.get("token")).cloned();
    answer(match scope {
        Some(scope) => json!({
            "active": true, "sub": "ada", "iss": server.issuer(), "aud": server.resource(), "scope": scope,
        }),
        None => json!({ "active": false }),
    })
}

fn answer(body: Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, body.to_string()).into_response()
}

fn refused(error: &Refused) -> Response {
    (StatusCode::BAD_REQUEST, answer(json!({ "error": error.0 }))).into_response()
}
