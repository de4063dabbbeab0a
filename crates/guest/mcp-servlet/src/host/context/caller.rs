//! Who is at the other end of a request: its session, its headers, its caller and its certificate.

use mcp_servlet_json::RawJson;
use mcp_servlet_types::{CALLER_KEY, CERTIFICATE_KEY, HEADERS_KEY, SESSION_KEY};
use serde::de::DeserializeOwned;

use super::Context;
use crate::json::{Children, member};

impl Context {
    /// The id of the client's session; `None` if the request belongs to none, and in hosts other than `servlet serve`. It is a
    /// secret: a client that knows it can use the session over HTTP.
    pub fn session(&self) -> Option<String> {
        let id: String = read(self.set_by_host(SESSION_KEY)?.get())?;
        (!id.is_empty()).then_some(id)
    }

    /// The value of a header of the client's HTTP request, if the endpoint of `servlet serve` forwards it. Case does not matter.
    pub fn header(&self, name: &str) -> Option<String> {
        let headers = self.set_by_host(HEADERS_KEY)?;
        let mut all = Children::new(headers.get());
        let (_, value) = all.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        read(value)
    }

    /// The caller of the request, if the endpoint of `servlet serve` forwards it. Other hosts forward no caller.
    pub fn caller(&self) -> Option<Caller> {
        let json = self.set_by_host(CALLER_KEY)?;
        let part = |name| member(json.get(), name);
        Some(Caller {
            kind: read(part("kind"))?,
            subject: read(part("subject"))?,
            issuer: read(part("issuer")),
            client: read(part("client")),
            scopes: read(part("scopes")).unwrap_or_default(),
            roles: read(part("roles")).unwrap_or_default(),
            claims: RawJson::parse(part("claims")).ok()?,
        })
    }

    /// The certificate with which the client connected, if the endpoint of `servlet serve` forwards it and the client has one.
    pub fn certificate(&self) -> Option<Certificate> {
        let json = self.set_by_host(CERTIFICATE_KEY)?;
        let part = |name| read::<String>(member(json.get(), name)).unwrap_or_default();
        Some(Certificate {
            subject: part("subject"),
            issuer: part("issuer"),
            serial: part("serial"),
            not_after: part("not_after"),
            sha256: part("sha256"),
            pem: part("pem"),
            json,
        })
    }

    /// A value in `_meta` of the request that no client can have written.
    fn set_by_host(&self, key: &str) -> Option<RawJson> {
        // Some hosts pass on whatever clients have in `_meta`.
        if !self.host.keeps_meta() {
            return None;
        }
        self.meta_value(key)
    }
}

/// A value that the host has written.
fn read<T: DeserializeOwned>(json: &str) -> Option<T> {
    mcp_servlet_json::from_str(json).ok()
}

/// The caller of a request, as the host has authenticated it.
#[derive(Debug, Clone, PartialEq)]
pub struct Caller {
    /// The kind of its credential: `jwt`, `opaque`, `key` or `certificate`. Without a credential: `nobody`.
    pub kind: String,
    /// Its name: `sub` of a token, the name of a key, or the name in a certificate.
    pub subject: String,
    /// The issuer of its token.
    pub issuer: Option<String>,
    /// The OAuth client that obtained the token.
    pub client: Option<String>,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// Its roles and groups.
    pub roles: Vec<String>,
    /// The claims of its token that the configuration of the host names, as a JSON object.
    pub claims: RawJson,
}

impl Caller {
    /// Whether it has shown a credential: a token, a key or a certificate.
    pub fn is_authenticated(&self) -> bool {
        self.kind != "nobody"
    }

    /// Whether it has a scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }

    /// Whether it has a role.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| own == role)
    }

    /// A claim of its token; `None` if it is missing or has another type.
    pub fn claim<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        read(member(self.claims.get(), name))
    }
}

/// The certificate of a client, which the host has checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The name of its owner, as in RFC 4514, such as `CN=agent 7,O=Acme`.
    pub subject: String,
    /// The name of its issuer.
    pub issuer: String,
    /// The serial number, in hexadecimal.
    pub serial: String,
    /// When it ends, such as `2027-01-31T12:00:00Z`.
    pub not_after: String,
    /// Its SHA-256 digest, in hexadecimal.
    pub sha256: String,
    /// The certificate in PEM.
    pub pem: String,
    json: RawJson,
}

impl Certificate {
    /// All parts, as JSON.
    pub fn json(&self) -> &RawJson {
        &self.json
    }

    /// The alternative names of a type, such as `dns`, `uri` or `email`.
    pub fn alternative_names(&self, kind: &str) -> Vec<String> {
        Children::new(member(self.json.get(), "sans"))
            .filter(|(_, name)| {
                let own: Option<String> = read(member(name, "type"));
                own.as_deref() == Some(kind)
            })
            .filter_map(|(_, name)| read(member(name, "value")))
            .collect()
    }
}
