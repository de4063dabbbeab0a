//! Sealed state that travels to the client and back.
//!
//! The `requestState` of a tool goes through the client between two input rounds. The host encrypts it, together with the time at
//! which it expires, and binds it to the request that it belongs to. Neither clients nor servlets see the key. Cursors and sessions are
//! sealed the same way.
//!
//! ```text
//! version 1 | key id 4 | nonce 12 | ChaCha20-Poly1305 of (expires 8 | state)
//! ```

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, OnceLock},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_servlet_access::Owner;
use mcp_servlet_call::{JsonObject, RpcError};
use mcp_servlet_common::{hex, lock};
use ring::aead::{Aad, NONCE_LEN, Nonce};
use serde_json::{Value, json};

use super::state_keys::{CurrentKeys, KeyId};
use crate::{
    session_id::random_bytes,
    store::{Away, Store},
};

/// How a sealed text begins.
const VERSION: u8 = 1;

/// How long a sealed state is valid.
const STATE_TTL: Duration = Duration::from_hours(1);

/// How many states that were used are known.
const MAX_USED: usize = 10_000;

/// The random number of a state.
type Number = [u8; NONCE_LEN];

/// The time at which a state expires, in seconds since 1970.
type Expiry = [u8; size_of::<u64>()];

/// Seals the state of one endpoint. An endpoint of the same name in another process opens it, if the processes share
/// [`StateKeys`](super::StateKeys).
#[derive(Debug, Default)]
pub(crate) struct Seal {
    keys: CurrentKeys,
    endpoint: String,
    /// The states that may be used only once and were used, the oldest first.
    used: Mutex<VecDeque<Number>>,
    /// Where other processes learn that a state was used.
    store: OnceLock<Arc<Store>>,
}

/// A state that was opened.
struct Opened {
    number: Number,
    state: String,
}

/// The seconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

impl Seal {
    pub(crate) fn new(keys: &CurrentKeys, endpoint: Option<&str>) -> Self {
        Self {
            keys: keys.clone(),
            endpoint: endpoint.unwrap_or_default().to_owned(),
            used: Mutex::default(),
            store: OnceLock::new(),
        }
    }

    /// Shares with other processes which states were used.
    pub(crate) fn share(&self, store: &Arc<Store>) {
        // The first transport decides: an endpoint has one.
        let _ = self.store.set(Arc::clone(store));
    }

    /// Seals a state for an hour.
    pub(crate) fn close(&self, state: &str, request: &Request<'_>) -> String {
        self.close_for(STATE_TTL, state, request)
    }

    pub(crate) fn close_for(&self, time: Duration, state: &str, request: &Request<'_>) -> String {
        // Of 2^32 random numbers of 96 bits, two are equal with a probability of 2^-33.
        let number: Number = random_bytes();
        let expiry: Expiry = now().saturating_add(time.as_secs()).to_be_bytes();
        let mut text = [&expiry[..], state.as_bytes()].concat();
        let keys = self.keys.derived(request.purpose.label());
        let (id, key) = &keys[0];
        let (nonce, context) = (
            Nonce::assume_unique_for_key(number),
            self.context(*id, request),
        );
        key.seal_in_place_append_tag(nonce, Aad::from(context), &mut text)
            .expect("a state is shorter than 256 GiB");
        URL_SAFE_NO_PAD.encode([&[VERSION][..], id, &number, &text].concat())
    }

    /// Opens a state. One that may be used only once is used up.
    pub(crate) async fn open(
        &self,
        sealed: &str,
        request: &Request<'_>,
    ) -> Result<String, RpcError> {
        let Some(opened) = self.opened(sealed, request) else {
            // The client gets no details: it may be probing.
            let message = "`requestState` is not from this server, not for this request, or too old; \
                           call again without one";
            return Err(RpcError::new(RpcError::INVALID_PARAMS, message));
        };
        if request.once {
            self.use_up(&opened).await?;
        }
        Ok(opened.state)
    }

    /// A state that may be used more than once.
    pub(crate) fn read(&self, sealed: &str, request: &Request<'_>) -> Option<String> {
        Some(self.opened(sealed, request)?.state)
    }

    /// None if another key, request or server has sealed it, or if it is too old.
    fn opened(&self, sealed: &str, request: &Request<'_>) -> Option<Opened> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (version, sealed) = sealed.split_first()?;
        let (id, sealed): (&KeyId, _) = sealed.split_first_chunk()?;
        let (number, sealed): (&Number, _) = sealed.split_first_chunk()?;
        if *version != VERSION {
            return None;
        }
        let context = self.context(*id, request);
        let keys = self.keys.derived(request.purpose.label());
        let mut keys = keys.iter().filter(|(of, _)| of == id);
        let text = keys.find_map(|(_, key)| {
            let nonce = Nonce::assume_unique_for_key(*number);
            let mut text = sealed.to_vec();
            let opened = key.open_in_place(nonce, Aad::from(&context), &mut text);
            let length = opened.ok()?.len();
            text.truncate(length);
            Some(text)
        })?;
        let (expiry, state): (&Expiry, _) = text.split_first_chunk()?;
        let state = String::from_utf8(state.to_vec()).ok()?;
        (now() < u64::from_be_bytes(*expiry)).then_some(Opened {
            number: *number,
            state,
        })
    }

    /// The bytes to which a sealed text is bound.
    fn context(&self, id: KeyId, request: &Request<'_>) -> Vec<u8> {
        let request = request.to_json(&self.endpoint).to_string();
        [&[VERSION][..], &id, request.as_bytes()].concat()
    }

    /// Refuses a state that was used before, as far as is known: without a store, only by this process.
    async fn use_up(&self, opened: &Opened) -> Result<(), RpcError> {
        // docs/decisions/0074-state-of-steps.md has the reason.
        let is_first_of_all = self.is_first_of_all(opened.number).await.map_err(|Away| {
            let message = "the store cannot be reached, so it is not known whether this answer was used already; \
                           send it again later";
            RpcError::new(RpcError::BUSY, message).with_data(json!({ "code": "STORE_AWAY" }))
        })?;
        if is_first_of_all && self.is_first(opened.number) {
            return Ok(());
        }
        let message = "this answer was used already; send the request again without `requestState`";
        Err(RpcError::new(RpcError::INVALID_PARAMS, message))
    }

    /// Whether a state is used for the first time in this process.
    fn is_first(&self, number: Number) -> bool {
        let mut used = lock(&self.used);
        if used.contains(&number) {
            return false;
        }
        if used.len() == MAX_USED {
            used.pop_front();
        }
        used.push_back(number);
        true
    }

    /// Whether no process has told the store that it has used a state. Without a store, none has.
    async fn is_first_of_all(&self, number: Number) -> Result<bool, Away> {
        let Some(store) = self.store.get() else {
            return Ok(true);
        };
        let key = store.key("used", &format!("{} {}", self.endpoint, hex(&number)));
        // The clock of the process that sealed it may be another one.
        store.add(&key, "1", 2 * STATE_TTL).await
    }
}

/// The purpose of a sealed text. Each has keys of its own.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'a> {
    /// The state of a request with this method.
    State(&'a str),
    /// A cursor of a list.
    Cursor,
    /// The id of a session.
    Session,
    /// A session in a store.
    StoredSession,
}

impl Purpose<'_> {
    /// The label with which its keys are derived. A new number invalidates all texts.
    fn label(self) -> &'static str {
        match self {
            Self::State(_) => "servlet state 2",
            Self::Cursor => "servlet cursor 1",
            Self::Session => "servlet session 1",
            Self::StoredSession => "servlet store 1",
        }
    }
}

/// The request that a state belongs to.
pub(crate) struct Request<'a> {
    pub(crate) purpose: Purpose<'a>,
    pub(crate) name: &'a str,
    pub(crate) arguments: Option<&'a JsonObject>,
    /// Who sends it, if the endpoint knows its callers.
    pub(crate) owner: Option<Owner>,
    /// Whether its state may be used only once.
    pub(crate) once: bool,
}

impl Request<'_> {
    /// Canonical: equal requests of an endpoint have equal JSON.
    fn to_json(&self, endpoint: &str) -> Value {
        let mut arguments = Value::from(self.arguments.cloned());
        arguments.sort_all_objects();
        let method = match self.purpose {
            Purpose::State(method) => Some(method),
            _ => None,
        };
        let owner = self.owner.map(|owner| hex(owner.as_bytes()));
        json!([method, self.name, arguments, endpoint, owner])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::StateKeys, *};

    fn request<'a>(name: &'a str, arguments: &'a Value) -> Request<'a> {
        Request {
            purpose: Purpose::State("tools/call"),
            name,
            arguments: arguments.as_object(),
            owner: None,
            once: false,
        }
    }

    #[test]
    fn the_state_cannot_be_read() {
        let arguments = json!({});
        let sealed = Seal::default().close("secret", &request("t", &arguments));
        let bytes = URL_SAFE_NO_PAD.decode(&sealed).expect("base64");
        assert!(!bytes.windows(6).any(|part| part == b"secret"));
    }

    #[tokio::test]
    async fn some_states_can_be_used_once() {
        let seal = Seal::default();
        let arguments = json!({});
        let mut request = request("t", &arguments);
        request.once = true;
        let sealed = [(); 2].map(|()| seal.close("state", &request));
        assert!(seal.open(&sealed[0], &request).await.is_ok());
        // Without a store, another process does not know that it was used.
        let other = Seal::new(&seal.keys, None);
        assert!(other.open(&sealed[0], &request).await.is_ok());
        assert!(other.open(&sealed[0], &request).await.is_err());
        let error = seal
            .open(&sealed[0], &request)
            .await
            .expect_err("a second use");
        assert_eq!(
            error.message,
            "this answer was used already; send the request again without `requestState`"
        );
        assert!(seal.open(&sealed[1], &request).await.is_ok());
    }

    #[test]
    fn opens_state_sealed_for_the_same_request() {
        let seal = Seal::default();
        let arguments = json!({ "a": 1, "b": { "c": 2, "d": 3 } });
        let sealed = seal.close("state", &request("t", &arguments));
        let arguments = json!({ "b": { "d": 3, "c": 2 }, "a": 1 });
        let same = request("t", &arguments);
        assert_eq!(seal.read(&sealed, &same).as_deref(), Some("state"));
        assert_ne!(seal.close("state", &same), "state");
    }

    #[test]
    fn processes_with_the_same_keys_share_states_of_an_endpoint() {
        let keys = |seeds: &[u8]| {
            let keys = seeds.iter().map(|seed| vec![*seed; StateKeys::LEAST]);
            let current = CurrentKeys::default();
            current.replace(StateKeys::new(keys.collect()).expect("long keys"));
            current
        };
        let arguments = json!({});
        let request = request("t", &arguments);
        let seal = |seeds: &[u8], endpoint: &str| Seal::new(&keys(seeds), Some(endpoint));
        let sealed = seal(&[1, 2], "main").close("state", &request);
        for (seeds, endpoint, opens) in [
            (&[1][..], "main", true),
            (&[2, 1], "main", true),
            (&[2], "main", false),
            (&[1], "other", false),
        ] {
            let opened = seal(seeds, endpoint).read(&sealed, &request);
            assert_eq!(opened.is_some(), opens, "{seeds:?} {endpoint}");
        }
        let rotated = Seal::new(&keys(&[1]), Some("main"));
        rotated
            .keys
            .replace(StateKeys::new(vec![vec![3; 32]]).expect("a key"));
        assert_eq!(rotated.read(&sealed, &request), None);
        assert_eq!(StateKeys::new(vec![vec![1; 31]]), None);
    }

    #[test]
    fn a_sealed_text_names_its_version_and_its_key() {
        let arguments = json!({});
        let sealed = |key: u8| {
            let keys = CurrentKeys::default();
            let secrets = vec![vec![key; 32], vec![9; 32]];
            keys.replace(StateKeys::new(secrets).expect("long keys"));
            let sealed = Seal::new(&keys, None).close("state", &request("t", &arguments));
            URL_SAFE_NO_PAD.decode(sealed).expect("base64")
        };
        let (one, again, other) = (sealed(7), sealed(7), sealed(8));
        assert_eq!(one[0], 1);
        assert_eq!(one[..5], again[..5]);
        assert_ne!(one[1..5], other[1..5]);
        // The id says nothing about the key.
        let digest = ring::digest::digest(&ring::digest::SHA256, &[7; 32]);
        assert_ne!(one[1..5], digest.as_ref()[..4]);
        assert_eq!(one.len(), 1 + 4 + NONCE_LEN + 8 + "state".len() + 16);
    }

    #[test]
    fn what_is_sealed_for_one_purpose_is_not_opened_for_another() {
        let (seal, arguments) = (Seal::default(), json!({}));
        let purposes = || {
            [
                Purpose::State("tools/call"),
                Purpose::State("prompts/get"),
                Purpose::Cursor,
                Purpose::Session,
                Purpose::StoredSession,
            ]
            .into_iter()
            .map(|purpose| Request {
                purpose,
                ..request("t", &arguments)
            })
        };
        for (at, closed) in purposes().enumerate() {
            let sealed = seal.close("state", &closed);
            for (other, opened) in purposes().enumerate() {
                let is_open = seal.read(&sealed, &opened).is_some();
                assert_eq!(is_open, at == other, "{at} {other}");
            }
        }
    }

    #[test]
    fn a_state_ends() {
        let (seal, arguments) = (Seal::default(), json!({}));
        let request = request("t", &arguments);
        let sealed = seal.close_for(Duration::ZERO, "state", &request);
        assert_eq!(seal.read(&sealed, &request), None);
    }

    #[tokio::test]
    async fn refuses_other_requests_other_keys_and_changes() {
        let seal = Seal::default();
        let arguments = json!({ "a": 1 });
        let sealed = seal.close("state", &request("t", &arguments));
        let is_refused =
            |seal: &Seal, sealed: &str, request: &Request<'_>| seal.read(sealed, request).is_none();
        assert!(is_refused(&seal, &sealed, &request("u", &arguments)));
        assert!(is_refused(
            &seal,
            &sealed,
            &request("t", &json!({ "a": 2 }))
        ));
        assert!(is_refused(
            &Seal::default(),
            &sealed,
            &request("t", &arguments)
        ));
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).expect("ASCII");
            assert!(
                is_refused(&seal, &changed, &request("t", &arguments)),
                "{at}"
            );
        }
        assert!(is_refused(&seal, "", &request("t", &arguments)));
        let refused = seal.open("", &request("t", &arguments)).await;
        assert_eq!(refused.expect_err("a refusal").code, -32602);
    }
}
