//! Reads what issuers publish.

use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::header::CACHE_CONTROL;
use mcp_servlet_call::HttpFailure;
use mcp_servlet_http::{Operator, Request, SendError, Trust, read_more};
use serde_json::Value;
use tokio::time::timeout;
use url::{Url, form_urlencoded};

use crate::{gate::shown, options::IntrospectionOptions};

/// The time limit for one document, and for all requests that lead to the keys of an issuer.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a document may be.
const MAX_DOCUMENT: u64 = 1 << 20;

/// Reads documents of an issuer.
///
/// Hosts that the configuration names may have any address. Those that only a document of the issuer names must be public, so
/// that it cannot make the server ask others in its network.
#[derive(Clone)]
pub(crate) struct Fetch {
    named: Operator,
    others: Operator,
}

/// Why a document could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error(transparent)]
    Send(#[from] SendError),
    #[error(transparent)]
    Body(#[from] HttpFailure),
    #[error("no answer within {FETCH_TIMEOUT:?}")]
    Late,
    #[error("the answer has the status {0}")]
    Status(u16),
    #[error("the answer is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Metadata(&'static str),
    #[error("its metadata names the issuer {0}")]
    Issuer(String),
    #[error("its metadata names {url} for its keys: {error}; `jwks` can name another URL")]
    Keys { url: String, error: Box<FetchError> },
}

/// A document.
pub(crate) struct Document {
    pub(crate) json: Vec<u8>,
    /// How long it may be kept.
    pub(crate) max_age: Option<Duration>,
}

impl Fetch {
    pub(crate) fn new(trust: &Trust) -> Self {
        Self {
            named: Operator::new(trust.clone()),
            others: Operator::to_public(trust.clone()),
        }
    }

    /// The document at a URL of the configuration.
    pub(crate) async fn get(&self, url: &Url) -> Result<Document, FetchError> {
        get(&self.named, Request::get(url.clone()), FETCH_TIMEOUT).await
    }

    /// What an issuer says about a token.
    pub(crate) async fn introspect(
        &self,
        token: &str,
        issuer: &IntrospectionOptions,
    ) -> Result<Vec<u8>, FetchError> {
        let request = question(token, issuer);
        Ok(get(&self.named, request, issuer.timeout).await?.json)
    }

    /// The keys of an issuer, as its metadata says (RFC 8414, or else `OpenID`).
    pub(crate) async fn keys_of(&self, issuer: &str) -> Result<Document, FetchError> {
        let found = timeout(FETCH_TIMEOUT, self.find_keys(issuer)).await;
        found.map_err(|_| FetchError::Late)?
    }

    async fn find_keys(&self, issuer: &str) -> Result<Document, FetchError> {
        let base = Url::parse(issuer).map_err(|_| FetchError::Metadata("the issuer is no URL"))?;
        let path = base.path().trim_end_matches('/');
        let mut oauth = base.clone();
        oauth.set_path(&format!("/.well-known/oauth-authorization-server{path}"));
        let mut openid = base.clone();
        openid.set_path(&format!("{path}/.well-known/openid-configuration"));
        let url = match self.url_of_keys(&oauth, issuer).await {
            Ok(url) => url,
            Err(error) => match (self.url_of_keys(&openid, issuer).await, error) {
                (Ok(url), _) => url,
                (Err(error), FetchError::Status(_)) | (Err(_), error) => return Err(error),
            },
        };
        let operator = if url.origin() == base.origin() {
            &self.named
        } else {
            &self.others
        };
        let named = shown(&Value::from(url.as_str()));
        let got = get(operator, Request::get(url), FETCH_TIMEOUT).await;
        got.map_err(|error| FetchError::Keys {
            url: named,
            error: Box::new(error),
        })
    }

    /// The URL of the keys in the metadata of an issuer.
    async fn url_of_keys(&self, metadata: &Url, issuer: &str) -> Result<Url, FetchError> {
        let metadata = self.get(metadata).await?;
        let metadata: Value = serde_json::from_slice(&metadata.json)?;
        if metadata["issuer"] != issuer {
            return Err(FetchError::Issuer(shown(&metadata["issuer"])));
        }
        metadata["jwks_uri"]
            .as_str()
            .and_then(|url| Url::parse(url).ok())
            .ok_or(FetchError::Metadata("its metadata has no URL of keys"))
    }
}

/// The request that asks an issuer about a token.
fn question(token: &str, issuer: &IntrospectionOptions) -> Request {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("token", token);
    form.append_pair("token_type_hint", "access_token");
    // RFC 6749, section 2.3.1
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let parts: [String; 2] = [encoded(&issuer.client), encoded(&issuer.secret.0)];
    let basic = BASE64_STANDARD.encode(parts.join(":"));
    Request::new("POST", issuer.url.clone())
        .header("authorization", format!("Basic {basic}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .with_body(form.finish())
}

async fn get(
    operator: &Operator,
    request: Request,
    time: Duration,
) -> Result<Document, FetchError> {
    let getting = async {
        let url = request.url.clone();
        let response = operator
            .send_once(&request.header("accept", "application/json"))
            .await?;
        let status = response.status();
        if !status.is_success() {
            return Err(FetchError::Status(status.as_u16()));
        }
        let control = response.headers().get(CACHE_CONTROL);
        let max_age = control.and_then(|value| max_age(value.to_str().ok()?));
        let mut json = Vec::new();
        read_more(response, &url, &mut json, MAX_DOCUMENT, time).await?;
        Ok(Document { json, max_age })
    };
    timeout(time, getting).await.map_err(|_| FetchError::Late)?
}

/// The time in a `Cache-Control` header.
fn max_age(control: &str) -> Option<Duration> {
    let mut parts = control.split(',').map(str::trim);
    let seconds = parts.find_map(|part| part.strip_prefix("max-age="))?;
    Some(Duration::from_secs(seconds.parse().ok()?))
}
