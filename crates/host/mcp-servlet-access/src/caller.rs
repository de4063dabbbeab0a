//! The caller of a request, and the owner of what it opens.

use std::{collections::BTreeSet, fmt, sync::Arc, time::SystemTime};

use mcp_servlet_common::hex;
use mcp_servlet_schema::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{certificate::Certificate, digest::Sha256};

/// The authenticated caller of a request. `servlet config explain --caller` reads it from JSON, in which only `kind` and `subject` are
/// required.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Caller {
    /// The kind of credential that identified the caller.
    pub kind: CallerKind,
    /// The `NAME` of the `[auth.NAME]` that accepted the caller.
    #[serde(skip)]
    pub auth: String,
    /// `sub` of a token, the name of a key, or the name in a certificate.
    pub subject: String,
    /// The issuer of the token. None for keys and certificates.
    #[serde(default)]
    pub issuer: Option<String>,
    /// The program that has got the token: `client_id`, or else `azp`.
    #[serde(default)]
    pub client: Option<String>,
    /// The scopes of the token, or those that the configuration gives to the key or the certificate.
    #[serde(default)]
    pub scopes: BTreeSet<String>,
    /// The roles and groups of the caller.
    #[serde(default)]
    pub roles: BTreeSet<String>,
    /// The claims of the token that the configuration names.
    #[serde(default)]
    pub claims: JsonObject,
    /// The certificate with which the client connected.
    #[serde(skip)]
    pub certificate: Option<Arc<Certificate>>,
    /// When the token, with the leeway, or the key expires.
    #[serde(skip)]
    pub until: Option<SystemTime>,
}

/// A kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CallerKind {
    /// A signed token.
    Jwt,
    /// A token that the issuer has checked (RFC 7662).
    Opaque,
    /// A key of the configuration.
    Key,
    /// A certificate.
    Certificate,
}

/// Identifies the caller that a session, a task or sealed state belongs to.
///
/// Scopes and client are not part of it, so a caller can continue a session with a new token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner([u8; 16]);

impl CallerKind {
    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jwt => "jwt",
            Self::Opaque => "opaque",
            Self::Key => "key",
            Self::Certificate => "certificate",
        }
    }
}

impl Caller {
    /// The members of a caller that expressions and servlets can read.
    pub const MEMBERS: [&str; 8] = [
        "kind",
        "subject",
        "issuer",
        "client",
        "scopes",
        "roles",
        "claims",
        "certificate",
    ];

    /// A caller as servlets read it, without its certificate. `None` is one without credentials.
    pub fn to_json(caller: Option<&Self>) -> JsonObject {
        let Some(caller) = caller else {
            let nobody =
                json!({ "kind": "nobody", "subject": "", "scopes": [], "roles": [], "claims": {} });
            return object(nobody);
        };
        let mut json = object(json!({
            "kind": caller.kind.name(),
            "subject": caller.subject,
            "scopes": caller.scopes,
            "roles": caller.roles,
            "claims": caller.claims,
        }));
        for (name, value) in [("issuer", &caller.issuer), ("client", &caller.client)] {
            if let Some(value) = value {
                json.insert(name.to_owned(), value.as_str().into());
            }
        }
        json
    }

    /// A caller as expressions read it, with the certificate of the connection.
    pub fn to_json_with(caller: Option<&Self>, certificate: Option<&Certificate>) -> JsonObject {
        let mut json = Self::to_json(caller);
        if let Some(certificate) = certificate {
            let details = certificate.details().clone();
            json.insert("certificate".to_owned(), details.into());
        }
        json
    }

    /// The owner of what this caller opens.
    pub fn owner(&self) -> Owner {
        let kind = format!("{:?}", self.kind);
        let issuer = self.issuer.as_deref().unwrap_or_default();
        let mut all = Vec::new();
        for part in [&*kind, &*self.auth, issuer, &*self.subject] {
            all.extend((part.len() as u64).to_be_bytes());
            all.extend(part.as_bytes());
        }
        let mut own = [0; 16];
        own.copy_from_slice(&Sha256::of(&all).0[..16]);
        Owner(own)
    }
}

fn object(json: Value) -> JsonObject {
    match json {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    }
}

impl Owner {
    /// One of many owners.
    #[cfg(test)]
    pub(crate) fn numbered(number: u32) -> Self {
        let mut own = [0; 16];
        own[..4].copy_from_slice(&number.to_be_bytes());
        Self(own)
    }

    /// The bytes, to bind sealed state to its owner.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Shows nothing that the caller has sent.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Caller({:?}, {:?})", self.kind, self.owner())
    }
}

/// Shows eight digits, which tell callers apart in logs.
impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0[..4]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(auth: &str, subject: &str) -> Caller {
        Caller {
            kind: CallerKind::Jwt,
            auth: auth.to_owned(),
            subject: subject.to_owned(),
            issuer: Some("https://login.example".to_owned()),
            client: None,
            scopes: BTreeSet::new(),
            roles: BTreeSet::new(),
            claims: JsonObject::new(),
            certificate: None,
            until: None,
        }
    }

    #[test]
    fn another_token_of_a_subject_has_the_same_owner() {
        let ann = caller("corp", "ann");
        let stepped_up = Caller {
            client: Some("ide".to_owned()),
            scopes: BTreeSet::from(["pay".to_owned()]),
            until: Some(SystemTime::now()),
            ..ann.clone()
        };
        assert_eq!(ann.owner(), stepped_up.owner());
        let key = Caller {
            kind: CallerKind::Key,
            ..ann.clone()
        };
        let elsewhere = Caller {
            issuer: Some("https://other.example".to_owned()),
            ..ann.clone()
        };
        for other in [caller("corpa", "nn"), caller("corp", "bob"), key, elsewhere] {
            assert_ne!(ann.owner(), other.owner());
        }
        assert!(!format!("{ann:?}").contains("ann"));
    }
}
