//! The keys with which state is sealed that leaves the process.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};

use mcp_servlet_access::audit::DigestKey;
use mcp_servlet_common::lock;
use ring::{
    aead::{CHACHA20_POLY1305, LessSafeKey, UnboundKey},
    hkdf::{HKDF_SHA256, Salt},
};

use crate::session_id::random_bytes;

/// What tells keys apart.
pub(super) type KeyId = [u8; 4];

/// Keys for one use, the one that seals first.
pub(super) type DerivedKeys = Arc<[(KeyId, LessSafeKey)]>;

/// Secrets that processes share, so that each of them can read the state that another one has sealed and given to a client: sessions,
/// cursors, and the state of tools that ask the client. The first one seals, and all of them open.
///
/// The default is a random one, which no other process has.
#[derive(Clone, PartialEq, Eq)]
pub struct StateKeys(Arc<[Vec<u8>]>);

/// The label with which ids of keys are derived, so that an id says nothing about its key.
const KEY_ID: &[u8] = b"servlet key id 1";

impl StateKeys {
    /// The least length of a key, in bytes.
    pub const LEAST: usize = 32;

    /// Keys of at least [`LEAST`](Self::LEAST) bytes. None if one is shorter, or if there is none.
    pub fn new(keys: Vec<Vec<u8>>) -> Option<Self> {
        let are_long = keys.iter().all(|key| key.len() >= Self::LEAST);
        (are_long && !keys.is_empty()).then(|| Self(keys.into()))
    }

    /// A key for digests in the audit log, from the key that seals.
    pub fn digest_key(&self) -> DigestKey {
        DigestKey::derived(&self.0[0])
    }

    /// A key for one use from each of these, the one that seals first.
    fn derived(&self, label: &str) -> DerivedKeys {
        let derived = self.0.iter().map(|secret| {
            let secret = Salt::new(HKDF_SHA256, &[]).extract(secret);
            let mut id = [0; 32];
            let filled = secret
                .expand(&[KEY_ID], &CHACHA20_POLY1305)
                .and_then(|key| key.fill(&mut id));
            filled.expect("HKDF gives 32 bytes");
            let [a, b, c, d, ..] = id;
            let info = [label.as_bytes()];
            let key = secret.expand(&info, &CHACHA20_POLY1305);
            let key = UnboundKey::from(key.expect("HKDF gives 32 bytes"));
            ([a, b, c, d], LessSafeKey::new(key))
        });
        derived.collect()
    }
}

impl Default for StateKeys {
    fn default() -> Self {
        Self(Arc::new([random_bytes::<{ Self::LEAST }>().to_vec()]))
    }
}

/// Shows nothing of the keys.
impl fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKeys")
    }
}

/// The keys of a process, which a reload can replace. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct CurrentKeys(Arc<Mutex<Keys>>);

#[derive(Default)]
struct Keys {
    secrets: StateKeys,
    /// Those that were derived from the secrets, by label: each request with sealed state needs one.
    derived: HashMap<&'static str, DerivedKeys>,
}

impl CurrentKeys {
    pub(crate) fn replace(&self, secrets: StateKeys) {
        *lock(&self.0) = Keys {
            secrets,
            derived: HashMap::new(),
        };
    }

    /// The keys of one use, the one that seals first.
    pub(super) fn derived(&self, label: &'static str) -> DerivedKeys {
        let mut keys = lock(&self.0);
        let Keys { secrets, derived } = &mut *keys;
        let derived = derived.entry(label);
        Arc::clone(derived.or_insert_with(|| secrets.derived(label)))
    }
}

/// Shows nothing of the keys.
impl fmt::Debug for CurrentKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CurrentKeys")
    }
}
