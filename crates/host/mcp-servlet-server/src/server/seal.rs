//! Signed state that travels to the client and back.
//!
//! The `requestState` of a servlet goes through the client between two input rounds. The host signs
//! it together with the request that it belongs to and the time at which it expires. The servlet
//! never sees the key. The state is not encrypted: clients can read it.

use std::time::Duration;

use mcp_servlet_access::Owner;
use mcp_servlet_common::hex;
use mcp_servlet_runtime::JsonObject;
use rmcp::{
    ErrorData,
    model::{RequestStateCodec, SealOptions},
};
use serde_json::Value;

/// How long a signed state is valid.
const STATE_TTL: Duration = Duration::from_hours(1);

/// A signing key that lives as long as the server.
#[derive(Debug)]
pub(crate) struct Seal(RequestStateCodec);

impl Default for Seal {
    fn default() -> Self {
        let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key).expect("the system has randomness");
        Self(RequestStateCodec::new_unchecked(key))
    }
}

impl Seal {
    pub(crate) fn close(&self, state: &str, request: &Request<'_>) -> String {
        let request = request.to_bytes();
        let options = SealOptions::new().associated_data(&request).ttl(STATE_TTL);
        self.0.seal_with(state.as_bytes(), &options)
    }

    pub(crate) fn open(&self, sealed: &str, request: &Request<'_>) -> Result<String, ErrorData> {
        let state = self
            .0
            .open_with(sealed, &request.to_bytes())
            .map_err(|error| {
                // The client gets no details: it may be probing.
                tracing::debug!(%error, "invalid request state");
            });
        let state = state.and_then(|state| String::from_utf8(state).map_err(drop));
        state.map_err(|()| {
            let message = "`requestState` is not from this server, not for this request, or too old; \
                           call again without one";
            ErrorData::invalid_params(message, None)
        })
    }
}

/// The request that a state belongs to.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: Option<&'a JsonObject>,
    /// Who sends it, if the endpoint knows its callers.
    pub(crate) owner: Option<Owner>,
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
        }
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
