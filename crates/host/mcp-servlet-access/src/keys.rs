//! The keys of an issuer, wherever they are.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use jsonwebtoken::{Algorithm, DecodingKey};
use mcp_servlet_common::lock;
use mcp_servlet_http::Trust;
use tokio::sync::OwnedMutexGuard;
use url::Url;

use crate::{
    fetch::{Document, Fetch, FetchError},
    gate::Reason,
    jwks::{Jwks, JwksError},
};

/// Where the keys of an issuer are.
#[derive(Clone, Debug, PartialEq)]
pub enum KeySource {
    /// They are known.
    Known(Jwks),
    /// At a URL, or where the issuer's metadata says.
    Published {
        /// The URL. `None` stands for the one in the metadata of the issuer.
        url: Option<Url>,
        /// The authorities that may vouch for the server.
        trust: Trust,
    },
}

/// How long keys are used without another look, and the bounds of what their server may say about it.
const FRESH: Duration = Duration::from_hours(1);
const LEAST_FRESH: Duration = Duration::from_mins(5);
/// How long keys are used if there are no newer ones.
const MOST_FRESH: Duration = Duration::from_hours(24);
/// The time between two looks because of a key that is not known, or because the last look failed.
const AGAIN: Duration = Duration::from_secs(30);
/// The time between two looks as long as there are no keys at all. Clients are told to try again after it.
pub(crate) const UNREACHABLE: Duration = Duration::from_secs(5);

/// The keys of an issuer.
pub(crate) struct Keys {
    issuer: String,
    source: Source,
}

enum Source {
    Known(Jwks),
    Published(Arc<Published>),
}

struct Published {
    url: Option<Url>,
    fetch: Fetch,
    state: Mutex<State>,
    /// Held while the keys are read, which is done once at a time.
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct State {
    keys: Option<Arc<Jwks>>,
    /// When the keys were read.
    read: Option<Instant>,
    /// When they are to be read again.
    stale: Option<Instant>,
    /// When they were last read because of a key that is not known.
    missed: Option<Instant>,
}

impl State {
    /// Whether the keys are no longer used, even if there are no newer ones.
    fn is_too_old(&self) -> bool {
        self.read.is_some_and(|read| read.elapsed() > MOST_FRESH)
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Keys").field(&self.issuer).finish()
    }
}

/// Why keys could not be read.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Keys(#[from] JwksError),
}

impl Keys {
    pub(crate) fn new(issuer: &str, source: &KeySource) -> Self {
        let source = match source {
            KeySource::Known(keys) => Source::Known(keys.clone()),
            KeySource::Published { url, trust } => Source::Published(Arc::new(Published {
                url: url.clone(),
                fetch: Fetch::new(trust),
                state: Mutex::default(),
                reading: Arc::default(),
            })),
        };
        Self {
            issuer: issuer.to_owned(),
            source,
        }
    }

    /// Reads the keys, if they are published.
    pub(crate) async fn prepare(&self) {
        if let Source::Published(published) = &self.source {
            // The log says what is wrong.
            let _ = published.current(&self.issuer).await;
        }
    }

    /// The key for a token with this algorithm and `kid`.
    pub(crate) async fn find(
        &self,
        algorithm: Algorithm,
        kid: Option<&str>,
    ) -> Result<DecodingKey, Reason> {
        let published = match &self.source {
            Source::Known(keys) => return keys.find(algorithm, kid),
            Source::Published(published) => published,
        };
        let keys = published.current(&self.issuer).await?;
        match keys.find(algorithm, kid) {
            Err(Reason::UnknownKey) => {}
            found => return found,
        }
        // The issuer may have a new key.
        match published.newer(&self.issuer, &keys).await {
            Some(keys) => keys.find(algorithm, kid),
            None => Err(Reason::UnknownKey),
        }
    }
}

impl Published {
    /// The keys, which are read again from time to time.
    async fn current(self: &Arc<Self>, issuer: &str) -> Result<Arc<Jwks>, Reason> {
        if let Some(keys) = self.fresh() {
            return keys;
        }
        let reading = match Arc::clone(&self.reading).try_lock_owned() {
            Ok(reading) => reading,
            // An issuer that hangs delays no more than one request.
            Err(_) => match self.previous() {
                Some(keys) => return Ok(keys),
                None => Arc::clone(&self.reading).lock_owned().await,
            },
        };
        // Another request may have read them meanwhile.
        if let Some(keys) = self.fresh() {
            return keys;
        }
        self.read(issuer, reading).await;
        lock(&self.state)
            .keys
            .clone()
            .ok_or(Reason::KeysUnreachable)
    }

    /// What is known without another look. None if it is time for one.
    fn fresh(&self) -> Option<Result<Arc<Jwks>, Reason>> {
        let state = lock(&self.state);
        let is_fresh = state.stale.is_some_and(|stale| Instant::now() < stale);
        is_fresh.then(|| state.keys.clone().ok_or(Reason::KeysUnreachable))
    }

    /// Keys that are used as long as there are no newer ones.
    fn previous(&self) -> Option<Arc<Jwks>> {
        let state = lock(&self.state);
        if state.is_too_old() {
            return None;
        }
        state.keys.clone()
    }

    /// Keys that are newer than these, if it is not too soon to look for them.
    async fn newer(self: &Arc<Self>, issuer: &str, known: &Arc<Jwks>) -> Option<Arc<Jwks>> {
        let reading = Arc::clone(&self.reading).lock_owned().await;
        {
            let mut state = lock(&self.state);
            let keys = state.keys.as_ref()?;
            if !Arc::ptr_eq(keys, known) {
                return Some(Arc::clone(keys));
            }
            if state.missed.is_some_and(|missed| missed.elapsed() < AGAIN) {
                return None;
            }
            state.missed = Some(Instant::now());
        }
        self.read(issuer, reading).await;
        let keys = lock(&self.state).keys.clone()?;
        (!Arc::ptr_eq(&keys, known)).then_some(keys)
    }

    /// Reads the keys. That goes on if the client of the request leaves, because nobody else would look again for a while.
    async fn read(self: &Arc<Self>, issuer: &str, reading: OwnedMutexGuard<()>) {
        let (published, issuer) = (Arc::clone(self), issuer.to_owned());
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with one request, which has a time limit, and only stores the keys"
        )]
        let task = tokio::spawn(async move {
            published.update(&issuer).await;
            drop(reading);
        });
        if let Err(error) = task.await {
            tracing::error!(%error, "the keys of an issuer were not read");
        }
    }

    /// Reads the keys. If that fails, the previous ones are used until they are a day old.
    async fn update(&self, issuer: &str) {
        let read = self.fetched(issuer).await;
        let mut state = lock(&self.state);
        let now = Instant::now();
        match read {
            Ok((keys, max_age)) => {
                let fresh = max_age.unwrap_or(FRESH).clamp(LEAST_FRESH, MOST_FRESH);
                state.keys = Some(Arc::new(keys));
                state.read = Some(now);
                state.stale = Some(now + fresh);
            }
            Err(error) => {
                tracing::warn!(issuer, %error, "cannot read the keys of an issuer");
                if state.is_too_old() {
                    state.keys = None;
                }
                let wait = if state.keys.is_some() {
                    AGAIN
                } else {
                    UNREACHABLE
                };
                state.stale = Some(now + wait);
            }
        }
    }

    async fn fetched(&self, issuer: &str) -> Result<(Jwks, Option<Duration>), ReadError> {
        let Document { json, max_age } = match &self.url {
            Some(url) => self.fetch.get(url).await?,
            None => self.fetch.keys_of(issuer).await?,
        };
        Ok((Jwks::parse(&json)?, max_age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_issuer_that_hangs_delays_nobody_who_can_use_the_previous_keys() {
        let now = Instant::now();
        let key = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        let keys = Arc::new(Jwks::parse(key.as_bytes()).expect("a key"));
        let state = State {
            keys: Some(Arc::clone(&keys)),
            read: Some(now),
            stale: Some(now),
            missed: None,
        };
        let published = Arc::new(Published {
            url: None,
            fetch: Fetch::new(&Trust::default()),
            state: Mutex::new(state),
            reading: Arc::default(),
        });
        // Another request waits for the issuer.
        let _reading = published.reading.lock().await;
        let current = published.current("https://login.example");
        let current = tokio::time::timeout(Duration::from_secs(1), current).await;
        assert!(Arc::ptr_eq(
            &current.expect("no wait").expect("keys"),
            &keys
        ));
    }
}
