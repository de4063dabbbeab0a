//! An issuer of tokens.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use ring::{
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
        RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
    },
};
use serde_json::{Value, json};

pub(crate) const ISSUER: &str = "https://login.example";
/// The URL for which its tokens are made.
pub(crate) const RESOURCE: &str = "https://mcp.example/mcp";

pub(crate) struct Issuer {
    random: SystemRandom,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
    rsa: RsaKeyPair,
}

impl Issuer {
    pub(crate) fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let ec = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let ed = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
        Self {
            ec: EcdsaKeyPair::from_pkcs8(algorithm, ec.as_ref(), &random).expect("a key"),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).expect("a key"),
            // ring cannot make such keys.
            rsa: RsaKeyPair::from_pkcs8(include_bytes!("rsa.pk8")).expect("a key"),
            random,
        }
    }

    /// The public keys: `ec`, `ed` and `rsa`.
    pub(crate) fn keys(&self) -> Vec<Value> {
        let (_, point) = self.ec.public_key().as_ref().split_at(1);
        let (x, y) = point.split_at(32);
        let rsa = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        vec![
            json!({ "kty": "EC", "kid": "ec", "crv": "P-256", "x": base64(x), "y": base64(y) }),
            json!({ "kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": base64(self.ed.public_key().as_ref()) }),
            json!({ "kty": "RSA", "kid": "rsa", "n": base64(&rsa.n), "e": base64(&rsa.e) }),
        ]
    }

    /// A token with this head and payload, signed as the head says.
    pub(crate) fn sign(&self, head: &Value, payload: &str) -> String {
        let message = format!(
            "{}.{}",
            base64(head.to_string().as_bytes()),
            base64(payload.as_bytes())
        );
        let bytes = message.as_bytes();
        let by_rsa = |encoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            let signed = self.rsa.sign(encoding, &self.random, bytes, &mut signature);
            signed.expect("a signature");
            signature
        };
        let signature = match head["alg"].as_str() {
            Some("ES256") => {
                let signed = self.ec.sign(&self.random, bytes);
                signed.expect("a signature").as_ref().to_vec()
            }
            Some("EdDSA") => self.ed.sign(bytes).as_ref().to_vec(),
            Some("PS256") => by_rsa(&RSA_PSS_SHA256),
            _ => by_rsa(&RSA_PKCS1_SHA256),
        };
        format!("{message}.{}", base64(&signature))
    }

    /// A token that is valid, with these claims instead of its own. A claim of null is left out.
    pub(crate) fn token(&self, claims: &Value) -> String {
        let head = json!({ "alg": "ES256", "kid": "ec", "typ": "at+jwt" });
        self.sign(&head, &payload(claims))
    }
}

/// The payload of a valid token for `ann`, with these claims instead of its own. A claim of null is left out.
pub(crate) fn payload(claims: &Value) -> String {
    let mut all = json!({
        "iss": ISSUER,
        "aud": RESOURCE,
        "sub": "ann",
        "exp": now() + 3600,
        "iat": now(),
        "scope": "mcp read",
        "client_id": "ide",
    });
    for (name, value) in claims.as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    let all = all.as_object_mut().expect("an object");
    all.retain(|_, value| !value.is_null());
    json!(all).to_string()
}

pub(crate) fn now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(now.expect("after 1970").as_secs()).expect("before the end of time")
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}
