//! The keys of an issuer, wherever they are.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use jsonwebtoken::{Algorithm, DecodingKey};
use mcp_servlet_common::lock;
use mcp_servlet_http::Trust;
use tokio::{sync::OwnedMutexGuard, time::Instant};
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
const DEFAULT_FRESH_TIME: Duration = Duration::from_hours(1);
const MIN_FRESH_TIME: Duration = Duration::from_mins(5);
/// How long keys are used if there are no newer ones.
const MAX_FRESH_TIME: Duration = Duration::from_hours(24);
/// The time between two looks because of a key that is not known, or because the last look failed.
const RETRY_PAUSE: Duration = Duration::from_secs(30);
/// The time between two looks as long as there are no keys at all. Clients are told to try again after it.
pub(crate) const RETRY_WITHOUT_KEYS: Duration = Duration::from_secs(5);

/// The keys of an issuer. Clones share what they have read.
#[derive(Clone)]
pub(crate) struct Keys {
    issuer: String,
    source: Source,
}

#[derive(Clone)]
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
        self.read
            .is_some_and(|read| read.elapsed() > MAX_FRESH_TIME)
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
            if state
                .missed
                .is_some_and(|missed| missed.elapsed() < RETRY_PAUSE)
            {
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
                let fresh = max_age
                    .unwrap_or(DEFAULT_FRESH_TIME)
                    .clamp(MIN_FRESH_TIME, MAX_FRESH_TIME);
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
                    RETRY_PAUSE
                } else {
                    RETRY_WITHOUT_KEYS
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
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    const KEY: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

    /// A server of keys.
    #[derive(Default)]
    struct Issuer {
        is_down: AtomicBool,
        /// The number of requests.
        asked: AtomicUsize,
    }

    impl Issuer {
        /// Starts it, and returns the URL of its keys.
        #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
        async fn start(self: &Arc<Self>) -> Url {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let issuer = Arc::clone(self);
            tokio::spawn(async move {
                while let Ok((mut stream, _)) = listener.accept().await {
                    // The request is short.
                    let _ = stream.read(&mut [0; 4096]).await;
                    issuer.asked.fetch_add(1, Ordering::Relaxed);
                    let (status, body) = if issuer.is_down.load(Ordering::Relaxed) {
                        ("503 Service Unavailable", "")
                    } else {
                        ("200 OK", KEY)
                    };
                    let length = body.len();
                    let response = format!(
                        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
                    );
                    let _ = stream.write_all(response.as_bytes()).await;
                }
            });
            Url::parse(&format!("http://{address}/keys")).expect("a URL")
        }
    }

    /// Lets time pass at once.
    async fn pass(time: Duration) {
        tokio::time::pause();
        tokio::time::advance(time).await;
        // The issuer needs time to answer.
        tokio::time::resume();
    }

    #[tokio::test]
    async fn previous_keys_are_used_for_a_day_while_their_issuer_is_down() {
        let issuer = Arc::new(Issuer::default());
        let source = KeySource::Published {
            url: Some(issuer.start().await),
            trust: Trust::default(),
        };
        let keys = Keys::new("https://login.example", &source);
        // The time that passes, whether the issuer is down then, whether a token has a key, and the number of requests to the issuer.
        for (after, is_down, has_key, asked) in [
            (Duration::ZERO, false, true, 1),
            (Duration::from_mins(59), true, true, 1),
            // The keys are no longer fresh.
            (Duration::from_mins(2), true, true, 2),
            (Duration::from_secs(15), true, true, 2),
            (Duration::from_secs(20), true, true, 3),
            (Duration::from_hours(22), true, true, 4),
            (Duration::from_hours(1), true, false, 5),
            (Duration::from_secs(1), false, false, 5),
            (Duration::from_secs(6), false, true, 6),
        ] {
            pass(after).await;
            issuer.is_down.store(is_down, Ordering::Relaxed);
            let found = keys.find(Algorithm::EdDSA, None).await;
            let expected = (!has_key).then_some(Reason::KeysUnreachable);
            assert_eq!(found.err(), expected, "{after:?}");
            assert_eq!(issuer.asked.load(Ordering::Relaxed), asked, "{after:?}");
        }
    }

    #[tokio::test]
    async fn unknown_keys_are_looked_for_every_thirty_seconds() {
        let issuer = Arc::new(Issuer::default());
        let source = KeySource::Published {
            url: Some(issuer.start().await),
            trust: Trust::default(),
        };
        let keys = Keys::new("https://login.example", &source);
        for (after, asked) in [(0, 2), (15, 2), (20, 3)] {
            pass(Duration::from_secs(after)).await;
            for number in 0..1_000 {
                let kid = format!("k{number}");
                let found = keys.find(Algorithm::EdDSA, Some(&kid)).await;
                assert_eq!(found.err(), Some(Reason::UnknownKey), "{kid}");
            }
            assert_eq!(issuer.asked.load(Ordering::Relaxed), asked, "{after} s");
        }
    }

    #[tokio::test]
    async fn an_issuer_that_hangs_delays_nobody_who_can_use_the_previous_keys() {
        let now = Instant::now();
        let keys = Arc::new(Jwks::parse(KEY.as_bytes()).expect("a key"));
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
