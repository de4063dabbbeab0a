//! Sealed state that travels to the client and back.
//!
//! The `requestState` of a tool goes through the client between two input rounds. The host encrypts it, together with the time at
//! which it expires, and binds it to the request that it belongs to. Neither clients nor servlets see the key. Cursors and sessions are
//! sealed the same way.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_servlet_access::Owner;
use mcp_servlet_common::hex;
use mcp_servlet_runtime::JsonObject;
use ring::aead::{Aad, NONCE_LEN, Nonce};
use rmcp::ErrorData;
use serde_json::Value;

use super::state_keys::CurrentKeys;
use crate::store::Store;

/// How long a sealed state is valid.
const STATE_TTL: Duration = Duration::from_hours(1);

/// The length of the time at which a state expires, in bytes.
const TIME: usize = size_of::<u64>();

/// How many states that were used are known.
const MAX_USED: usize = 10_000;

/// The random number of a state.
type Number = [u8; NONCE_LEN];

/// Seals the state of one endpoint. An endpoint of the same name in another process opens it, if the processes share
/// [`StateKeys`](super::StateKeys).
#[derive(Debug, Default)]
pub(crate) struct Seal {
    keys: CurrentKeys,
    endpoint: String,
    /// The states that may be used only once and were used, the oldest first.
    used: Mutex<VecDeque<Number>>,
    /// A random number of this process. Without a store, a state that may be used only once is for this process: others could not know
    /// that it was used.
    process: OnceLock<Number>,
    /// Where other processes learn that a state was used.
    store: OnceLock<Arc<Store>>,
}

pub(super) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
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
            process: OnceLock::new(),
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
        let number: Number = random();
        let mut text = now().saturating_add(time.as_secs()).to_be_bytes().to_vec();
        text.extend_from_slice(state.as_bytes());
        let (nonce, context) = (Nonce::assume_unique_for_key(number), self.context(request));
        self.keys.of(&self.endpoint)[0]
            .seal_in_place_append_tag(nonce, Aad::from(context), &mut text)
            .expect("a state is shorter than 256 GiB");
        URL_SAFE_NO_PAD.encode([&number[..], &text].concat())
    }

    pub(crate) async fn open(
        &self,
        sealed: &str,
        request: &Request<'_>,
    ) -> Result<String, ErrorData> {
        let Some((number, state)) = self.opened(sealed, request) else {
            // The client gets no details: it may be probing.
            let message = "`requestState` is not from this server, not for this request, or too old; \
                           call again without one";
            return Err(ErrorData::invalid_params(message, None));
        };
        if request.once && !(self.is_first(number) && self.is_first_of_all(number).await) {
            let message =
                "this answer was used already; send the request again without `requestState`";
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(state)
    }

    /// The state and its number. None if another key, request or server has sealed it, or if it is too old.
    fn opened(&self, sealed: &str, request: &Request<'_>) -> Option<(Number, String)> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (number, text) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let context = self.context(request);
        let text = self.keys.of(&self.endpoint).iter().find_map(|key| {
            let (nonce, context) = (Nonce::assume_unique_for_key(*number), Aad::from(&context));
            let mut text = text.to_vec();
            let length = key.open_in_place(nonce, context, &mut text).ok()?.len();
            text.truncate(length);
            Some(text)
        })?;
        let (expires, state) = text.split_first_chunk::<TIME>()?;
        let state = String::from_utf8(state.to_vec()).ok()?;
        (now() < u64::from_be_bytes(*expires)).then_some((*number, state))
    }

    /// The request that a state is for, and this process if only it can know whether the state was used.
    fn context(&self, request: &Request<'_>) -> Vec<u8> {
        let mut bytes = request.to_bytes();
        if request.once && self.store.get().is_none() {
            bytes.extend(self.process.get_or_init(random));
        }
        bytes
    }

    /// A state that may be used more than once.
    pub(crate) fn read(&self, sealed: &str, request: &Request<'_>) -> Option<String> {
        let (_, state) = self.opened(sealed, request)?;
        Some(state)
    }

    /// Whether a state is used for the first time, as far as is known.
    fn is_first(&self, number: Number) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.contains(&number) {
            return false;
        }
        if used.len() == MAX_USED {
            used.pop_front();
        }
        used.push_back(number);
        true
    }

    /// Whether no other process has used a state. While the store is away, only this process knows.
    async fn is_first_of_all(&self, number: Number) -> bool {
        let Some(store) = self.store.get() else {
            return true;
        };
        let key = store.key("used", &format!("{} {}", self.endpoint, hex(&number)));
        // The clock of the process that sealed it may be another one.
        store.add(&key, "1", 2 * STATE_TTL).await.unwrap_or(true)
    }
}

/// The request that a state belongs to.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: Option<&'a JsonObject>,
    /// Who sends it, if the endpoint knows its callers.
    pub(crate) owner: Option<Owner>,
    /// Whether its state may be used only once.
    pub(crate) once: bool,
}

impl Request<'_> {
    /// A canonical encoding: equal requests have equal bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut arguments = Value::from(self.arguments.cloned());
        arguments.sort_all_objects();
        let owner = self.owner.map(|owner| hex(owner.as_bytes()));
        Value::from(vec![
            self.method.into(),
            self.name.into(),
            arguments,
            owner.into(),
        ])
        .to_string()
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::StateKeys, *};

    fn request<'a>(name: &'a str, arguments: &'a Value) -> Request<'a> {
        Request {
            method: "tools/call",
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
        // Another process with the same keys could not know that it was used.
        let other = Seal::new(&seal.keys, None);
        assert!(other.open(&sealed[0], &request).await.is_err());
        assert!(seal.open(&sealed[0], &request).await.is_ok());
        let error = seal.open(&sealed[0], &request).await;
        let error = error.expect_err("a second use");
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
        assert_eq!(refused.expect_err("a refusal").code.0, -32602);
    }
}
