//! The signatures of tokens, checked by ring, which checks those of TLS too.

use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind},
    signature::{self, Verifier},
};
use ring::signature as algorithms;

/// Lets `jsonwebtoken` use ring, unless the program has chosen something else.
pub(crate) fn install() {
    static RING: CryptoProvider = CryptoProvider {
        signer_factory: refuse,
        verifier_factory: verifier,
        key_utils: KeyUtils::new_unimplemented(),
    };
    // It fails if a provider is there already, which does the same.
    let _ = RING.install_default();
}

/// Tokens are only read here.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of `CryptoProvider`"
)]
fn refuse(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of `CryptoProvider`"
)]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(ByRing {
        algorithm: *algorithm,
        key: key.clone(),
    }))
}

struct ByRing {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for ByRing {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for ByRing {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = match self.key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let key = algorithms::RsaPublicKeyComponents { n, e };
                let rsa = rsa(self.algorithm).ok_or_else(signature::Error::new)?;
                key.verify(rsa, message, signature)
            }
            DecodingKeyKind::SecretOrDer(key) => {
                let curve = curve(self.algorithm).ok_or_else(signature::Error::new)?;
                algorithms::UnparsedPublicKey::new(curve, key).verify(message, signature)
            }
        };
        verified.map_err(|_| signature::Error::new())
    }
}

fn rsa(algorithm: Algorithm) -> Option<&'static algorithms::RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &algorithms::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &algorithms::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &algorithms::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &algorithms::RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &algorithms::RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &algorithms::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn curve(algorithm: Algorithm) -> Option<&'static dyn algorithms::VerificationAlgorithm> {
    Some(match algorithm {
        Algorithm::ES256 => &algorithms::ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &algorithms::ECDSA_P384_SHA384_FIXED,
        Algorithm::EdDSA => &algorithms::ED25519,
        _ => return None,
    })
}
