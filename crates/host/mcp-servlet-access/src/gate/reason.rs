//! Why a request has no caller.

use http::StatusCode;

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
