//! The arguments of a request in the audit log.

use std::fmt;

use mcp_servlet_common::hex;
use mcp_servlet_schema::JsonObject;
use ring::{
    hkdf, hmac,
    rand::{SecureRandom as _, SystemRandom},
};
use serde_json::Value;

use crate::rules::{Step, steps};

/// The longest text of arguments, in bytes.
const MAX_ARGUMENTS: usize = 4 << 10;
/// The end of a text that was cut.
pub(super) const CUT: &str = "…";
/// What replaces a masked value.
const MASK: &str = "***";

/// How arguments appear in the audit log.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentsAs {
    /// Nothing.
    None,
    /// A digest under a key: a plain one of `{"pin":1234}` could be guessed.
    Digest(DigestKey),
    /// Their JSON, with masked values.
    Text(Vec<MaskPath>),
}

/// The key of digests.
#[derive(Clone)]
pub struct DigestKey {
    key: hmac::Key,
    /// What tells apart the keys of different secrets.
    of_secret: Option<[u8; 32]>,
}

/// The path of a masked value, such as `password`, `to.iban` or `items[].sku`. Rules write paths the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskPath(Vec<Step>);

impl DigestKey {
    /// A key for this process alone.
    ///
    /// # Panics
    /// If the system has no randomness.
    pub fn random() -> Self {
        let mut key = [0; 32];
        let filled = SystemRandom::new().fill(&mut key);
        filled.expect("the system has randomness");
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
            of_secret: None,
        }
    }

    /// The key that a secret gives, for processes that must have equal digests.
    ///
    /// # Panics
    /// Never: the key has a length that HKDF can give.
    pub fn derived(secret: &[u8]) -> Self {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(secret);
        let expanded = salt.expand(&[b"servlet audit 1"], hkdf::HKDF_SHA256);
        let mut key = [0; 32];
        let filled = expanded.and_then(|material| material.fill(&mut key));
        filled.expect("HKDF gives 32 bytes");
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
            of_secret: Some(key),
        }
    }
}

/// Whether a configuration asks for the same key. All random ones are equal, although their digests differ.
impl PartialEq for DigestKey {
    fn eq(&self, other: &Self) -> bool {
        self.of_secret == other.of_secret
    }
}

/// Shows nothing of the key.
impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey")
    }
}

impl MaskPath {
    /// Reads a path. None if it has another form.
    pub fn new(text: &str) -> Option<Self> {
        steps(text).map(Self)
    }
}

fn mask(value: &mut Value, path: &[Step]) {
    match (path, value) {
        ([Step::Member(name), rest @ ..], Value::Object(object)) => {
            if let Some(value) = object.get_mut(name) {
                mask(value, rest);
            }
        }
        ([Step::Items, rest @ ..], Value::Array(items)) => {
            for item in items {
                mask(item, rest);
            }
        }
        // What has another shape than the path could be the secret itself, as in `to` for `to.iban`.
        (_, value) => *value = MASK.into(),
    }
}

impl ArgumentsAs {
    /// The arguments as they appear in the log.
    pub fn show(&self, arguments: &JsonObject) -> Option<String> {
        match self {
            Self::None => None,
            Self::Digest(key) => {
                let mut sorted = Value::Object(arguments.clone());
                sorted.sort_all_objects();
                let tag = hmac::sign(&key.key, sorted.to_string().as_bytes());
                Some(format!("hmac-sha256:{}", hex(tag.as_ref())))
            }
            Self::Text(masks) => {
                let mut shown = Value::Object(arguments.clone());
                for MaskPath(path) in masks {
                    mask(&mut shown, path);
                }
                Some(cut(&shown.to_string(), MAX_ARGUMENTS))
            }
        }
    }
}

/// A text of at most this many bytes.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most.saturating_sub(CUT.len()));
    format!("{}{CUT}", &text[..end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn show(policy: &ArgumentsAs, arguments: &Value) -> String {
        let arguments = arguments.as_object().expect("an object");
        policy.show(arguments).expect("a text")
    }

    #[test]
    fn masks_values_by_their_paths() {
        let paths = ["password", "to.iban", "items[].sku", "grid[][]", r"a\.b"];
        let masks = paths.map(|path| MaskPath::new(path).expect("a path"));
        let policy = ArgumentsAs::Text(masks.into());
        let arguments = json!({
            "password": { "a": 1 },
            "to": { "iban": "DE1", "name": "Ann" },
            "items": [{ "sku": 7, "n": 1 }, { "n": 2 }],
            "grid": [[1, 2], [3]],
            "a.b": "secret",
        });
        assert_eq!(
            show(&policy, &arguments),
            r#"{"password":"***","to":{"iban":"***","name":"Ann"},"items":[{"sku":"***","n":1},{"n":2}],"grid":[["***","***"],["***"]],"a.b":"***"}"#
        );
    }

    #[test]
    fn what_has_another_shape_is_masked_where_it_differs() {
        let masks = ["to.iban", "items[].sku"].map(|path| MaskPath::new(path).expect("a path"));
        let policy = ArgumentsAs::Text(masks.into());
        let arguments = json!({ "to": "DE1", "items": { "sku": 7 }, "other": null });
        assert_eq!(
            show(&policy, &arguments),
            r#"{"to":"***","items":"***","other":null}"#
        );
    }

    #[test]
    fn digests_depend_on_the_key_and_not_on_the_order() {
        let key = DigestKey::derived(b"secret");
        let policy = ArgumentsAs::Digest(key.clone());
        let digest = show(&policy, &json!({ "a": 1, "b": { "c": 2, "d": 3 } }));
        let same = show(&policy, &json!({ "b": { "d": 3, "c": 2 }, "a": 1 }));
        assert_eq!(digest, same);
        assert_eq!(digest.len(), "hmac-sha256:".len() + 64);
        assert_ne!(digest, show(&policy, &json!({ "a": 2 })));
        assert_eq!(key, DigestKey::derived(b"secret"));
        for other in [DigestKey::derived(b"other"), DigestKey::random()] {
            let other = ArgumentsAs::Digest(other);
            let arguments = json!({ "a": 1, "b": { "c": 2, "d": 3 } });
            assert_ne!(digest, show(&other, &arguments));
        }
    }

    #[test]
    fn long_arguments_are_cut() {
        let arguments = json!({ "text": "é".repeat(4000) });
        let text = show(&ArgumentsAs::Text(Vec::new()), &arguments);
        assert!(text.len() <= MAX_ARGUMENTS && text.ends_with("é…"));
    }

    #[test]
    fn reads_paths() {
        for wrong in ["", "a.", ".a", "a[0]", "[]", "a..b", "a]b"] {
            assert_eq!(MaskPath::new(wrong), None, "{wrong}");
        }
        assert!(MaskPath::new("a.b[][].c").is_some());
    }
}
