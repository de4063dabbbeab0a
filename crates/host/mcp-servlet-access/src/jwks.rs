//! The keys of an issuer.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;

use crate::gate::Reason;

/// How many keys an issuer may have.
const MAX_KEYS: usize = 100;

/// The bits that an RSA key has.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// The public keys of an issuer: a JSON Web Key Set.
#[derive(Clone, Debug, PartialEq)]
pub struct Jwks(Vec<Jwk>);

/// Why a text has no keys.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JwksError {
    /// It is not JSON with a list of keys.
    #[error("not a JSON Web Key Set: {0}")]
    Json(#[from] serde_json::Error),
    /// None of its keys can be used.
    #[error("it has no key for signatures")]
    NoKey,
    /// It has too many keys.
    #[error("it has {0} keys, more than {MAX_KEYS}")]
    TooMany(usize),
}

impl Jwks {
    /// Reads a key set. Keys of other kinds are left out, as issuers may have such keys for others.
    ///
    /// # Errors
    /// [`JwksError`].
    pub fn parse(json: &[u8]) -> Result<Self, JwksError> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let Set { keys } = serde_json::from_slice(json)?;
        if keys.len() > MAX_KEYS {
            return Err(JwksError::TooMany(keys.len()));
        }
        let keys: Vec<_> = keys
            .into_iter()
            .filter_map(|key| serde_json::from_value::<Jwk>(key).ok())
            .filter(|key| family(key).is_some())
            .collect();
        if keys.is_empty() {
            return Err(JwksError::NoKey);
        }
        Ok(Self(keys))
    }

    /// The key for a token with this algorithm and `kid`.
    pub(crate) fn find(
        &self,
        algorithm: Algorithm,
        kid: Option<&str>,
    ) -> Result<DecodingKey, Reason> {
        let keys = self.0.iter();
        let key = if let Some(kid) = kid {
            // Several keys can have the same name: one for each algorithm or use.
            let mut named = keys
                .filter(|key| key.common.key_id.as_deref() == Some(kid))
                .map(|key| check_key(key, algorithm).map(|()| key));
            let first = named.next().ok_or(Reason::UnknownKey)?;
            first.or_else(|reason| named.find_map(Result::ok).ok_or(reason))?
        } else {
            let mut fitting = keys.filter(|key| check_key(key, algorithm).is_ok());
            let first = fitting.next().ok_or(Reason::UnknownKey)?;
            if fitting.next().is_some() {
                return Err(Reason::NoKid);
            }
            first
        };
        DecodingKey::from_jwk(key).map_err(|_| Reason::KeyKind)
    }
}

/// The kind of a key, and the only algorithm that it is for, if it is a curve.
fn family(key: &Jwk) -> Option<(AlgorithmFamily, Option<Algorithm>)> {
    match &key.algorithm {
        AlgorithmParameters::RSA(_) => Some((AlgorithmFamily::Rsa, None)),
        AlgorithmParameters::EllipticCurve(curve) => match curve.curve {
            EllipticCurve::P256 => Some((AlgorithmFamily::Ec, Some(Algorithm::ES256))),
            EllipticCurve::P384 => Some((AlgorithmFamily::Ec, Some(Algorithm::ES384))),
            _ => None,
        },
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            Some((AlgorithmFamily::Ed, Some(Algorithm::EdDSA)))
        }
        _ => None,
    }
}

/// Whether a key checks signatures of this algorithm.
fn check_key(key: &Jwk, algorithm: Algorithm) -> Result<(), Reason> {
    let common = &key.common;
    let is_for_signatures = match &common.public_key_use {
        None | Some(PublicKeyUse::Signature) => true,
        Some(_) => false,
    };
    let may_verify = common
        .key_operations
        .as_ref()
        .is_none_or(|all| all.contains(&KeyOperations::Verify));
    if !is_for_signatures || !may_verify {
        return Err(Reason::KeyUse);
    }
    let (family, only) = family(key).ok_or(Reason::KeyKind)?;
    let own = common.key_algorithm;
    let names_other = own.is_some_and(|own| own != algorithm.into());
    if family != algorithm.family() || only.is_some_and(|only| only != algorithm) || names_other {
        return Err(Reason::KeyKind);
    }
    if let AlgorithmParameters::RSA(rsa) = &key.algorithm {
        let bits = bits(&rsa.n).ok_or(Reason::KeyKind)?;
        if !RSA_BITS.contains(&bits) {
            return Err(Reason::KeySize);
        }
    }
    Ok(())
}

/// The bits of a number in base64.
fn bits(number: &str) -> Option<usize> {
    use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(number).ok()?;
    let first = bytes.iter().position(|byte| *byte != 0)?;
    Some((bytes.len() - first) * 8 - bytes[first].leading_zeros() as usize)
}
