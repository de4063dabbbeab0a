//! Tokens that only their issuer can read (RFC 7662).

use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::Semaphore;

use super::{Known, Reason, claims::Claims, reason::Fault};
use crate::{
    caller::{Caller, CallerKind},
    fetch::Fetch,
    options::{AuthOptions, IntrospectionOptions},
};

/// How many tokens are asked for at the same time. The others wait.
const MAX_REQUESTS_AT_ONCE: usize = 16;

/// Asks an issuer about tokens.
pub(super) struct Introspection {
    fetch: Fetch,
    room: Semaphore,
}

impl std::fmt::Debug for Introspection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Introspection")
    }
}

/// The part of an answer that every issuer writes.
#[derive(Deserialize)]
struct IntrospectionAnswer {
    active: bool,
}

impl Introspection {
    pub(super) fn new(options: &IntrospectionOptions) -> Self {
        Self {
            fetch: Fetch::new(&options.trust),
            room: Semaphore::new(MAX_REQUESTS_AT_ONCE),
        }
    }

    /// Checks a token.
    pub(super) async fn check(
        &self,
        token: &str,
        issuer: &IntrospectionOptions,
        options: &AuthOptions,
    ) -> Result<Known, Fault> {
        let json = self.ask(token, issuer).await?;
        let answer: IntrospectionAnswer = read(&json, issuer)?;
        if !answer.active {
            return Err(Reason::Inactive.into());
        }
        let claims: Claims = read(&json, issuer)?;
        if claims.text("iss").is_some_and(|iss| iss != issuer.issuer) {
            let expected = [&*issuer.issuer];
            let found = claims.get("iss");
            return Err(Fault::unexpected(Reason::Issuer, "iss", found, expected));
        }
        let until = claims.time("exp")?;
        let from = claims.time("nbf")?;
        let own = options.resource.as_deref();
        if !claims.is_for(own.into_iter()) {
            let found = claims.get("aud");
            return Err(Fault::unexpected(Reason::Audience, "aud", found, own));
        }
        Ok(Known {
            caller: Arc::new(Caller {
                kind: CallerKind::Opaque,
                auth: options.name.clone(),
                subject: claims.subject()?,
                issuer: Some(issuer.issuer.clone()),
                client: claims.client(),
                scopes: claims.scopes(),
                roles: claims.roles(),
                claims: claims.named(&options.claims)?,
                certificate: None,
                until,
            }),
            from,
            until,
            binding: claims.binding()?,
            kept: issuer.cache,
        })
    }

    async fn ask(&self, token: &str, issuer: &IntrospectionOptions) -> Result<Vec<u8>, Reason> {
        let asking = async {
            // It is never closed.
            let _permit = self.room.acquire().await;
            self.fetch.introspect(token, issuer).await
        };
        let asked = tokio::time::timeout(issuer.timeout, asking).await;
        match asked {
            Ok(Ok(json)) => Ok(json),
            Ok(Err(error)) => Err(failed(issuer, &error)),
            Err(late) => Err(failed(issuer, &late)),
        }
    }
}

fn read<'j, T: Deserialize<'j>>(
    json: &'j [u8],
    issuer: &IntrospectionOptions,
) -> Result<T, Reason> {
    serde_json::from_slice(json).map_err(|error| failed(issuer, &error))
}

fn failed(issuer: &IntrospectionOptions, error: &dyn std::error::Error) -> Reason {
    let issuer = &issuer.issuer;
    tracing::warn!(issuer, %error, "an issuer does not say whether a token is valid");
    Reason::Introspection
}
