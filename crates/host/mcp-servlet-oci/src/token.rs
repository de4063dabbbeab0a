//! What a registry asks for with the status 401, and the tokens of its token server.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hyper::header::{HeaderMap, WWW_AUTHENTICATE};
use mcp_servlet_http::Request;
use serde::Deserialize;
use url::{Url, form_urlencoded};

use crate::credentials::Credentials;

/// What a registry asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// A token of a server.
    Bearer {
        realm: String,
        service: Option<String>,
        scope: Option<String>,
    },
    /// A user and a password.
    Basic,
}

/// The answer of a token server.
#[derive(Deserialize)]
pub(crate) struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl Token {
    /// The value of `Authorization`.
    pub(crate) fn authorization(self) -> Option<String> {
        let mut tokens = [self.token, self.access_token].into_iter().flatten();
        let token = tokens.find(|token| !token.is_empty())?;
        Some(format!("Bearer {token}"))
    }
}

impl Challenge {
    /// The challenge of a response: for a token if there are several.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).into_iter();
        let texts = values.filter_map(|value| value.to_str().ok());
        let challenges = texts.flat_map(split).filter_map(|text| Self::parse(&text));
        challenges.max_by_key(|challenge| *challenge != Self::Basic)
    }

    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let parameters = parameters(rest);
        let get = |name: &str| {
            let mut found = parameters
                .iter()
                .filter(|(key, _)| key.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.clone())
        };
        Some(Self::Bearer {
            realm: get("realm")?,
            service: get("service"),
            scope: get("scope"),
        })
    }
}

/// The challenges of a header. Commas separate them, and also their parameters: a part that is only `name=value` belongs to the
/// challenge before it.
fn split(text: &str) -> Vec<String> {
    let mut is_quoted = false;
    let parts = text.split(|one: char| {
        is_quoted ^= one == '"';
        one == ',' && !is_quoted
    });
    let mut found: Vec<String> = Vec::new();
    for part in parts {
        let name = part.split_once('=').map(|(name, _)| name.trim());
        match found.last_mut() {
            Some(last) if name.is_some_and(|name| !name.contains(' ')) => {
                last.push(',');
                last.push_str(part);
            }
            _ => found.push(part.to_owned()),
        }
    }
    found
}

/// The parameters of a challenge: `name="value"` or `name=value`, between commas.
fn parameters(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let name = name.trim_matches([',', ' ']).to_owned();
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(',').unwrap_or((rest, "")),
        };
        found.push((name, value.trim().to_owned()));
        text = rest;
    }
    found
}

/// The value of `Authorization` for a user and a password.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!(
        "Basic {}",
        BASE64_STANDARD.encode(format!("{user}:{password}"))
    )
}

/// The request for a token.
pub(crate) fn request(
    mut realm: Url,
    service: Option<&str>,
    scope: &str,
    credentials: Option<&Credentials>,
) -> Request {
    if let Some(Credentials::Identity(token)) = credentials {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "refresh_token")
            .append_pair("client_id", "servlet")
            .append_pair("refresh_token", token)
            .append_pair("scope", scope);
        if let Some(service) = service {
            form.append_pair("service", service);
        }
        return Request::new("POST", realm)
            .header("content-type", "application/x-www-form-urlencoded")
            .with_body(form.finish());
    }
    {
        let mut query = realm.query_pairs_mut();
        if let Some(service) = service {
            query.append_pair("service", service);
        }
        query.append_pair("scope", scope);
    }
    let request = Request::get(realm);
    match credentials {
        Some(Credentials::Basic { user, password }) => {
            request.header("authorization", basic(user, password))
        }
        _ => request,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_challenges() {
        let bearer = |realm: &str, service: Option<&str>, scope: Option<&str>| {
            Some(Challenge::Bearer {
                realm: realm.to_owned(),
                service: service.map(str::to_owned),
                scope: scope.map(str::to_owned),
            })
        };
        for (text, challenge) in [
            (
                r#"Bearer realm="https://a/token",service="a",scope="repository:x:pull,push""#,
                bearer("https://a/token", Some("a"), Some("repository:x:pull,push")),
            ),
            (
                r#"bearer realm=https://a/token, service="b c""#,
                bearer("https://a/token", Some("b c"), None),
            ),
            (r#"Basic realm="Registry""#, Some(Challenge::Basic)),
            ("Basic", Some(Challenge::Basic)),
            (r#"Bearer service="a""#, None),
            (r#"Digest realm="a""#, None),
            ("", None),
        ] {
            assert_eq!(Challenge::parse(text), challenge, "{text}");
        }
    }

    #[test]
    fn a_token_is_preferred_to_the_password() {
        let (basic, bearer) = (
            r#"Basic realm="a, b", charset="UTF-8""#,
            r#"Bearer realm="https://a/t",service="c""#,
        );
        let (together, reverse) = (format!("{basic}, {bearer}"), format!("{bearer}, {basic}"));
        for values in [
            &[basic, bearer][..],
            &[together.as_str()],
            &[reverse.as_str()],
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(WWW_AUTHENTICATE, value.parse().expect("a header"));
            }
            let expected = Challenge::Bearer {
                realm: "https://a/t".to_owned(),
                service: Some("c".to_owned()),
                scope: None,
            };
            assert_eq!(Challenge::of(&headers), Some(expected), "{values:?}");
        }
    }
}
