//! An issuer of tokens.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING as ES256, EcdsaKeyPair, KeyPair as _,
    RSA_PKCS1_SHA256 as RS256, RsaKeyPair,
};
use serde_json::{Value, json};

pub(crate) const ISSUER: &str = "https://login.example";
/// The server for which the tokens are.
pub(crate) const AUDIENCE: &str = "https://mcp.example";

/// An issuer with a key for each algorithm.
pub(crate) struct Issuer {
    ec: EcdsaKeyPair,
    rsa: RsaKeyPair,
    random: SystemRandom,
}

/// How a token is signed.
#[derive(Clone, Copy)]
pub(crate) enum Algorithm {
    Es256,
    Rs256,
}

/// A key of 2,048 bits of the tests. ring cannot make one.
const RSA: &[u8] =
    include_bytes!("../../../crates/host/mcp-servlet-config/tests/endpoints/rsa.pk8");

impl Issuer {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let random = SystemRandom::new();
        let ec = EcdsaKeyPair::generate_pkcs8(&ES256, &random)
            .and_then(|key| Ok(EcdsaKeyPair::from_pkcs8(&ES256, key.as_ref(), &random)?))
            .ok()
            .context("no key of an issuer could be made")?;
        let rsa = RsaKeyPair::from_pkcs8(RSA).ok();
        let rsa = rsa.context("cannot read the RSA key of the tests")?;
        Ok(Self { ec, rsa, random })
    }

    /// Its public keys.
    pub(crate) fn keys(&self) -> Value {
        let (x, y) = self.ec.public_key().as_ref()[1..].split_at(32);
        let [x, y] = [x, y].map(|coordinate| BASE64_URL_SAFE_NO_PAD.encode(coordinate));
        let rsa = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        let [n, e] = [rsa.n, rsa.e].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
        json!({ "keys": [
            { "kty": "EC", "kid": "ec", "crv": "P-256", "x": x, "y": y },
            { "kty": "RSA", "kid": "rsa", "n": n, "e": e },
        ] })
    }

    /// A token with these claims.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.signed(Algorithm::Es256, claims)
    }

    fn signed(&self, algorithm: Algorithm, claims: &Value) -> String {
        let head = match algorithm {
            Algorithm::Es256 => r#"{"alg":"ES256","kid":"ec"}"#,
            Algorithm::Rs256 => r#"{"alg":"RS256","kid":"rsa"}"#,
        };
        let [head, payload] =
            [head.to_owned(), claims.to_string()].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
        let message = format!("{head}.{payload}");
        let signature = match algorithm {
            Algorithm::Es256 => {
                let signed = self.ec.sign(&self.random, message.as_bytes());
                signed.map(|signature| signature.as_ref().to_vec())
            }
            Algorithm::Rs256 => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                let signed =
                    self.rsa
                        .sign(&RS256, &self.random, message.as_bytes(), &mut signature);
                signed.map(|()| signature)
            }
        };
        let signature = signature.expect("the system has random numbers");
        format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }

    /// Tokens of one caller. They differ, and no earlier ones are equal to them.
    pub(crate) fn tokens(&self, algorithm: Algorithm, count: usize) -> Vec<String> {
        let now = now().as_nanos();
        let token = |number| {
            let claims = json!({
                "iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "jti": format!("{now}-{number}"),
                "exp": now / 1_000_000_000 + 3_600,
            });
            self.signed(algorithm, &claims)
        };
        (0..count).map(token).collect()
    }
}

/// The time since 1970.
pub(crate) fn now() -> std::time::Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("it is after 1970")
}
