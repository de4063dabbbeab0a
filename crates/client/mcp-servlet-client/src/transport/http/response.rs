//! What is wrong with an HTTP response.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use rmcp::transport::auth::WWWAuthenticateParams;
use serde::Deserialize;
use serde::de::IgnoredAny;
use url::Url;

use super::cause::{advice, cause};
use super::{JSON, body, content_type};
use crate::error::{Error, ErrorKind};
use crate::incoming::{self, Mended, Message, Reply};
use crate::quote::start;
use crate::target::bare_url;

/// The most bytes of an error's body that are read.
const MAX_ERROR_BODY: usize = 64 << 10;
/// How much of a body an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// The credentials of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentCredentials {
    /// A token, from a login or from the options.
    Token,
    /// Others, such as a password.
    Other,
}

impl SentCredentials {
    /// The credentials in the headers of a target.
    pub(super) fn in_headers(headers: &HeaderMap) -> Option<Self> {
        let value = headers.get(AUTHORIZATION)?.as_bytes();
        let scheme = value.split(|byte| *byte == b' ').next()?;
        Some(if scheme.eq_ignore_ascii_case(b"bearer") {
            Self::Token
        } else {
            Self::Other
        })
    }
}

/// A request without a response.
pub(crate) fn not_sent(error: &reqwest::Error) -> Error {
    let what = if error.is_connect() {
        "cannot connect"
    } else {
        "the request failed"
    };
    let message = format!("{what}: {}", cause(error));
    let failed = Error::new(ErrorKind::Connectivity, message)
        .with_help(advice(error).unwrap_or("check the URL, and that the server runs"));
    if error.is_connect() {
        failed.unsent()
    } else {
        failed
    }
}

/// The challenge of a response for a login: the first `WWW-Authenticate` with the scheme `Bearer`. A response may have
/// challenges of other schemes, too.
pub(crate) fn bearer_challenge(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(WWW_AUTHENTICATE)
        .into_iter()
        .filter_map(|challenge| challenge.to_str().ok())
        .find(|challenge| {
            let mut schemes = challenge.split(',').map(str::trim_start);
            schemes.any(|part| {
                let scheme = part.split(' ').next().unwrap_or_default();
                scheme.eq_ignore_ascii_case("bearer")
            })
        })
}

/// The error for a response with any status but 2xx. `sent` says which credentials the request had, and `server` is what the help
/// calls the server.
pub(crate) async fn refused(
    response: Response,
    sent: Option<SentCredentials>,
    server: &str,
) -> Error {
    let status = response.status();
    let retry_after = header(&response, RETRY_AFTER.as_str());
    let challenge = bearer_challenge(response.headers()).map(str::to_owned);
    let has_challenge = response.headers().contains_key(WWW_AUTHENTICATE);
    let url = response.url().clone();
    let redirect = redirect(&response);
    let is_json = content_type(&response).is_some_and(|kind| kind.starts_with(JSON));
    let body = body(response, MAX_ERROR_BODY).await.unwrap_or_default();
    let body = String::from_utf8_lossy(&body);
    let is_of_login = match status {
        // Older servers with rmcp answer so to a session that they do not know.
        StatusCode::UNAUTHORIZED => has_challenge || !body.contains("Session not found"),
        StatusCode::FORBIDDEN => has_challenge,
        _ => false,
    };
    let error = if is_of_login {
        unauthorized(
            status,
            &url,
            challenge.as_deref().unwrap_or_default(),
            sent,
            server,
        )
    } else if let Some(error) = is_json.then(|| json_rpc_error(&body)).flatten() {
        error
    } else if let Some(url) = redirect {
        moved(status, &url)
    } else {
        failed(status, &body)
    };
    error.with_http(status.as_u16(), retry_after)
}

fn unauthorized(
    status: StatusCode,
    url: &Url,
    challenge: &str,
    sent: Option<SentCredentials>,
    server: &str,
) -> Error {
    let login = format!("servlet login {server}");
    let challenge = WWWAuthenticateParams::parse(challenge, url);
    if let Some(scope) = missing_scope(&challenge) {
        let message = format!("the token lacks the scope `{scope}` (HTTP {status})");
        return Error::new(ErrorKind::Authentication, message)
            .with_help(format!("log in again with `{login} --scope '{scope}'`"));
    }
    let what = match sent {
        None => "the server requires credentials",
        Some(SentCredentials::Token) => "the server refuses the token",
        Some(SentCredentials::Other) => "the server refuses the credentials",
    };
    let message = format!("{what} (HTTP {status})");
    let help = format!("log in with `{login}`, or send a valid token with each request");
    Error::new(ErrorKind::Authentication, message).with_help(help)
}

/// The scope of a challenge that asks for more. The help has it between quotation marks for a shell, so scopes with other
/// than ordinary characters are left out.
fn missing_scope(challenge: &WWWAuthenticateParams) -> Option<&str> {
    let scope = challenge.scope.as_deref()?.trim();
    let is_ordinary = |one: char| one.is_ascii_alphanumeric() || " :/._-*+,@~".contains(one);
    let is_shown = !scope.is_empty() && scope.len() <= 500 && scope.chars().all(is_ordinary);
    (challenge.is_insufficient_scope() && is_shown).then_some(scope)
}

fn failed(status: StatusCode, body: &str) -> Error {
    let is_temporary = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    let kind = if is_temporary {
        ErrorKind::Connectivity
    } else {
        ErrorKind::Protocol
    };
    let error = Error::new(
        kind,
        format!("the server answered with HTTP {status}{}", quoted(body)),
    );
    match status {
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            error.with_help("check the path of the URL, which is often `/mcp` or `/sse`")
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            error.with_help("try again later")
        }
        _ => error,
    }
}

fn moved(status: StatusCode, url: &Url) -> Error {
    let url = bare_url(url);
    let message = format!("the server redirects to `{url}` (HTTP {status}), which is not followed");
    let help = format!("use `{url}` if you trust it, or send a token if that is a login page");
    Error::new(ErrorKind::Protocol, message).with_help(help)
}

fn redirect(response: &Response) -> Option<Url> {
    let location = header(response, LOCATION.as_str())?;
    let is_redirect = response.status().is_redirection();
    response.url().join(&location).ok().filter(|_| is_redirect)
}

fn header(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

/// The JSON-RPC error in a body. Other errors are often texts.
fn json_rpc_error(body: &str) -> Option<Error> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(rename = "error")]
        _error: serde_json::Map<String, serde_json::Value>,
    }
    serde_json::from_str::<Body>(body).ok()?;
    let mut mended = Mended::default();
    let text = incoming::text(body.as_bytes(), &mut mended);
    match Message::read_body(&text, &mut mended)? {
        Message::Response {
            reply: Reply::Error(error),
            ..
        } => Some(Error::from_json_rpc(error)),
        _ => None,
    }
}

/// The error for what should be a message.
pub(super) fn no_message(body: &[u8]) -> Error {
    let text = String::from_utf8_lossy(body);
    let message = format!("expected a JSON-RPC message{}", found(&text));
    let error = Error::new(ErrorKind::ParseError, message);
    match serde_json::from_slice::<IgnoredAny>(body) {
        Ok(_) => error,
        Err(source) => error.with_source(source),
    }
}

/// The error for a line or for the data of an event, if it looks like a message and is not JSON.
pub(in crate::transport) fn not_json(text: &[u8]) -> Option<Error> {
    let is_similar = matches!(text.trim_ascii_start().first(), Some(b'{' | b'['));
    let is_json = || serde_json::from_slice::<IgnoredAny>(text).is_ok();
    (is_similar && !is_json()).then(|| no_message(text))
}

/// Whether a text is the response to a request.
pub(super) fn is_response(text: &str) -> bool {
    let mut mended = Mended::default();
    let message = Message::read(text, &mut mended);
    matches!(message, Some(Message::Response { .. }))
}

/// A response without a body to a request.
pub(super) fn nothing() -> Error {
    Error::new(
        ErrorKind::Protocol,
        "expected a JSON-RPC message, found nothing",
    )
}

/// No response at all to `server/discover`.
pub(super) fn no_answer(limit: Duration) -> Error {
    let message = format!("no response within {limit:?}");
    Error::new(ErrorKind::Protocol, message)
}

/// The error for an event stream that begins like one of HTTP+SSE.
pub(super) fn of_http_sse() -> Error {
    let message = "the server answered with the event stream of HTTP+SSE";
    Error::new(ErrorKind::Protocol, message)
        .with_help("choose the transport `sse`")
        .of_http_sse()
}

/// A body that is neither JSON nor an event stream.
pub(super) fn wrong_type(kind: Option<&str>) -> Error {
    let kind = kind.unwrap_or("no content type");
    let message = format!("expected `application/json` or `text/event-stream`, found `{kind}`");
    Error::new(ErrorKind::Protocol, message)
        .with_help("check the path of the URL, which is often `/mcp`")
}

fn quoted(body: &str) -> String {
    match body.trim() {
        "" => String::new(),
        body => format!(": {}", start(body, MAX_QUOTED_CHARS)),
    }
}

fn found(body: &str) -> String {
    match body.trim() {
        "" => ", found nothing".to_owned(),
        body => format!(", found `{}`", start(body, MAX_QUOTED_CHARS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_for_a_login_may_follow_others() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer_challenge(&headers), None);
        for challenge in ["Negotiate", "Basic realm=\"bearer\"", "bEARER scope=\"x\""] {
            let value = challenge.parse().expect("a value");
            headers.append(WWW_AUTHENTICATE, value);
        }
        assert_eq!(bearer_challenge(&headers), Some("bEARER scope=\"x\""));
        let both = "Basic realm=\"a\", Bearer scope=\"x\"";
        headers.insert(WWW_AUTHENTICATE, both.parse().expect("a value"));
        assert_eq!(bearer_challenge(&headers), Some(both));
    }
}
