//! The keys of an issuer.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
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

/// The exponents of RSA keys that ring accepts.
const RSA_EXPONENTS: std::ops::Range<u64> = 3..(1 << 33);

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
            .filter_map(|key| serde_json::from_value::<Jwk>(plain(key)).ok())
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
        let modulus = number(&rsa.n).ok_or(Reason::KeyKind)?;
        let exponent = number(&rsa.e).filter(|bytes| bytes.len() <= size_of::<u64>());
        let exponent = exponent.ok_or(Reason::KeyKind)?;
        let value = exponent
            .iter()
            .fold(0, |all, byte| (all << 8) | u64::from(*byte));
        let is_odd = |number: &[u8]| number.last().is_some_and(|byte| byte % 2 == 1);
        if !is_odd(&modulus) || !is_odd(&exponent) || !RSA_EXPONENTS.contains(&value) {
            return Err(Reason::KeyKind);
        }
        let bits = modulus.len() * 8 - modulus[0].leading_zeros() as usize;
        if !RSA_BITS.contains(&bits) {
            return Err(Reason::KeySize);
        }
    }
    Ok(())
}

/// A key as RFC 7518 writes it: base64 without padding, and numbers without leading zeros. Some issuers add a zero byte as a sign.
fn plain(mut key: Value) -> Value {
    for name in ["n", "e", "x", "y"] {
        let Some(Value::String(text)) = key.get_mut(name) else {
            continue;
        };
        text.truncate(text.trim_end_matches('=').len());
        if let Some(number) = number(text).filter(|_| ["n", "e"].contains(&name)) {
            *text = BASE64_URL_SAFE_NO_PAD.encode(number);
        }
    }
    key
}

/// The bytes of a number in base64, without leading zeros. None if it is 0.
fn number(text: &str) -> Option<Vec<u8>> {
    let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    let first = bytes.iter().position(|byte| *byte != 0)?;
    Some(bytes.split_off(first))
}

#[cfg(test)]
mod tests {
    use base64::prelude::BASE64_URL_SAFE;
    use serde_json::json;

    use super::*;

    fn rsa(n: &str, e: &str) -> Jwks {
        let key = json!({ "kty": "RSA", "kid": "k", "n": n, "e": e });
        let set = json!({ "keys": [key] }).to_string();
        Jwks::parse(set.as_bytes()).expect("a key")
    }

    #[test]
    fn a_sign_and_padding_make_no_other_key() {
        let bytes = [0xff; 256];
        let signed = [&[0][..], &bytes].concat();
        let plain = rsa(&BASE64_URL_SAFE_NO_PAD.encode(bytes), "AQAB");
        assert!(plain.find(Algorithm::RS256, Some("k")).is_ok());
        for n in [
            BASE64_URL_SAFE_NO_PAD.encode(&signed),
            BASE64_URL_SAFE.encode(bytes),
            BASE64_URL_SAFE.encode(&signed),
        ] {
            assert_eq!(rsa(&n, "AAEAAQ=="), plain, "{n}");
        }
    }

    #[test]
    fn a_key_that_ring_cannot_read_is_of_another_kind() {
        let mut bytes = [0xff; 256];
        let n = BASE64_URL_SAFE_NO_PAD.encode(bytes);
        bytes[255] = 0xfe;
        let even = BASE64_URL_SAFE_NO_PAD.encode(bytes);
        for (n, e) in [
            (&*even, "AQAB"),
            (&n, "AQ"),
            (&n, "BA"),
            (&n, "_____________w"),
            ("", "AQAB"),
            ("!", "AQAB"),
        ] {
            let found = rsa(n, e).find(Algorithm::RS256, Some("k"));
            assert_eq!(found.err(), Some(Reason::KeyKind), "{n} {e}");
        }
    }
}
