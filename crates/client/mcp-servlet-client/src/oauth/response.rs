//! Responses of authorization servers, in the form that rmcp reads.
//!
//! Many servers are not exact: `expires_in` is text, errors have the status 200, and registrations leave out what the
//! client has sent. Everything that a login needs is read here. Errors are in the words of OAuth.

use std::fmt;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode};
use rmcp::transport::auth::OAuthHttpClientError;
use serde_json::{Map, Value, json};

use super::failure::deepest;
use crate::quote::start;

/// How much of a body an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// What a request to an authorization server is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Metadata,
    Registration,
    Token,
}

/// What a request has led to.
type Answer = Result<Response<Vec<u8>>, OAuthHttpClientError>;

/// A refusal (RFC 6749, section 5.2), or why there is no usable response.
#[derive(Debug)]
struct Refusal {
    error: String,
    description: Option<String>,
}

impl Endpoint {
    pub(super) fn of<T>(request: &Request<T>) -> Self {
        let kind = request.headers().get(CONTENT_TYPE);
        let is_form = kind.is_some_and(|kind| kind == "application/x-www-form-urlencoded");
        match *request.method() {
            Method::POST if is_form => Self::Token,
            Method::POST => Self::Registration,
            _ => Self::Metadata,
        }
    }

    /// The answer to a request in the form that rmcp reads. It keeps the text of an error only if the error is one of
    /// OAuth, when it has asked for tokens.
    pub(super) fn normalize(self, answer: Answer) -> Answer {
        if self == Self::Metadata {
            return answer;
        }
        let answer = answer.map_err(|error| Refusal::from(deepest(&*error)));
        let members = answer.and_then(|response| read_members(&response));
        if self == Self::Registration {
            let client = members.and_then(|members| client(&members));
            return Ok(response(StatusCode::CREATED, &client?));
        }
        let tokens = members.and_then(|members| tokens(&members));
        Ok(match tokens {
            Ok(tokens) => response(StatusCode::OK, &tokens),
            Err(refusal) => response(StatusCode::BAD_REQUEST, &refusal.to_json()),
        })
    }
}

impl Refusal {
    fn to_json(&self) -> Value {
        let mut json = json!({ "error": self.error });
        if let Some(description) = &self.description {
            json["error_description"] = description.as_str().into();
        }
        json
    }
}

fn response(status: StatusCode, body: &Value) -> Response<Vec<u8>> {
    let mut response = Response::new(body.to_string().into_bytes());
    *response.status_mut() = status;
    response
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)?;
        match &self.description {
            Some(description) => write!(f, ": {description}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<String> for Refusal {
    fn from(error: String) -> Self {
        Self {
            error,
            description: None,
        }
    }
}

/// The members of a response. An error is one with any status.
fn read_members(response: &Response<Vec<u8>>) -> Result<Map<String, Value>, Refusal> {
    let members = serde_json::from_slice::<Map<String, Value>>(response.body());
    if let Ok(members) = &members
        && let Some(error) = members.get("error").filter(|error| !error.is_null())
    {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        return Err(Refusal {
            error: text(error).unwrap_or_else(|| error.to_string()),
            description: members.get("error_description").and_then(text),
        });
    }
    let status = response.status();
    if !status.is_success() {
        let body = String::from_utf8_lossy(response.body());
        return Err(Refusal {
            error: format!("HTTP {status}"),
            description: Some(start(body.trim(), MAX_QUOTED_CHARS)).filter(|body| !body.is_empty()),
        });
    }
    // Without the text of the body, which may have a token.
    members.map_err(|_| "the response is not a JSON object".to_owned().into())
}

/// A token response (RFC 6749, section 5.1).
fn tokens(members: &Map<String, Value>) -> Result<Value, Refusal> {
    let mut tokens = json!({
        "access_token": required(members, "access_token")?,
        "token_type": required(members, "token_type")?,
    });
    if let Some(token) = optional(members, "refresh_token")? {
        tokens["refresh_token"] = token.into();
    }
    if let Some(seconds) = members.get("expires_in").and_then(seconds) {
        tokens["expires_in"] = seconds.into();
    }
    if let Some(scopes) = members.get("scope").and_then(Value::as_array) {
        let scopes: Vec<_> = scopes.iter().filter_map(Value::as_str).collect();
        tokens["scope"] = scopes.join(" ").into();
    } else if let Some(scopes) = optional(members, "scope")? {
        tokens["scope"] = scopes.into();
    }
    Ok(tokens)
}

/// A registered client (RFC 7591, section 3.2.1). rmcp uses nothing else of it, but wants `redirect_uris`.
fn client(members: &Map<String, Value>) -> Result<Value, Refusal> {
    Ok(json!({
        "client_id": required(members, "client_id")?,
        "client_secret": optional(members, "client_secret")?,
        "redirect_uris": [],
    }))
}

fn required<'a>(members: &'a Map<String, Value>, name: &str) -> Result<&'a str, Refusal> {
    optional(members, name)?.ok_or_else(|| format!("the response has no member `{name}`").into())
}

fn optional<'a>(members: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Refusal> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("the member `{name}` of the response must be a string").into()),
    }
}

/// A lifetime in whole seconds. One that makes no sense counts as unknown, and the token is used until it is refused.
fn seconds(value: &Value) -> Option<u64> {
    let seconds = match value {
        Value::String(text) => text.trim().parse().ok()?,
        value => value.as_f64()?,
    };
    let lifetime = Duration::try_from_secs_f64(seconds).ok()?;
    Some(lifetime.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(endpoint: Endpoint, status: u16, body: &str) -> Result<Value, String> {
        let status = StatusCode::from_u16(status).expect("a status");
        let mut answer = Response::new(body.as_bytes().to_owned());
        *answer.status_mut() = status;
        let answer = endpoint
            .normalize(Ok(answer))
            .map_err(|error| error.to_string())?;
        let body: Value = serde_json::from_slice(answer.body()).expect("JSON");
        if answer.status().is_success() {
            return Ok(body);
        }
        let refusal = Refusal {
            error: body["error"].as_str().expect("a code").to_owned(),
            description: body["error_description"].as_str().map(str::to_owned),
        };
        Err(refusal.to_string())
    }

    #[test]
    fn lifetimes_are_numbers_in_any_form() {
        for (written, read) in [
            ("3600", json!(3600)),
            ("3600.0", json!(3600)),
            ("3599.9", json!(3599)),
            (r#""3600""#, json!(3600)),
            (r#"" 3600.5 ""#, json!(3600)),
            ("0", json!(0)),
            ("-1", Value::Null),
            (r#""never""#, Value::Null),
            (r#""NaN""#, Value::Null),
            ("1e300", Value::Null),
            ("null", Value::Null),
            ("[3600]", Value::Null),
        ] {
            let body = format!(
                r#"{{ "access_token": "a", "token_type": "Bearer", "expires_in": {written} }}"#
            );
            let tokens = normalized(Endpoint::Token, 200, &body).expect("tokens");
            assert_eq!(tokens["expires_in"], read, "{written}");
        }
    }

    #[test]
    fn members_that_a_login_does_not_need_may_be_null_or_missing() {
        let tokens = r#"{ "access_token": "a", "token_type": "bearer", "refresh_token": null,
            "scope": ["read", "write"], "id_token": null }"#;
        assert_eq!(
            normalized(Endpoint::Token, 201, tokens),
            Ok(json!({ "access_token": "a", "token_type": "bearer", "scope": "read write" }))
        );
        let client = r#"{ "client_id": "c", "redirect_uris": null }"#;
        assert_eq!(
            normalized(Endpoint::Registration, 200, client),
            Ok(json!({ "client_id": "c", "client_secret": null, "redirect_uris": [] }))
        );
    }

    #[test]
    fn errors_say_what_the_server_says_or_which_member_is_wrong() {
        for (endpoint, status, body, error) in [
            (
                Endpoint::Token,
                200,
                r#"{ "error": "bad_verification_code", "error_description": "The code has expired." }"#,
                "bad_verification_code: The code has expired.",
            ),
            (
                Endpoint::Registration,
                400,
                r#"{ "error": "invalid_redirect_uri", "error_description": null }"#,
                "invalid_redirect_uri",
            ),
            (
                Endpoint::Registration,
                403,
                "Registration is closed.",
                "HTTP 403 Forbidden: Registration is closed.",
            ),
            (Endpoint::Token, 502, "", "HTTP 502 Bad Gateway"),
            (
                Endpoint::Token,
                200,
                "access_token=a",
                "the response is not a JSON object",
            ),
            (
                Endpoint::Token,
                200,
                r#"{ "token_type": "Bearer" }"#,
                "the response has no member `access_token`",
            ),
            (
                Endpoint::Registration,
                201,
                r#"{ "client_id": 42 }"#,
                "the member `client_id` of the response must be a string",
            ),
        ] {
            assert_eq!(normalized(endpoint, status, body), Err(error.to_owned()));
        }
    }
}
