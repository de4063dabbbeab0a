//! Which tools of a servlet or remote appear, and how.

use std::ops::Range;

use mcp_servlet_host::{Filter, Prefix};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};
use toml::Spanned;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { only = [\"get_*\"] }"
)]
pub(super) struct Tools {
    /// Patterns of the tools that clients see, with `*` and `?`. Default: all tools.
    #[schemars(with = "Vec<String>")]
    only: Vec<Spanned<String>>,
    /// Patterns of tools to leave out.
    #[schemars(with = "Vec<String>")]
    except: Vec<Spanned<String>>,
    /// The prefix of the names of its tools and prompts: `auto`, `never`, `name` for the servlet's name, or another prefix.
    #[schemars(with = "Option<String>")]
    prefix: PrefixIs,
}

/// The value of `prefix`.
#[derive(Clone, Debug, Default)]
struct PrefixIs(Prefix);

impl<'de> Deserialize<'de> for PrefixIs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self(match text.as_str() {
            "auto" => Prefix::Auto,
            "never" => Prefix::Never,
            "name" => Prefix::Name(None),
            _ => match meant(&text) {
                None => Prefix::Name(Some(text)),
                Some(word) => {
                    return Err(D::Error::custom(format!(
                        "expected \"auto\", \"never\", \"name\" or a prefix, found {text:?}; did you mean \"{word}\"?"
                    )));
                }
            },
        }))
    }
}

fn texts(patterns: &[Spanned<String>]) -> Vec<String> {
    let patterns = patterns.iter();
    patterns.map(|pattern| pattern.get_ref().clone()).collect()
}

/// The word for what a text means that is most likely not meant as a prefix.
fn meant(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "auto" => Some("auto"),
        "always" | "name" => Some("name"),
        "" | "never" | "none" | "off" => Some("never"),
        _ => None,
    }
}

impl Tools {
    /// The prefix that the section describes.
    pub(super) fn prefix(&self) -> Prefix {
        self.prefix.0.clone()
    }

    /// The filter that the section describes.
    pub(super) fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.only = texts(&self.only);
        filter.except = texts(&self.except);
        filter
    }

    /// The patterns, and where they are.
    pub(super) fn patterns(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let all = self.only.iter().chain(&self.except);
        all.map(|pattern| (pattern.get_ref().as_str(), pattern.span()))
    }
}
