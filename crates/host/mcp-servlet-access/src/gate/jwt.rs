//! Signed tokens.

use std::{sync::Arc, time::Duration};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use jsonwebtoken::{
    Algorithm, Validation, dangerous::insecure_decode_claims, decode, errors::ErrorKind,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::{
    Known, Reason,
    claims::Claims,
    reason::{Fault, shown},
};
use crate::{
    caller::{Caller, CallerKind},
    keys::Keys,
    options::{AuthOptions, JwtOptions},
};

/// What the head of a token says. Keys in it, and URLs of keys, do not count: they are the sender's.
#[derive(Deserialize)]
struct JwtHead {
    alg: String,
    typ: Option<String>,
    kid: Option<String>,
    crit: Option<IgnoredAny>,
}

impl JwtHead {
    /// The head of a token with three parts.
    fn of(token: &str) -> Result<Self, Reason> {
        let mut parts = token.split('.');
        let parts = (parts.next(), parts.next(), parts.next(), parts.next());
        let (Some(head), Some(_), Some(_), None) = parts else {
            return Err(Reason::NotJwt);
        };
        let json = BASE64_URL_SAFE_NO_PAD.decode(head).ok();
        let head = json.and_then(|json| serde_json::from_slice(&json).ok());
        head.ok_or(Reason::Head)
    }

    /// Whether the issuer may write such tokens.
    fn check(&self, issuer: &JwtOptions) -> Result<Algorithm, Fault> {
        let parsed = self.alg.parse::<Algorithm>().ok();
        let accepted = parsed.filter(|one| issuer.algorithms.contains(one));
        let algorithm = accepted.ok_or_else(|| self.algorithm(&issuer.algorithms))?;
        if self.crit.is_some() {
            return Err(Reason::Crit.into());
        }
        let typ = self.typ.as_deref().map(|typ| {
            let typ = typ.to_ascii_lowercase();
            let short = typ.strip_prefix("application/");
            short.map_or(typ.clone(), str::to_owned)
        });
        let is_accepted = match (&issuer.types, typ) {
            (Some(types), Some(typ)) => types.iter().any(|one| one.eq_ignore_ascii_case(&typ)),
            (Some(_), None) => false,
            (None, Some(typ)) => ["at+jwt", "jwt"].contains(&&*typ),
            (None, None) => true,
        };
        if is_accepted {
            return Ok(algorithm);
        }
        let expected: Vec<&str> = match &issuer.types {
            Some(types) => types.iter().map(String::as_str).collect(),
            None => vec!["at+jwt", "JWT"],
        };
        let found = self.typ.as_deref().map(Value::from);
        Err(Fault::unexpected(
            Reason::Type,
            "typ",
            found.as_ref(),
            expected,
        ))
    }

    /// The token has another algorithm than the accepted ones.
    fn algorithm(&self, accepted: &[Algorithm]) -> Fault {
        let found = Value::from(&*self.alg);
        let accepted = accepted.iter().map(|one| format!("{one:?}"));
        Fault::unexpected(Reason::Algorithm, "alg", Some(&found), accepted)
    }

    /// The key of the token is missing, or cannot be used.
    fn key(&self, reason: Reason) -> Fault {
        let kid = self.kid.as_deref().map(|kid| shown(&Value::from(kid)));
        let kid = kid.map_or("no `kid`".to_owned(), |kid| format!("the `kid` {kid}"));
        let detail = (!reason.is_outage()).then(|| {
            let alg = shown(&Value::from(&*self.alg));
            format!("the token has {kid} and the `alg` {alg}")
        });
        Fault { reason, detail }
    }
}

/// How long an accepted token is known. After that, it needs a key of its issuer again.
const ACCEPTED_TOKEN_LIFE: Duration = Duration::from_mins(1);

/// Whether a token is a JWT, valid or not.
pub(super) fn is_jwt(token: &str) -> bool {
    JwtHead::of(token).is_ok()
}

/// Checks a token. `keys` are those of the issuers, in their order.
pub(super) async fn check_token(
    token: &str,
    options: &AuthOptions,
    keys: &[Keys],
) -> Result<Known, Fault> {
    let head = JwtHead::of(token)?;
    // Not verified yet: it only selects the issuer whose keys verify it.
    let claimed: Claims = insecure_decode_claims(token).map_err(|_| Reason::Claims)?;
    let mut issuers = options.jwt.iter().zip(keys);
    let issuer = issuers.find(|(one, _)| claimed.text("iss") == Some(&one.issuer));
    let Some((issuer, keys)) = issuer else {
        // The algorithm says more about a forged token than its issuer.
        return Err(match head.alg.parse::<Algorithm>() {
            Ok(algorithm) if JwtOptions::ALGORITHMS.contains(&algorithm) => {
                let expected = options.jwt.iter().map(|one| &*one.issuer);
                Fault::unexpected(Reason::Issuer, "iss", claimed.get("iss"), expected)
            }
            _ => head.algorithm(&JwtOptions::ALGORITHMS),
        });
    };
    let algorithm = head.check(issuer)?;
    let key = keys.find(algorithm, head.kid.as_deref()).await;
    let key = key.map_err(|reason| head.key(reason))?;
    let mut validation = Validation::new(algorithm);
    // The times are checked for each request, and so is the audience below, each with its own reason.
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation.set_issuer(&[&issuer.issuer]);
    let decoded =
        decode::<Claims>(token, &key, &validation).map_err(|error| match error.kind() {
            ErrorKind::InvalidSignature | ErrorKind::Base64(_) => Reason::Signature,
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidKeyFormat => Reason::KeyKind,
            ErrorKind::InvalidIssuer => Reason::Issuer,
            _ => Reason::Claims,
        })?;
    known(&decoded.claims, issuer, options)
}

fn known(claims: &Claims, issuer: &JwtOptions, options: &AuthOptions) -> Result<Known, Fault> {
    let ends = claims.time("exp")?.ok_or(Reason::NoExp)?;
    let until = ends.checked_add(issuer.leeway).ok_or(Reason::Claims)?;
    let begins = claims.time("nbf")?.max(claims.time("iat")?);
    let from = begins.map(|begins| begins.checked_sub(issuer.leeway).unwrap_or(begins));
    let own = options
        .resource
        .as_deref()
        .filter(|_| issuer.audience.is_empty())
        .into_iter();
    let audience = issuer.audience.iter().map(String::as_str).chain(own);
    if !claims.is_for(audience.clone()) {
        let found = claims.get("aud");
        return Err(Fault::unexpected(Reason::Audience, "aud", found, audience));
    }
    let subject = claims.subject()?;
    let binding = claims.binding()?;
    Ok(Known {
        caller: Arc::new(Caller {
            kind: CallerKind::Jwt,
            auth: options.name.clone(),
            subject,
            issuer: Some(issuer.issuer.clone()),
            client: claims.client(),
            scopes: claims.scopes(),
            roles: claims.roles(),
            claims: claims.named(&options.claims)?,
            certificate: None,
            until: Some(until),
        }),
        from,
        until: Some(until),
        binding,
        kept: ACCEPTED_TOKEN_LIFE,
    })
}
