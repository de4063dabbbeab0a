//! What a client without access learns.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{Value, json};
use url::Url;

use super::{
    Gate, Reason, Refusal,
    reason::{Fault, ReasonKind},
};
use crate::keys::RETRY_WITHOUT_KEYS;

/// Where the metadata of a protected resource is, before the path of the resource (RFC 9728).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The path of the resource whose metadata a request to `path` asks for.
pub fn metadata_path(path: &str) -> Option<&str> {
    let resource = path.strip_prefix(WELL_KNOWN)?;
    (resource.is_empty() || resource.starts_with('/')).then_some(resource)
}

impl Gate {
    /// What tells clients how to get a token (RFC 9728). None if no tokens are accepted.
    pub fn metadata(&self) -> Option<Value> {
        let options = &self.options;
        let resource = options.resource.as_ref().filter(|_| self.has_issuers())?;
        let issuers = options.jwt.iter().map(|one| &one.issuer);
        let asked = options.introspection.iter().map(|one| &one.issuer);
        let issuers: BTreeSet<_> = issuers.chain(asked).collect();
        let mut metadata = json!({
            "resource": resource,
            "resource_name": options.realm,
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
        });
        if !options.scopes_supported.is_empty() {
            metadata["scopes_supported"] = json!(options.scopes_supported);
        }
        Some(metadata)
    }

    /// Whether clients call the endpoint at this path, as its metadata says. A proxy can change the path on the way.
    pub fn is_called_at(&self, path: &str) -> bool {
        let url = self.options.resource.as_deref().map(Url::parse);
        url.and_then(Result::ok).is_some_and(|url| {
            let own = url.path().trim_end_matches('/');
            own == path.trim_end_matches('/')
        })
    }

    /// The URL of the metadata.
    fn metadata_url(&self) -> Option<Url> {
        let resource = self
            .options
            .resource
            .as_ref()
            .filter(|_| self.has_issuers())?;
        let mut url = Url::parse(resource).ok()?;
        let path = format!("{WELL_KNOWN}{}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        Some(url)
    }

    fn has_issuers(&self) -> bool {
        self.options.has_issuers()
    }

    pub(super) fn refusal(&self, fault: Fault) -> Refusal {
        Refusal {
            detail: fault.detail,
            ..self.refusal_for(fault.reason, &self.options.scopes)
        }
    }

    /// The refusal of a request that needs these scopes.
    pub(super) fn refusal_for(&self, reason: Reason, scopes: &BTreeSet<String>) -> Refusal {
        let kind = reason.kind();
        let message = match (kind, reason) {
            (ReasonKind::Malformed, Reason::TokenInUrl) => {
                "a token in a URL ends up in logs; send it in the header `Authorization`"
            }
            (ReasonKind::Malformed, _) => "expected one token or key, found several",
            (ReasonKind::NoToken, _) => "authentication is required: send a token or a key",
            (ReasonKind::InvalidToken, _) => INVALID_TOKEN,
            (ReasonKind::Outage, _) => "the token cannot be checked now; try again later",
            (ReasonKind::Scope, _) => "a required scope is missing",
        };
        let error = match kind {
            ReasonKind::Malformed | ReasonKind::NoToken | ReasonKind::Outage => None,
            ReasonKind::InvalidToken => Some(("invalid_token", INVALID_TOKEN.to_owned())),
            ReasonKind::Scope => Some(("insufficient_scope", needs(scopes))),
        };
        let is_challenged = !matches!(kind, ReasonKind::Malformed | ReasonKind::Outage);
        let challenge = is_challenged.then(|| self.challenge(error, scopes));
        Refusal {
            status: kind.status(),
            reason,
            detail: None,
            message,
            scopes: scopes.clone(),
            challenge,
            retry_after: (kind == ReasonKind::Outage).then_some(RETRY_WITHOUT_KEYS.as_secs()),
        }
    }

    /// The header `WWW-Authenticate` (RFC 6750).
    fn challenge(&self, error: Option<(&str, String)>, scopes: &BTreeSet<String>) -> String {
        let options = &self.options;
        let mut text = format!("Bearer realm=\"{}\"", options.realm);
        if let Some((error, description)) = error {
            let _ = write!(
                text,
                ", error=\"{error}\", error_description=\"{description}\""
            );
        }
        if !scopes.is_empty() {
            let _ = write!(text, ", scope=\"{}\"", joined(scopes));
        }
        if let Some(url) = self.metadata_url() {
            let _ = write!(text, ", resource_metadata=\"{url}\"");
        }
        text
    }
}

const INVALID_TOKEN: &str = "the token is not valid here";

/// Scopes as OAuth writes them.
pub(super) fn joined(scopes: &BTreeSet<String>) -> String {
    scopes
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

fn needs(scopes: &BTreeSet<String>) -> String {
    let word = if scopes.len() == 1 { "scope" } else { "scopes" };
    format!("this needs the {word} {}", joined(scopes))
}
