//! What is known of the tokens that were sent before.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use mcp_servlet_common::lock;

use super::{Known, reason::Fault};
use crate::digest::Sha256;

/// How many accepted tokens are known, and how many refused ones.
const MAX_KNOWN_TOKENS: usize = 10_000;
/// How long a refused token is known.
const REFUSED_TOKEN_LIFE: Duration = Duration::from_secs(5);

/// The outcome of a check that does not depend on the request.
type Outcome = Result<Arc<Known>, Fault>;

type Tokens = HashMap<Sha256, (Outcome, Instant)>;

/// Refused tokens have a map of their own: anyone can send them, and they must not push out accepted ones.
#[derive(Debug, Default)]
pub(super) struct Cache {
    accepted: Mutex<Tokens>,
    refused: Mutex<Tokens>,
}

impl Cache {
    pub(super) fn get(&self, token: &Sha256) -> Option<Outcome> {
        let now = Instant::now();
        [&self.accepted, &self.refused]
            .into_iter()
            .find_map(|tokens| {
                let known = lock(tokens);
                let (outcome, until) = known.get(token)?;
                (*until > now).then(|| outcome.clone())
            })
    }

    /// Caches an outcome, unless it is an outage.
    pub(super) fn insert(&self, token: Sha256, outcome: &Outcome) {
        let (tokens, time) = match outcome {
            Ok(known) => (&self.accepted, known.kept),
            Err(fault) if fault.reason.is_outage() => return,
            Err(_) => (&self.refused, REFUSED_TOKEN_LIFE),
        };
        let now = Instant::now();
        let mut known = lock(tokens);
        if known.len() >= MAX_KNOWN_TOKENS {
            known.retain(|_, (_, until)| *until > now);
        }
        if known.len() >= MAX_KNOWN_TOKENS {
            known.clear();
        }
        known.insert(token, (outcome.clone(), now + time));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::caller::{Caller, CallerKind};
    use crate::gate::Reason;

    fn accepted() -> Arc<Known> {
        let caller = Caller {
            kind: CallerKind::Jwt,
            auth: String::new(),
            subject: "ann".to_owned(),
            issuer: None,
            client: None,
            scopes: BTreeSet::new(),
            roles: BTreeSet::new(),
            claims: serde_json::Map::new(),
            certificate: None,
            until: None,
        };
        Arc::new(Known {
            caller: Arc::new(caller),
            from: None,
            until: None,
            binding: None,
            kept: Duration::from_mins(1),
        })
    }

    #[test]
    fn refused_tokens_push_out_no_accepted_one() {
        let cache = Cache::default();
        let token = Sha256::of(b"ann");
        cache.insert(token, &Ok(accepted()));
        for number in 0..=MAX_KNOWN_TOKENS {
            let refused = Sha256::of(&number.to_be_bytes());
            cache.insert(refused, &Err(Reason::Signature.into()));
        }
        assert!(cache.get(&token).is_some_and(|known| known.is_ok()));
        let last = Sha256::of(&MAX_KNOWN_TOKENS.to_be_bytes());
        assert!(cache.get(&last).is_some_and(|known| known.is_err()));
    }
}
