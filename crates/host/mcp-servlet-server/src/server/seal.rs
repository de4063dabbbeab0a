//! Sealed state that travels to the client and back.
//!
//! The `requestState` of a tool goes through the client between two input rounds. The host encrypts it, together with the time at
//! which it expires, and binds it to the request that it belongs to. Neither clients nor servlets see the key.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_servlet_access::Owner;
use mcp_servlet_common::hex;
use mcp_servlet_runtime::JsonObject;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use rmcp::ErrorData;
use serde_json::Value;

/// How long a sealed state is valid.
const STATE_TTL: Duration = Duration::from_hours(1);

/// The length of the time at which a state expires, in bytes.
const TIME: usize = size_of::<u64>();

/// How many states that were used are known.
const MAX_USED: usize = 10_000;

/// The random number of a state.
type Number = [u8; NONCE_LEN];

/// A key that lives as long as the server.
#[derive(Debug)]
pub(crate) struct Seal {
    key: LessSafeKey,
    /// The states that may be used only once and were used, the oldest first.
    used: Mutex<VecDeque<Number>>,
}

impl Default for Seal {
    fn default() -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &random::<32>());
        Self {
            key: LessSafeKey::new(key.expect("the key has the right length")),
            used: Mutex::default(),
        }
    }
}

fn random<const N: usize>() -> [u8; N] {
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
    pub(crate) fn close(&self, state: &str, request: &Request<'_>) -> String {
        // 2^32 random numbers are safe: https://www.rfc-editor.org/rfc/rfc8439#section-4
        let number: Number = random();
        let mut text = (now() + STATE_TTL.as_secs()).to_be_bytes().to_vec();
        text.extend_from_slice(state.as_bytes());
        let (nonce, context) = (Nonce::assume_unique_for_key(number), request.to_bytes());
        self.key
            .seal_in_place_append_tag(nonce, Aad::from(context), &mut text)
            .expect("a state is shorter than 256 GiB");
        URL_SAFE_NO_PAD.encode([&number[..], &text].concat())
    }

    pub(crate) fn open(&self, sealed: &str, request: &Request<'_>) -> Result<String, ErrorData> {
        let Some((number, state)) = self.opened(sealed, request) else {
            // The client gets no details: it may be probing.
            let message = "`requestState` is not from this server, not for this request, or too old; \
                           call again without one";
            return Err(ErrorData::invalid_params(message, None));
        };
        if request.once && !self.is_first(number) {
            let message =
                "this answer was used already; send the request again without `requestState`";
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(state)
    }

    fn opened(&self, sealed: &str, request: &Request<'_>) -> Option<(Number, String)> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (number, text) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let (nonce, context) = (Nonce::assume_unique_for_key(*number), request.to_bytes());
        let mut text = text.to_vec();
        let text = self.key.open_in_place(nonce, Aad::from(context), &mut text);
        let (expires, state) = text.ok()?.split_first_chunk::<TIME>()?;
        let state = String::from_utf8(state.to_vec()).ok()?;
        (now() < u64::from_be_bytes(*expires)).then_some((*number, state))
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

    use super::*;

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

    #[test]
    fn some_states_can_be_used_once() {
        let seal = Seal::default();
        let arguments = json!({});
        let mut request = request("t", &arguments);
        let sealed = [(); 2].map(|()| seal.close("state", &request));
        assert!(seal.open(&sealed[0], &request).is_ok());
        request.once = true;
        assert!(seal.open(&sealed[0], &request).is_ok());
        let error = seal.open(&sealed[0], &request).expect_err("a second use");
        assert_eq!(
            error.message,
            "this answer was used already; send the request again without `requestState`"
        );
        assert!(seal.open(&sealed[1], &request).is_ok());
    }

    #[test]
    fn opens_state_sealed_for_the_same_request() {
        let seal = Seal::default();
        let arguments = json!({ "a": 1, "b": { "c": 2, "d": 3 } });
        let sealed = seal.close("state", &request("t", &arguments));
        let arguments = json!({ "b": { "d": 3, "c": 2 }, "a": 1 });
        let same = request("t", &arguments);
        assert_eq!(seal.open(&sealed, &same).expect("the state"), "state");
        assert_ne!(seal.close("state", &same), "state");
    }

    #[test]
    fn refuses_other_requests_other_keys_and_changes() {
        let seal = Seal::default();
        let arguments = json!({ "a": 1 });
        let sealed = seal.close("state", &request("t", &arguments));
        let is_refused = |seal: &Seal, sealed: &str, request: &Request<'_>| {
            seal.open(sealed, request).expect_err("a refusal").code.0 == -32602
        };
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
    }
}
