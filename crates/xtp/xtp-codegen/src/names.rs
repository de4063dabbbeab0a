//! Turns names of the schema into names of Rust.

mod unique;
mod words;

pub(crate) use self::unique::{Taken, unique};
use self::words::words;

/// The name of a type or a variant: `resource_link` becomes `ResourceLink`.
pub(crate) fn pascal(name: &str) -> String {
    let words = words(name);
    let joined: String = words.iter().map(|word| capitalized(word)).collect();
    identifier(joined, "X")
}

/// The name of a field or a function: `mimeType` becomes `mime_type`.
pub(crate) fn snake(name: &str) -> String {
    identifier(words(name).join("_").to_lowercase(), "x")
}

/// A field in Rust source: `type` as `r#type`, `self` as `self_`.
pub(crate) fn field_source(name: &str) -> String {
    if PATH_WORDS.contains(&name) {
        format!("{name}_")
    } else if is_listed(KEYWORDS, name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// A variant in Rust source. `Self` is the only keyword that a variant can have.
pub(crate) fn variant_source(name: &str) -> String {
    let underscore = if name == "Self" { "_" } else { "" };
    format!("{name}{underscore}")
}

/// A type in Rust source. Names of the prelude are not used for other types.
pub(crate) fn type_source(name: &str) -> String {
    let taken = name == "Self" || is_listed(PRELUDE, name);
    let underscore = if taken { "_" } else { "" };
    format!("{name}{underscore}")
}

/// Adds a first character to a name that must not start with its own.
fn identifier(name: String, first: &str) -> String {
    match name.chars().next() {
        Some(c) if !c.is_ascii_digit() => name,
        Some(_) | None => format!("{first}{name}"),
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    let rest = chars.map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}

/// Whether a list has a word. In the list, single spaces separate the words.
pub(crate) fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// Keywords that cannot be raw identifiers.
const PATH_WORDS: [&str; 4] = ["self", "super", "crate", "Self"];

/// Words that are reserved in edition 2024, except [`PATH_WORDS`].
const KEYWORDS: &str = "\
    abstract as async await become box break const continue do dyn else enum extern false final \
    fn for gen if impl in let loop macro match mod move mut override priv pub ref return static \
    struct trait true try type typeof unsafe unsized use virtual where while yield";

/// Names that are in scope everywhere, which a glob import of the generated module would hide, and at the end the
/// names of generated items that are not in the schema.
const PRELUDE: &str = "\
    AsMut AsRef AsyncFn AsyncFnMut AsyncFnOnce Box Clone Copy Debug Default DoubleEndedIterator \
    Drop Eq Err ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Future Hash Into \
    IntoFuture IntoIterator Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized \
    Some String Sync ToOwned ToString TryFrom TryInto Unpin Vec UnknownValue Rfc3339";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_names_into_words() {
        let cases = [
            ("HTTPRequest", "HttpRequest", "http_request"),
            ("getURLFor", "GetUrlFor", "get_url_for"),
            ("userID", "UserId", "user_id"),
            ("userIDs", "UserIds", "user_ids"),
            ("IDs", "Ids", "ids"),
            ("URLsSeen", "UrlsSeen", "urls_seen"),
            ("A2B", "A2b", "a2b"),
            ("ghostGang", "GhostGang", "ghost_gang"),
            ("_meta", "Meta", "meta"),
            ("aUInt64", "AUint64", "a_uint64"),
            ("oauthToken", "OauthToken", "oauth_token"),
            ("OAuthToken", "OauthToken", "oauth_token"),
            ("IPv6Address", "Ipv6Address", "ipv6_address"),
            ("sha256Sum", "Sha256Sum", "sha256_sum"),
            ("resource_link", "ResourceLink", "resource_link"),
            ("SHOUTING_CASE", "ShoutingCase", "shouting_case"),
            ("NameWith$2341", "NameWith2341", "name_with_2341"),
            ("invalid@Func", "InvalidFunc", "invalid_func"),
            ("$", "X", "x"),
            ("_1", "X1", "x1"),
        ];
        for (name, ty, field) in cases {
            assert_eq!((pascal(name).as_str(), snake(name).as_str()), (ty, field));
        }
    }

    #[test]
    fn spells_keywords_so_that_rust_takes_them() {
        assert_eq!(field_source("type"), "r#type");
        assert_eq!(field_source(&snake("Type")), "r#type");
        assert_eq!(field_source("self"), "self_");
        assert_eq!(field_source("crate"), "crate_");
        assert_eq!(variant_source(&pascal("self")), "Self_");
        assert_eq!(type_source("String"), "String_");
        assert_eq!(type_source("Strings"), "Strings");
    }
}
