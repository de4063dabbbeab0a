//! Authenticates requests and checks scopes.
//!
//! See `docs/decisions/0068-callers.md`.

mod cache;
mod challenge;
mod claims;
mod credentials;
mod introspection;
mod jwt;
mod reason;

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::{HeaderMap, StatusCode, header::AUTHORIZATION};
use serde_json::Value;

use crate::{
    caller::{Caller, CallerKind},
    certificate::Certificate,
    digest::Sha256,
    keys::Keys,
    options::{AuthOptions, CertificateOptions, JwtOptions, KeyOptions},
    ring_provider,
};
use cache::Cache;
use challenge::joined;
pub use challenge::metadata_path;
use credentials::Credentials;
use introspection::Introspection;
use reason::Fault;
pub use reason::Reason;
pub(crate) use reason::shown;

/// How long a key is known, after which it is looked up again.
const ACCEPTED_KEY_LIFE: Duration = Duration::from_mins(1);

/// Authenticates the callers of an endpoint.
#[derive(Debug)]
pub struct Gate {
    options: AuthOptions,
    /// The keys of its issuers, in their order.
    keys: Vec<Keys>,
    /// Asks the issuer about tokens (RFC 7662).
    introspection: Option<Introspection>,
    /// Results of earlier checks.
    cache: Cache,
}

/// The parts of a request that show who sends it.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The query of the URL.
    pub query: Option<&'a str>,
    /// The certificate with which the client connected.
    pub certificate: Option<&'a Arc<Certificate>>,
}

/// Why a request is refused, and the response to its client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Refusal {
    /// The status of the response.
    pub status: StatusCode,
    /// The reason, for the operator. The client learns only what `message` and `challenge` say.
    pub reason: Reason,
    /// More about the reason, for the operator: what was expected and found.
    pub detail: Option<String>,
    /// What the client learns.
    pub message: &'static str,
    /// The scopes that the request needs.
    pub scopes: BTreeSet<String>,
    /// The header `WWW-Authenticate`.
    pub challenge: Option<String>,
    /// After how many seconds another request may have another answer: the header `Retry-After`.
    pub retry_after: Option<u64>,
}

/// A credential that was checked.
#[derive(Debug)]
struct Known {
    caller: Arc<Caller>,
    /// When it starts to be valid and when it expires, with the leeway.
    from: Option<SystemTime>,
    until: Option<SystemTime>,
    /// The certificate that the token is bound to (RFC 8705).
    binding: Option<Sha256>,
    /// How long this result may be cached.
    kept: Duration,
}

impl Known {
    /// The caller, if the credential is valid now and with this certificate.
    fn at(
        &self,
        now: SystemTime,
        certificate: Option<&Arc<Certificate>>,
    ) -> Result<Arc<Caller>, Reason> {
        if self.until.is_some_and(|until| until <= now) {
            return Err(match self.caller.kind {
                CallerKind::Key => Reason::KeyExpired,
                CallerKind::Jwt | CallerKind::Opaque | CallerKind::Certificate => Reason::Expired,
            });
        }
        if self.from.is_some_and(|from| from > now) {
            return Err(Reason::NotYet);
        }
        let shown = certificate.map(|one| one.sha256());
        if self.binding.is_some_and(|needed| shown != Some(needed)) {
            return Err(Reason::Binding);
        }
        Ok(Arc::clone(&self.caller))
    }
}

impl Gate {
    /// A gate that lets these callers in. It takes the keys of its issuers from the gate that it replaces, if that has them.
    pub fn new(options: AuthOptions, previous: Option<&Self>) -> Self {
        ring_provider::install();
        let issuers = options.jwt.iter().map(|issuer| {
            let keys = previous.and_then(|gate| gate.keys_of(issuer));
            keys.unwrap_or_else(|| Keys::new(&issuer.issuer, &issuer.keys))
        });
        let keys = issuers.collect();
        let introspection = options.introspection.as_ref().map(Introspection::new);
        Self {
            options,
            keys,
            introspection,
            cache: Cache::default(),
        }
    }

    fn keys_of(&self, issuer: &JwtOptions) -> Option<Keys> {
        let mut issuers = self.options.jwt.iter().zip(&self.keys);
        let is_same = |one: &JwtOptions| one.issuer == issuer.issuer && one.keys == issuer.keys;
        let (_, keys) = issuers.find(|(one, _)| is_same(one))?;
        Some(keys.clone())
    }

    /// Reads the keys of its issuers, so that the first caller need not wait.
    pub async fn prepare(&self) {
        for keys in &self.keys {
            keys.prepare().await;
        }
    }

    /// The options of this gate.
    pub fn options(&self) -> &AuthOptions {
        &self.options
    }

    /// The caller of a request, who has the scopes of the endpoint.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn admit(&self, head: Head<'_>) -> Result<Arc<Caller>, Refusal> {
        let mut caller = self
            .caller(head)
            .await
            .map_err(|fault| self.refusal(fault))?;
        // A result that is cached for a token has no certificate: each connection has its own.
        if let Some(certificate) = head.certificate {
            Arc::make_mut(&mut caller).certificate = Some(Arc::clone(certificate));
        }
        if self.options.scopes.is_subset(&caller.scopes) {
            return Ok(caller);
        }
        let found = Value::from(joined(&caller.scopes));
        let expected = [joined(&self.options.scopes)];
        let fault = Fault::unexpected(Reason::Scope, "scope", Some(&found), expected);
        Err(self.refusal(fault))
    }

    /// Whether calls of some tools need more scopes.
    pub fn has_tool_scopes(&self) -> bool {
        !self.options.tools.is_empty()
    }

    /// Whether a caller has the scopes for a tool, which has these names of its member and of its own.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn permit(&self, caller: &Caller, (member, tool): (&str, &str)) -> Result<(), Refusal> {
        let tools = self.options.tools.get(member);
        match tools.and_then(|tools| tools.get(tool)) {
            Some(needed) if !needed.is_subset(&caller.scopes) => {
                // What the caller has does not matter: the challenge is the same for everyone.
                let scopes = self.options.scopes.union(needed).cloned().collect();
                Err(self.refusal_for(Reason::Scope, &scopes))
            }
            _ => Ok(()),
        }
    }

    /// Removes the credentials of a request, which go no further.
    pub fn strip(&self, headers: &mut HeaderMap) {
        headers.remove(AUTHORIZATION);
        for key in &self.options.keys {
            headers.remove(&key.header);
        }
    }

    async fn caller(&self, head: Head<'_>) -> Result<Arc<Caller>, Fault> {
        let now = SystemTime::now();
        let shown = head.certificate;
        match Credentials::of(head, &self.options)? {
            Credentials::Certificate(certificate, options) => {
                Ok(self.certificate(certificate, options)?)
            }
            Credentials::Key(key) => Ok(self.key(&key.header, key.value)?.at(now, shown)?),
            Credentials::Token(token) => {
                let digest = Sha256::of(token.as_bytes());
                if let Some(known) = self.cache.get(&digest) {
                    return Ok(known?.at(now, shown)?);
                }
                let known = match self.key(&AUTHORIZATION, token) {
                    Err(_) => self.token(token).await.map(Arc::new),
                    Ok(known) => Ok(Arc::new(known)),
                };
                self.cache.insert(digest, &known);
                Ok(known?.at(now, shown)?)
            }
        }
    }

    async fn token(&self, token: &str) -> Result<Known, Fault> {
        let options = &self.options;
        if let (Some(own), Some(issuer)) = (&self.introspection, &options.introspection)
            && (options.jwt.is_empty() || !jwt::is_jwt(token))
        {
            return own.check(token, issuer, options).await;
        }
        if options.jwt.is_empty() {
            return Err(Reason::Key.into());
        }
        jwt::check_token(token, options, &self.keys).await
    }

    /// A key of the configuration.
    fn key(&self, header: &http::HeaderName, value: &str) -> Result<Known, Reason> {
        let digest = Sha256::of(value.as_bytes());
        let mut found = None;
        // All keys are compared, so that the time tells nothing about them.
        for key in &self.options.keys {
            if key.header == *header && key.sha256.is(&digest) {
                found = Some(key);
            }
        }
        found.map(|key| self.known_key(key)).ok_or(Reason::Key)
    }

    /// The caller whom a certificate names.
    fn certificate(
        &self,
        certificate: &Certificate,
        options: &CertificateOptions,
    ) -> Result<Arc<Caller>, Reason> {
        let subject = certificate
            .name(options.subject)
            .filter(|subject| claims::is_subject(subject));
        Ok(Arc::new(Caller {
            kind: CallerKind::Certificate,
            auth: self.options.name.clone(),
            subject: subject.ok_or(Reason::CertificateName)?,
            issuer: None,
            client: None,
            scopes: options.scopes.clone(),
            roles: BTreeSet::new(),
            claims: serde_json::Map::new(),
            certificate: None,
            until: None,
        }))
    }

    fn known_key(&self, key: &KeyOptions) -> Known {
        Known {
            caller: Arc::new(Caller {
                kind: CallerKind::Key,
                auth: self.options.name.clone(),
                subject: key.name.clone(),
                issuer: None,
                client: None,
                scopes: key.scopes.clone(),
                roles: BTreeSet::new(),
                claims: serde_json::Map::new(),
                certificate: None,
                until: key.until,
            }),
            from: None,
            until: key.until,
            binding: None,
            kept: ACCEPTED_KEY_LIFE,
        }
    }
}
