//! Requests to a registry: credentials, tokens, and attempts after an outage.
//!
//! See `docs/decisions/0066-own-client-of-registries.md`.

use std::{path::PathBuf, time::Duration};

use hyper::{
    Response, StatusCode,
    body::Incoming,
    header::{HeaderMap, RETRY_AFTER},
};
use mcp_servlet_http::{Operator, Request, SendError, Trust, failure, read_more};
use mcp_servlet_types::HttpErrorKind;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use url::Url;

use crate::{
    cache::Cache,
    credentials::{self, Credentials, auth_files},
    error::Error,
    key::VerifyingKey,
    pull::IMAGE_TIMEOUT,
    reference::Reference,
    token::{self, Challenge, Token},
};

/// The pauses before another attempt.
pub(crate) const RETRY_PAUSES: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

/// The longest pause that a registry may ask for.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(30);

/// How long a registry may send nothing.
pub(crate) const SILENCE_TIMEOUT: Duration = Duration::from_mins(1);

/// The bytes per second that a registry must take at least.
const MIN_BYTES_PER_SECOND: u64 = 16 << 10;

/// The limit for answers that are not part of an image, such as tokens and errors.
const MAX_ANSWER: u64 = 1 << 20;

/// How many characters are shown of an error that is not JSON.
const MAX_LINE: usize = 200;

/// How a [`Client`] reaches registries. The default follows the environment of the user.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A file with certificates that are trusted, too, in PEM.
    pub ca: Option<PathBuf>,
    /// The files with credentials.
    pub auth_files: Vec<PathBuf>,
    /// The cache of pulled manifests and layers.
    pub cache: Cache,
    /// Whether the last known image of a tag is used if the registry does not answer.
    pub last_known: bool,
    /// What is pulled must be signed by one key of each of these lists.
    pub signers: Vec<Vec<VerifyingKey>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ca: None,
            auth_files: auth_files(),
            cache: Cache::of_user(),
            last_known: false,
            signers: Vec::new(),
        }
    }
}

/// Pulls and pushes images.
pub struct Client {
    pub(crate) operator: Operator,
    pub(crate) settings: Settings,
}

/// The requests about one repository.
pub(crate) struct Session<'a> {
    pub(crate) client: &'a Client,
    pub(crate) reference: &'a Reference,
    base: Url,
    /// What the token must allow.
    actions: &'static str,
    /// The value of `Authorization`, once the registry has asked for one.
    authorization: Option<String>,
    /// The user whose credentials were sent.
    user: Option<String>,
}

/// A response, and the URL that it comes from.
pub(crate) struct Answer {
    pub(crate) response: Response<Incoming>,
    pub(crate) url: Url,
}

impl Client {
    /// A client with these settings.
    ///
    /// # Errors
    /// [`Error::Trust`] if certificates cannot be read.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let trust = Trust::of_operator(settings.ca.as_deref())?;
        Ok(Self {
            operator: Operator::new(trust),
            settings,
        })
    }

    pub(crate) fn session<'a>(
        &'a self,
        reference: &'a Reference,
        actions: &'static str,
    ) -> Result<Session<'a>, Error> {
        let base = reference
            .base()
            .parse()
            .map_err(|error| Error::InvalidReference {
                reference: reference.to_string(),
                problem: format!("{error}"),
            })?;
        Ok(Session {
            client: self,
            reference,
            base,
            actions,
            authorization: None,
            user: None,
        })
    }
}

impl Session<'_> {
    /// The URL of something in the repository.
    pub(crate) fn url(&self, path: &str) -> Url {
        let joined = self.base.join(path);
        joined.expect("tags and digests are parts of a path")
    }

    /// The host of the registry, for messages.
    pub(crate) fn host(&self) -> String {
        self.reference.host().to_owned()
    }

    /// Sends a request, with credentials if the registry asks for them.
    pub(crate) async fn send(&mut self, request: Request) -> Result<Answer, Error> {
        let answer = self.attempt(self.authorized(&request)).await?;
        // A server to which the request was redirected must not ask for credentials.
        if answer.response.status() != StatusCode::UNAUTHORIZED
            || answer.url.origin() != self.base.origin()
        {
            return Ok(answer);
        }
        self.authorize(answer.response.headers()).await?;
        let answer = self.attempt(self.authorized(&request)).await?;
        if answer.response.status() == StatusCode::UNAUTHORIZED {
            return Err(self.error(answer).await);
        }
        Ok(answer)
    }

    /// Sends a GET request as HEAD, to find out whether the registry has something. After any answer but yes or no, sends the
    /// GET request itself: the registry may not support HEAD, and a response to HEAD has no body that says what is wrong.
    pub(crate) async fn head(&mut self, request: Request) -> Result<Answer, Error> {
        let answer = self.send(request.clone().with_method("HEAD")).await?;
        match answer.response.status() {
            StatusCode::OK | StatusCode::NOT_FOUND => Ok(answer),
            _ => self.send(request).await,
        }
    }

    fn authorized(&self, request: &Request) -> Request {
        match &self.authorization {
            Some(value) if request.url.origin() == self.base.origin() => {
                request.clone().header("authorization", value)
            }
            _ => request.clone(),
        }
    }

    fn unauthorized(&self, message: String) -> Error {
        Error::Unauthorized {
            host: self.host(),
            user: self.user.clone(),
            files: self.client.settings.auth_files.clone(),
            message,
        }
    }

    /// Gets what the registry asks for.
    async fn authorize(&mut self, headers: &HeaderMap) -> Result<(), Error> {
        let files = &self.client.settings.auth_files;
        let credentials = credentials::find(files, self.reference).await?;
        self.user = credentials.as_ref().map(|found| found.user().to_owned());
        self.authorization = Some(match (Challenge::of(headers), &credentials) {
            (
                Some(Challenge::Bearer {
                    realm,
                    service,
                    scope,
                }),
                _,
            ) => {
                self.token(&realm, service.as_deref(), scope, credentials.as_ref())
                    .await?
            }
            (Some(Challenge::Basic), Some(Credentials::Basic { user, password })) => {
                token::basic(user, password)
            }
            _ => return Err(self.unauthorized(String::new())),
        });
        Ok(())
    }

    /// A token of the registry's token server.
    async fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        scope: Option<String>,
        credentials: Option<&Credentials>,
    ) -> Result<String, Error> {
        let unexpected = |message: String| Error::Unexpected {
            host: self.host(),
            status: StatusCode::UNAUTHORIZED.as_u16(),
            message,
        };
        let realm: Url = realm.parse().map_err(|error| {
            unexpected(format!("its token server `{realm}` is not a URL: {error}"))
        })?;
        // Only a registry that is not encrypted may have such a token server.
        if realm.scheme() != "https" && !self.reference.is_plain() {
            let message = format!("its token server `{realm}` is not `https`");
            return Err(unexpected(message));
        }
        let scope = scope
            .unwrap_or_else(|| format!("repository:{}:{}", self.reference.path(), self.actions));
        let answer = self
            .attempt(token::request(realm, service, &scope, credentials))
            .await?;
        match answer.response.status() {
            status if status.is_success() => {}
            // ghcr.io answers this to everyone without a login, for images that are private or do not exist.
            StatusCode::FORBIDDEN if credentials.is_none() => {
                return Err(self.unauthorized(self.message(answer).await));
            }
            _ => return Err(self.error(answer).await),
        }
        let json = self
            .read(answer, "answer of the token server", MAX_ANSWER)
            .await?;
        let token = serde_json::from_slice::<Token>(&json).ok();
        let authorization = token.and_then(Token::authorization);
        authorization.ok_or_else(|| unexpected("its token server sends no token".to_owned()))
    }

    /// Sends a request, and again if the server is overloaded or the connection breaks.
    async fn attempt(&self, request: Request) -> Result<Answer, Error> {
        let mut pauses = RETRY_PAUSES.into_iter();
        loop {
            let host = host(&request.url);
            let sent = self.client.operator.send(request.clone());
            let limit = time_limit(request.body_size());
            let sent = timeout(limit, sent)
                .await
                .unwrap_or_else(|_| Err(failure::timed_out(&request.url, limit).into()));
            let (pause, error) = match sent {
                Ok((response, url)) => {
                    let status = response.status();
                    let is_failure =
                        status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED;
                    if !is_failure && status != StatusCode::TOO_MANY_REQUESTS {
                        return Ok(Answer { response, url });
                    }
                    let after = retry_after(response.headers());
                    (after, self.error(Answer { response, url }).await)
                }
                Err(error) => {
                    let is_broken = is_broken(&error);
                    let error = Error::of_request(&host, self.reference, error);
                    if !is_broken {
                        return Err(error);
                    }
                    (None, error)
                }
            };
            let Some(next) = pauses.next() else {
                return Err(error);
            };
            let pause = pause.unwrap_or(next);
            if pause > MAX_RETRY_PAUSE {
                return Err(error);
            }
            tracing::debug!(host, ?pause, "another attempt after: {error}");
            sleep(pause).await;
        }
    }

    /// Reads the body of an answer.
    pub(crate) async fn read(
        &self,
        answer: Answer,
        what: &str,
        limit: u64,
    ) -> Result<Vec<u8>, Error> {
        let Answer { response, url } = answer;
        let mut bytes = Vec::new();
        let read = read_more(response, &url, &mut bytes, limit, SILENCE_TIMEOUT).await;
        match read {
            Ok(()) => Ok(bytes),
            Err(failure) if failure.kind == HttpErrorKind::TooLarge => Err(Error::too_large(
                format!("the {what}"),
                format!("{} MiB", limit >> 20),
            )),
            Err(failure) => Err(Error::of_request(
                &host(&url),
                self.reference,
                failure.into(),
            )),
        }
    }

    /// What the server says in an answer that is an error.
    async fn message(&self, answer: Answer) -> String {
        let read = self.read(answer, "error", MAX_ANSWER).await;
        read.map_or_else(|_| String::new(), |body| registry_message(&body))
    }

    /// The error that an answer is.
    pub(crate) async fn error(&self, answer: Answer) -> Error {
        let status = answer.response.status();
        let host = host(&answer.url);
        let after = retry_after(answer.response.headers());
        // Other servers, to which it redirects, get no credentials.
        let is_registry = answer.url.origin() == self.base.origin();
        let is_anonymous = self.authorization.is_some() && self.user.is_none();
        let message = self.message(answer).await;
        match status {
            StatusCode::UNAUTHORIZED => self.unauthorized(message),
            StatusCode::FORBIDDEN if is_registry && is_anonymous => self.unauthorized(message),
            StatusCode::FORBIDDEN => Error::Denied {
                reference: self.reference.to_string(),
                message,
            },
            StatusCode::TOO_MANY_REQUESTS => Error::RateLimited { host, after },
            _ => {
                let mut text = format!("status {}", status.as_u16());
                if !message.is_empty() {
                    text = format!("{text}, {message}");
                }
                Error::Unexpected {
                    host,
                    status: status.as_u16(),
                    message: text,
                }
            }
        }
    }
}

/// The host of a URL with its port, for messages.
pub(crate) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The time limit for the start of the response. It grows with the size of the body, because uplinks can be slow.
fn time_limit(body: usize) -> Duration {
    let sending = Duration::from_secs(body as u64 / MIN_BYTES_PER_SECOND);
    (SILENCE_TIMEOUT + sending).min(IMAGE_TIMEOUT)
}

/// Whether the connection broke, so that another attempt may succeed.
fn is_broken(error: &SendError) -> bool {
    matches!(error, SendError::Failed(failure) if failure.kind == HttpErrorKind::Connect)
}

/// The seconds in `Retry-After`.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// The code and the text of the first error in the answer of a registry, or else the first line of its text.
fn registry_message(body: &[u8]) -> String {
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        let text = String::from_utf8_lossy(body);
        let line = text.trim_start().lines().next().unwrap_or_default();
        // A page for browsers does not begin with what it says.
        let line = if line.starts_with('<') { "" } else { line };
        return line.trim_end().chars().take(MAX_LINE).collect();
    };
    let first = &json["errors"][0];
    let texts: Vec<_> = ["code", "message"]
        .map(|key| first[key].as_str().unwrap_or_default())
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_may_be_json_or_text() {
        for (body, message) in [
            (
                r#"{"errors":[{"code":"DENIED","message":"no"}]}"#,
                "DENIED: no",
            ),
            ("{}", ""),
            (
                "\nClient sent an HTTP request to an HTTPS server.\n",
                "Client sent an HTTP request to an HTTPS server.",
            ),
            ("<html>\n<body>Forbidden", ""),
            ("", ""),
        ] {
            assert_eq!(registry_message(body.as_bytes()), message);
        }
    }

    #[test]
    fn a_large_body_has_more_time() {
        for (body, seconds) in [(0, 60), (1 << 20, 124), (64 << 20, 600)] {
            assert_eq!(time_limit(body), Duration::from_secs(seconds));
        }
    }
}
