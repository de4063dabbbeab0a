//! The claims of a token.

use std::{
    collections::BTreeSet,
    fmt,
    time::{Duration, SystemTime},
};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use super::Reason;
use crate::{digest::Sha256, options::without_root};

/// How long a subject may be, and how many scopes or roles count.
const MAX_CLAIM: usize = 256;

/// The maximum size of the claims that rules read, in bytes of their JSON.
const MAX_CLAIMS_SIZE: usize = 8 << 10;

/// The claims of a token. Each of them is there once, so that no two readers see different ones.
#[derive(Debug)]
pub(super) struct Claims(Map<String, Value>);

impl<'de> Deserialize<'de> for Claims {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Claims;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Claims, A::Error> {
                let mut claims = Map::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if claims.insert(name, value).is_some() {
                        return Err(A::Error::custom("a claim is there twice"));
                    }
                }
                Ok(Claims(claims))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl Claims {
    /// A claim, if there is one.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A text, if there is one.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A time, if there is one.
    pub(super) fn time(&self, name: &str) -> Result<Option<SystemTime>, Reason> {
        let Some(value) = self.0.get(name) else {
            return Ok(None);
        };
        let seconds = value.as_f64().map(Duration::try_from_secs_f64);
        let since = seconds.and_then(Result::ok);
        let time = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        time.map(Some).ok_or(Reason::Claims)
    }

    /// Whether the token is for one of these servers.
    pub(super) fn is_for<'a>(&self, mut audience: impl Iterator<Item = &'a str>) -> bool {
        audience.any(|one| {
            let is_one = |aud: &str| without_root(aud) == without_root(one);
            match self.0.get("aud") {
                Some(Value::String(aud)) => is_one(aud),
                Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).any(is_one),
                _ => false,
            }
        })
    }

    /// The subject.
    pub(super) fn subject(&self) -> Result<String, Reason> {
        let subject = self.text("sub").ok_or(Reason::Subject)?;
        is_subject(subject)
            .then(|| subject.to_owned())
            .ok_or(Reason::Subject)
    }

    /// The program that has got the token.
    pub(super) fn client(&self) -> Option<String> {
        let client = self.text("client_id").or_else(|| self.text("azp"))?;
        Some(client.to_owned())
    }

    /// What the caller may ask for. Issuers write it as text or as a list.
    pub(super) fn scopes(&self) -> BTreeSet<String> {
        let scope = self
            .0
            .get("scope")
            .filter(|scope| scope.is_string() || scope.is_array());
        let scopes = scope.or_else(|| self.0.get("scp"));
        words(scopes).take(MAX_CLAIM).collect()
    }

    /// The roles and groups of the caller.
    pub(super) fn roles(&self) -> BTreeSet<String> {
        let names = ["roles", "groups"].into_iter();
        names
            .flat_map(|name| words(self.0.get(name)).take(MAX_CLAIM))
            .collect()
    }

    /// The claims with these names, as far as the token has them.
    pub(super) fn named(&self, names: &BTreeSet<String>) -> Result<Map<String, Value>, Reason> {
        let claims: Map<_, _> = names
            .iter()
            .filter_map(|name| Some((name.clone(), self.0.get(name)?.clone())))
            .collect();
        let size: usize = claims.values().map(|value| value.to_string().len()).sum();
        // Omitting some of them could change what rules decide.
        (size <= MAX_CLAIMS_SIZE)
            .then_some(claims)
            .ok_or(Reason::Claims)
    }

    /// The certificate to which the token is bound. No client proves here that it has the key of another binding.
    pub(super) fn binding(&self) -> Result<Option<Sha256>, Reason> {
        let Some(confirmation) = self.0.get("cnf") else {
            return Ok(None);
        };
        let mut members = confirmation.as_object().ok_or(Reason::Binding)?.iter();
        let digest = match (members.next(), members.next()) {
            (Some((name, Value::String(digest))), None) if name == "x5t#S256" => digest,
            _ => return Err(Reason::Binding),
        };
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(digest).ok();
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(|digest| Some(Sha256(digest)))
            .ok_or(Reason::Binding)
    }
}

/// Whether a text can name a caller.
pub(super) fn is_subject(text: &str) -> bool {
    (1..=MAX_CLAIM).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// The words of a text, or of a list of words.
fn words(value: Option<&Value>) -> impl Iterator<Item = String> {
    let (text, list) = match value {
        Some(Value::String(text)) => (&**text, &[][..]),
        Some(Value::Array(list)) => ("", &**list),
        _ => ("", &[][..]),
    };
    let items = list.iter().filter_map(Value::as_str);
    text.split_whitespace().chain(items).map(str::to_owned)
}
