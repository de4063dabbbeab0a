//! Names of a server in Rust.

use crate::names::{field_source, pascal, snake, type_source, variant_source};

/// The name of a type, before it is changed because the prelude has it.
pub(super) fn ty(name: &str) -> String {
    joined_words(name, "", capitalized).unwrap_or_else(|| pascal(name))
}

pub(super) fn variant(name: &str) -> String {
    variant_source(&ty(name))
}

/// The name of a method or a field. Keywords have an underscore behind them.
pub(super) fn member(name: &str) -> String {
    let name = joined_words(name, "_", str::to_lowercase).unwrap_or_else(|| snake(name));
    let source = field_source(&name);
    match source.strip_prefix("r#") {
        Some(keyword) => format!("{keyword}_"),
        None => source,
    }
}

/// Whether a name can be a Rust type that hides nothing of the prelude.
pub(super) fn is_type(name: &str) -> bool {
    let is_identifier = syn::parse_str::<syn::Ident>(name).is_ok();
    is_identifier && type_source(name) == name && name.starts_with(char::is_uppercase)
}

/// The words of a name with letters that are not ASCII; `None` if the name has none, or if Rust allows no such name.
fn joined_words(name: &str, separator: &str, word: impl Fn(&str) -> String) -> Option<String> {
    if name.is_ascii() {
        return None;
    }
    let words: Vec<_> = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(word)
        .collect();
    let name = words.join(separator);
    syn::parse_str::<syn::Ident>(&name).is_ok().then_some(name)
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_the_names_of_servers() {
        let cases = [
            ("API-get-self", "ApiGetSelf", "api_get_self"),
            ("get_weather", "GetWeather", "get_weather"),
            ("browser.tabs/list", "BrowserTabsList", "browser_tabs_list"),
            ("2fa", "X2fa", "x2fa"),
            ("move", "Move", "move_"),
            ("self", "Self", "self_"),
            ("option", "Option", "option"),
            ("获取天气", "获取天气", "获取天气"),
            ("størrelse på", "StørrelsePå", "størrelse_på"),
            ("½", "X", "x"),
            ("", "X", "x"),
        ];
        for (name, as_type, as_member) in cases {
            assert_eq!((&*ty(name), &*member(name)), (as_type, as_member), "{name}");
        }
    }

    #[test]
    fn knows_what_can_be_a_client() {
        assert!(is_type("Weather") && is_type("Wetter2"));
        for name in ["weather", "My Client", "Self", "Option", "2Fast", ""] {
            assert!(!is_type(name), "{name}");
        }
    }
}
