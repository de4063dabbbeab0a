//! Keys for signatures: ECDSA with P-256 and SHA-256, in PEM.

use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _,
        UnparsedPublicKey,
    },
};
use rustls_pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer, pem::PemObject as _};
use sha2::{Digest as _, Sha256};

/// What comes before the point in the DER form of each public key for P-256 (RFC 5480).
const P256: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The private half of a key.
pub struct SigningKey(EcdsaKeyPair);

/// The public half of a key.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    der: Vec<u8>,
}

/// A key that cannot be used. The message does not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text has no private key in this form.
    #[error(
        "expected a private key for P-256 in PKCS#8, which begins with `-----BEGIN PRIVATE KEY-----`"
    )]
    NotPrivate,
    /// The text has no public key in this form.
    #[error("expected a public key for P-256, which begins with `-----BEGIN PUBLIC KEY-----`")]
    NotPublic,
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    NoRandom,
}

impl SigningKey {
    /// A new key, and its text in PEM.
    ///
    /// # Errors
    /// [`KeyError::NoRandom`].
    pub fn generate() -> Result<(Self, String), KeyError> {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random)
            .map_err(|_| KeyError::NoRandom)?;
        Ok((
            Self::from_pkcs8(pkcs8.as_ref())?,
            pem("PRIVATE KEY", pkcs8.as_ref()),
        ))
    }

    /// Reads PEM, as OpenSSL and `servlet key new` write it.
    ///
    /// # Errors
    /// [`KeyError::NotPrivate`].
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes())
            .map_err(|_| KeyError::NotPrivate)?;
        Self::from_pkcs8(der.secret_pkcs8_der())
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8, &random);
        pair.map(Self).map_err(|_| KeyError::NotPrivate)
    }

    /// The public half.
    pub fn public(&self) -> VerifyingKey {
        let der = [&P256[..], self.0.public_key().as_ref()].concat();
        VerifyingKey { der }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let signature = self
            .0
            .sign(&SystemRandom::new(), message)
            .map_err(|_| KeyError::NoRandom)?;
        Ok(signature.as_ref().to_vec())
    }
}

impl VerifyingKey {
    /// Reads PEM.
    ///
    /// # Errors
    /// [`KeyError::NotPublic`].
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(text.as_bytes())
            .map_err(|_| KeyError::NotPublic)?
            .to_vec();
        // An uncompressed point: a byte, and two numbers of 32 bytes.
        let is_p256 = der
            .strip_prefix(&P256)
            .is_some_and(|point| point.len() == 65 && point[0] == 4);
        is_p256.then_some(Self { der }).ok_or(KeyError::NotPublic)
    }

    /// The text in PEM.
    pub fn to_pem(&self) -> String {
        pem("PUBLIC KEY", &self.der)
    }

    /// A short name of the key: its SHA-256 in base64, as cosign shows it.
    pub fn fingerprint(&self) -> String {
        BASE64_STANDARD.encode(Sha256::digest(&self.der))
    }

    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.der[P256.len()..]);
        key.verify(message, signature).is_ok()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("SigningKey").field(&self.public()).finish()
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("VerifyingKey")
            .field(&self.fingerprint())
            .finish()
    }
}

/// Text with 64 characters in each line (RFC 7468).
fn pem(label: &str, der: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(der);
    let lines: Vec<_> = text
        .as_bytes()
        .chunks(64)
        .map(String::from_utf8_lossy)
        .collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`, with its public half.
    const PRIVATE: &str = include_str!("key/openssl.key");
    const PUBLIC: &str = include_str!("key/openssl.pub");

    #[test]
    fn keys_of_openssl_are_read() {
        let key = SigningKey::from_pem(PRIVATE).expect("a private key");
        assert_eq!(key.public().to_pem(), PUBLIC);
        assert_eq!(VerifyingKey::from_pem(PUBLIC), Ok(key.public()));
    }

    #[test]
    fn a_new_key_can_be_written_and_read() {
        let (key, text) = SigningKey::generate().expect("random numbers");
        let read = SigningKey::from_pem(&text).expect("a private key");
        assert_eq!(read.public(), key.public());
        let signature = read.sign(b"message").expect("a signature");
        assert!(key.public().has_signed(b"message", &signature));
        assert!(!key.public().has_signed(b"other", &signature));
    }

    #[test]
    fn other_text_is_an_error() {
        assert_eq!(
            SigningKey::from_pem(PUBLIC).err(),
            Some(KeyError::NotPrivate)
        );
        assert_eq!(VerifyingKey::from_pem(PRIVATE), Err(KeyError::NotPublic));
        let cut = PUBLIC.replacen("MFkw", "MFkx", 1);
        for text in ["", "-----BEGIN PUBLIC KEY-----", &cut] {
            assert_eq!(
                VerifyingKey::from_pem(text),
                Err(KeyError::NotPublic),
                "{text}"
            );
        }
    }
}
