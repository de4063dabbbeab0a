//! Signatures as cosign 3 writes them, in a Sigstore bundle. The one of an image is an in-toto statement about its digest, in a
//! DSSE envelope; the one of a file is a signature of its bytes.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256 as Hash};

use crate::{
    digest::Digest,
    key::{KeyError, SigningKey, VerifyingKey},
};

/// The type of bundles.
pub(crate) const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The type of a statement that signs. A statement of another type, such as a list of parts, does not sign.
pub(crate) const SIGNED: &str = "https://sigstore.dev/cosign/sign/v1";

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const PAYLOAD: &str = "application/vnd.in-toto+json";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    media_type: String,
    #[serde(default)]
    verification_material: Material,
    dsse_envelope: Option<Envelope>,
    message_signature: Option<MessageSignature>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Material {
    public_key: Option<KeyHint>,
}

/// The fingerprint of the key.
#[derive(Deserialize)]
struct KeyHint {
    hint: String,
}

/// The signature of a file. The key says whether it is right, so the digest next to it does not matter.
#[derive(Deserialize)]
struct MessageSignature {
    signature: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<Signature>,
}

#[derive(Deserialize)]
struct Signature {
    sig: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Subject>,
    predicate_type: String,
}

#[derive(Deserialize)]
struct Subject {
    digest: Sha256,
}

#[derive(Deserialize)]
struct Sha256 {
    sha256: String,
}

/// A bundle that signs a digest.
pub(crate) fn sign(digest: &Digest, key: &SigningKey) -> Result<Vec<u8>, KeyError> {
    let statement = json!({
        "_type": STATEMENT,
        "subject": [{ "digest": { "sha256": digest.hex() } }],
        "predicateType": SIGNED,
        "predicate": {},
    })
    .to_string();
    let signature = key.sign(&signed_bytes(PAYLOAD, statement.as_bytes()))?;
    let bundle = json!({
        "mediaType": BUNDLE,
        "verificationMaterial": { "publicKey": { "hint": key.public().fingerprint() } },
        "dsseEnvelope": {
            "payload": BASE64_STANDARD.encode(statement),
            "payloadType": PAYLOAD,
            "signatures": [{ "sig": BASE64_STANDARD.encode(signature) }],
        },
    });
    Ok(bundle.to_string().into_bytes())
}

/// The first of the keys with which a bundle signs a digest.
pub(crate) fn signer(bundle: &[u8], digest: &Digest, keys: &[VerifyingKey]) -> Option<usize> {
    let bundle: Bundle = serde_json::from_slice(bundle).ok()?;
    let Envelope {
        payload,
        payload_type,
        signatures,
    } = bundle.dsse_envelope?;
    if bundle.media_type != BUNDLE || payload_type != PAYLOAD {
        return None;
    }
    let payload = BASE64_STANDARD.decode(payload).ok()?;
    let message = signed_bytes(PAYLOAD, &payload);
    let signatures: Vec<_> = signatures
        .iter()
        .filter_map(|signature| BASE64_STANDARD.decode(&signature.sig).ok())
        .collect();
    let has_signed = |key: &VerifyingKey| {
        signatures
            .iter()
            .any(|signature| key.has_signed(&message, signature))
    };
    let signer = keys.iter().position(has_signed)?;
    // Only now does anybody vouch for what it says.
    let statement: Statement = serde_json::from_slice(&payload).ok()?;
    let is_of_digest = statement
        .subject
        .iter()
        .any(|subject| subject.digest.sha256 == digest.hex());
    (statement.kind == STATEMENT && statement.predicate_type == SIGNED && is_of_digest)
        .then_some(signer)
}

/// The fingerprint of the key that a bundle names, if it is a signature. The signature itself is not checked.
pub fn named_key(bundle: &[u8]) -> Option<String> {
    let bundle: Bundle = serde_json::from_slice(bundle).ok()?;
    if let Some(envelope) = bundle.dsse_envelope {
        let statement = BASE64_STANDARD.decode(envelope.payload).ok()?;
        let statement: Statement = serde_json::from_slice(&statement).ok()?;
        if statement.predicate_type != SIGNED {
            return None;
        }
    }
    Some(bundle.verification_material.public_key?.hint)
}

/// A bundle that signs the bytes of a file, as `cosign sign-blob` writes it.
///
/// # Errors
/// [`KeyError::NoRandom`].
pub fn sign_file(bytes: &[u8], key: &SigningKey) -> Result<Vec<u8>, KeyError> {
    let bundle = json!({
        "mediaType": BUNDLE,
        "verificationMaterial": { "publicKey": { "hint": key.public().fingerprint() } },
        "messageSignature": {
            "messageDigest": { "algorithm": "SHA2_256", "digest": BASE64_STANDARD.encode(Hash::digest(bytes)) },
            "signature": BASE64_STANDARD.encode(key.sign(bytes)?),
        },
    });
    Ok(bundle.to_string().into_bytes())
}

/// The first of the keys with which a bundle signs the bytes of a file.
pub fn signer_of_file(bundle: &[u8], bytes: &[u8], keys: &[VerifyingKey]) -> Option<usize> {
    let bundle: Bundle = serde_json::from_slice(bundle).ok()?;
    if bundle.media_type != BUNDLE {
        return None;
    }
    let signature = bundle.message_signature?.signature;
    let signature = BASE64_STANDARD.decode(signature).ok()?;
    keys.iter()
        .position(|key| key.has_signed(bytes, &signature))
}

/// What a DSSE signature covers.
fn signed_bytes(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!(
        "DSSEv1 {} {payload_type} {} ",
        payload_type.len(),
        payload.len()
    );
    [head.as_bytes(), payload].concat()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn key() -> SigningKey {
        SigningKey::generate().expect("random numbers").0
    }

    /// A bundle whose statement has this key and value instead, signed by the key.
    fn signed_with(key: &SigningKey, digest: &Digest, member: &str, value: &str) -> Vec<u8> {
        let bundle = sign(digest, key).expect("a bundle");
        let mut bundle: Value = serde_json::from_slice(&bundle).expect("JSON");
        let envelope = &mut bundle["dsseEnvelope"];
        let payload = BASE64_STANDARD.decode(envelope["payload"].as_str().expect("text"));
        let mut statement: Value = serde_json::from_slice(&payload.expect("base64")).expect("JSON");
        statement[member] = value.into();
        let payload = statement.to_string();
        let signature = key
            .sign(&signed_bytes(PAYLOAD, payload.as_bytes()))
            .expect("a signature");
        envelope["payload"] = BASE64_STANDARD.encode(payload).into();
        envelope["signatures"][0]["sig"] = BASE64_STANDARD.encode(signature).into();
        bundle.to_string().into_bytes()
    }

    #[test]
    fn the_key_that_signed_is_found() {
        let (key, other) = (key(), key());
        let digest = Digest::of(b"image");
        let bundle = sign(&digest, &key).expect("a bundle");
        let keys = [other.public(), key.public()];
        assert_eq!(signer(&bundle, &digest, &keys), Some(1));
        assert_eq!(signer(&bundle, &digest, &keys[..1]), None);
        assert_eq!(signer(&bundle, &Digest::of(b"other"), &keys), None);
    }

    #[test]
    fn a_file_and_an_image_have_different_signatures() {
        let (key, other) = (key(), key());
        let keys = [other.public(), key.public()];
        let bundle = sign_file(b"module", &key).expect("a bundle");
        assert_eq!(signer_of_file(&bundle, b"module", &keys), Some(1));
        assert_eq!(signer_of_file(&bundle, b"module", &keys[..1]), None);
        assert_eq!(signer_of_file(&bundle, b"changed", &keys), None);
        assert_eq!(signer(&bundle, &Digest::of(b"module"), &keys), None);
        let image = sign(&Digest::of(b"module"), &key).expect("a bundle");
        assert_eq!(signer_of_file(&image, b"module", &keys), None);
        let another_type = String::from_utf8(bundle)
            .expect("text")
            .replace("v0.3", "v0.1");
        assert_eq!(
            signer_of_file(another_type.as_bytes(), b"module", &keys),
            None
        );
    }

    #[test]
    fn what_was_changed_is_no_signature() {
        let key = key();
        let digest = Digest::of(b"image");
        let keys = [key.public()];
        let bundle = String::from_utf8(sign(&digest, &key).expect("a bundle")).expect("text");
        let other =
            String::from_utf8(sign(&Digest::of(b"other"), &key).expect("a bundle")).expect("text");
        let payload = |bundle: &str| {
            let bundle: Value = serde_json::from_str(bundle).expect("JSON");
            bundle["dsseEnvelope"]["payload"]
                .as_str()
                .expect("text")
                .to_owned()
        };
        let exchanged = other.replace(&payload(&other), &payload(&bundle));
        assert_eq!(signer(exchanged.as_bytes(), &digest, &keys), None);
        let another_type = bundle.replace(PAYLOAD, "application/json");
        assert_eq!(signer(another_type.as_bytes(), &digest, &keys), None);
        for (member, value) in [
            ("predicateType", "https://spdx.dev/Document"),
            ("_type", "https://in-toto.io/Statement/v0.1"),
        ] {
            let bundle = signed_with(&key, &digest, member, value);
            assert_eq!(signer(&bundle, &digest, &keys), None, "{member}");
        }
        let same = signed_with(&key, &digest, "predicateType", SIGNED);
        assert_eq!(signer(&same, &digest, &keys), Some(0));
        for text in ["", "{}", "[]", "null"] {
            assert_eq!(signer(text.as_bytes(), &digest, &keys), None);
        }
    }
}
