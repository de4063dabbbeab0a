//! Why a request has no caller.

use http::StatusCode;
use serde_json::Value;

/// Why a request has no caller. Operators learn it, clients do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// There are no credentials.
    NoCredentials,
    /// There are several credentials.
    SeveralCredentials,
    /// The scheme is not `Bearer`.
    Scheme,
    /// The token is in the URL.
    TokenInUrl,
    /// The token is too long.
    TooLong,
    /// The token is no JWT.
    NotJwt,
    /// The head of the JWT is not valid.
    Head,
    /// The algorithm is not accepted.
    Algorithm,
    /// The head has `crit`.
    Crit,
    /// The type is not accepted.
    Type,
    /// The claims are not valid.
    Claims,
    /// The issuer is not known.
    Issuer,
    /// The issuer has no such key.
    UnknownKey,
    /// The head names no key, and there are several.
    NoKid,
    /// The key is not for signatures.
    KeyUse,
    /// The key is for another algorithm.
    KeyKind,
    /// The key is too small or too large.
    KeySize,
    /// The signature is wrong.
    Signature,
    /// The token does not say when it ends.
    NoExp,
    /// The token has ended.
    Expired,
    /// The token has not begun.
    NotYet,
    /// The token is for another server.
    Audience,
    /// The subject is missing or not valid.
    Subject,
    /// The token belongs to another certificate, or is bound in a way that is not checked here.
    Binding,
    /// There is no such key in the configuration.
    Key,
    /// The key of the configuration has ended.
    KeyExpired,
    /// The certificate does not have the name of a caller.
    CertificateName,
    /// The caller lacks a scope.
    Scope,
    /// A condition of the configuration rejects the client.
    Rejected,
    /// The tool in `on_session` refuses the client.
    SessionRefused,
    /// The tool in `on_session` gave no answer.
    NoSessionAnswer,
    /// The keys of the issuer cannot be read.
    KeysUnreachable,
    /// The issuer says that the token is not valid.
    Inactive,
    /// The issuer does not say whether the token is valid.
    Introspection,
}

/// A reason, and what the operator learns about it. Values of tokens are cut and escaped, because their senders choose them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) reason: Reason,
    /// What was expected and found. None if the reason says it all.
    pub(super) detail: Option<String>,
}

/// How many characters of a value are shown.
const MAX_SHOWN: usize = 100;

/// A value of a token or of a document, cut and escaped.
pub(crate) fn shown(value: &Value) -> String {
    let json = value.to_string();
    let text = value.as_str().unwrap_or(&json);
    let mut shown = String::new();
    for one in text.chars().take(MAX_SHOWN) {
        match one {
            '"' | '\'' => shown.push(one),
            _ => shown.extend(one.escape_debug()),
        }
    }
    let more = text.chars().nth(MAX_SHOWN).map_or("", |_| "…");
    format!("`{shown}{more}`")
}

impl Fault {
    /// The token has another value for `name` than the expected ones.
    pub(super) fn unexpected<E: Into<Value>>(
        reason: Reason,
        name: &str,
        found: Option<&Value>,
        expected: impl IntoIterator<Item = E>,
    ) -> Self {
        let expected: Vec<_> = expected.into_iter().map(|one| shown(&one.into())).collect();
        let expected = expected.join(" or ");
        let found = found.map_or("none".to_owned(), shown);
        Self {
            reason,
            detail: Some(format!("expected `{name}` {expected}, found {found}")),
        }
    }
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Self {
        Self {
            reason,
            detail: None,
        }
    }
}

/// What a client learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasonKind {
    /// The request is malformed.
    Malformed,
    /// It has to send a token.
    NoToken,
    /// It needs another token.
    InvalidToken,
    /// It needs more scopes.
    Scope,
    /// It may try again later.
    Outage,
}

impl Reason {
    /// The name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoCredentials => "no_credentials",
            Self::SeveralCredentials => "several_credentials",
            Self::Scheme => "scheme",
            Self::TokenInUrl => "token_in_url",
            Self::TooLong => "too_long",
            Self::NotJwt => "not_jwt",
            Self::Head => "head",
            Self::Algorithm => "algorithm",
            Self::Crit => "crit",
            Self::Type => "type",
            Self::Claims => "claims",
            Self::Issuer => "issuer",
            Self::UnknownKey => "unknown_key",
            Self::NoKid => "no_kid",
            Self::KeyUse => "key_use",
            Self::KeyKind => "key_kind",
            Self::KeySize => "key_size",
            Self::Signature => "signature",
            Self::NoExp => "no_exp",
            Self::Expired => "expired",
            Self::NotYet => "not_yet",
            Self::Audience => "audience",
            Self::Subject => "subject",
            Self::Binding => "binding",
            Self::Key => "key",
            Self::KeyExpired => "key_expired",
            Self::CertificateName => "certificate_name",
            Self::Scope => "scope",
            Self::Rejected => "rejected",
            Self::SessionRefused => "session_refused",
            Self::NoSessionAnswer => "no_session_answer",
            Self::KeysUnreachable => "keys_unreachable",
            Self::Inactive => "inactive",
            Self::Introspection => "introspection",
        }
    }

    /// Whether the same credentials may be accepted once the issuer answers again.
    pub(super) fn is_outage(self) -> bool {
        self.kind() == ReasonKind::Outage
    }

    pub(super) fn kind(self) -> ReasonKind {
        match self {
            Self::SeveralCredentials | Self::TokenInUrl => ReasonKind::Malformed,
            Self::NoCredentials | Self::Scheme | Self::CertificateName => ReasonKind::NoToken,
            Self::Scope => ReasonKind::Scope,
            Self::KeysUnreachable | Self::Introspection | Self::NoSessionAnswer => {
                ReasonKind::Outage
            }
            _ => ReasonKind::InvalidToken,
        }
    }
}

impl ReasonKind {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::NoToken | Self::InvalidToken => StatusCode::UNAUTHORIZED,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::Outage => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_detail_is_short_and_has_one_line() {
        let long = "x".repeat(101);
        let cut = &long[..MAX_SHOWN];
        for (found, expected) in [
            (Some(json!("https://a/")), "`https://a/`".to_owned()),
            (Some(json!(["a", "b"])), r#"`["a","b"]`"#.to_owned()),
            (Some(json!("a\nb\u{1b}[0m")), "`a\\nb\\u{1b}[0m`".to_owned()),
            (Some(json!(long)), format!("`{cut}…`")),
            (None, "none".to_owned()),
        ] {
            let fault = Fault::unexpected(Reason::Audience, "aud", found.as_ref(), ["b", "c"]);
            let detail = format!("expected `aud` `b` or `c`, found {expected}");
            assert_eq!(fault.detail, Some(detail));
        }
    }
}
