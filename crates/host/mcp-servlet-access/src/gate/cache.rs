//! What is known of the tokens that were sent before.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use mcp_servlet_common::lock;

use super::{Known, Reason};
use crate::digest::Sha256;

/// How many tokens are known.
const MOST: usize = 10_000;
/// How long a refused token is known.
const REFUSED: Duration = Duration::from_secs(5);

/// The outcome of a check that does not depend on the request.
type Outcome = Result<Arc<Known>, Reason>;

#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<HashMap<Sha256, (Outcome, Instant)>>);

impl Cache {
    pub(super) fn get(&self, token: &Sha256) -> Option<Outcome> {
        let known = lock(&self.0);
        let (outcome, until) = known.get(token)?;
        (*until > Instant::now()).then(|| outcome.clone())
    }

    /// Keeps an outcome, unless it would be another one if an issuer answered.
    pub(super) fn insert(&self, token: Sha256, outcome: &Outcome) {
        if outcome.as_ref().is_err_and(|reason| reason.is_outage()) {
            return;
        }
        let now = Instant::now();
        let mut known = lock(&self.0);
        if known.len() >= MOST {
            known.retain(|_, (_, until)| *until > now);
        }
        if known.len() >= MOST {
            known.clear();
        }
        let time = outcome.as_ref().map_or(REFUSED, |known| known.kept);
        known.insert(token, (outcome.clone(), now + time));
    }
}
