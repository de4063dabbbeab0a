//! An issuer of tokens.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING as ES256, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

pub(crate) const ISSUER: &str = "https://login.example";
/// The server for which the tokens are.
pub(crate) const AUDIENCE: &str = "https://mcp.example";

/// An issuer with one key.
pub(crate) struct Issuer {
    key: EcdsaKeyPair,
    random: SystemRandom,
}

impl Issuer {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ES256, &random)
            .and_then(|key| Ok(EcdsaKeyPair::from_pkcs8(&ES256, key.as_ref(), &random)?))
            .ok()
            .context("no key of an issuer could be made")?;
        Ok(Self { key, random })
    }

    /// Its public key.
    pub(crate) fn keys(&self) -> Value {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        let [x, y] = [x, y].map(|coordinate| BASE64_URL_SAFE_NO_PAD.encode(coordinate));
        json!({ "keys": [{ "kty": "EC", "kid": "a", "crv": "P-256", "x": x, "y": y }] })
    }

    /// A token with these claims.
    pub(crate) fn token(&self, claims: &Value) -> String {
        let [head, payload] = [
            r#"{"alg":"ES256","kid":"a"}"#.to_owned(),
            claims.to_string(),
        ]
        .map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
        let signed = format!("{head}.{payload}");
        let signature = self
            .key
            .sign(&self.random, signed.as_bytes())
            .expect("the system has random numbers");
        format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }

    /// Tokens of one caller. They differ, and no earlier ones are equal to them.
    pub(crate) fn tokens(&self, count: usize) -> Vec<String> {
        let now = now().as_nanos();
        let token = |number| {
            self.token(&json!({
                "iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "jti": format!("{now}-{number}"),
                "exp": now / 1_000_000_000 + 3_600,
            }))
        };
        (0..count).map(token).collect()
    }
}

/// The time since 1970.
pub(crate) fn now() -> std::time::Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("it is after 1970")
}
