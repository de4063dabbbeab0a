//! The options that limit a value, such as `min` and `max_length`, of arguments and of fields.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::LitStr;

use super::arg::{json_literal, json_token};
use super::parameters::check_literal;
use crate::attributes::Entry;
use crate::diagnostics::Diagnostics;

/// The limits of one value.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) number: Range,
    length: Range,
    items: Range,
    pattern: Option<LitStr>,
}

/// Both limits are inclusive.
#[derive(Default)]
pub(crate) struct Range {
    pub(crate) min: Option<TokenStream>,
    pub(crate) max: Option<TokenStream>,
}

/// The options of an attribute, and those that [`Limits::read`] reads.
macro_rules! keys_and_limits {
    ($($key:expr),* $(,)?) => {
        $crate::function::limits::keys_and_limits!(
            [$($key,)*] "min" "max" "min_length" "max_length" "pattern" "min_items" "max_items"
        )
    };
    ([$($key:expr,)*] $($limit:literal)*) => {
        &[$($key,)* $(Key::new($limit, |options, entry, diagnostics| {
            options.limits.read(entry, diagnostics);
        }),)*]
    };
}
pub(crate) use keys_and_limits;

impl Limits {
    /// Reads the option with the key of the entry.
    pub(crate) fn read(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let key = entry.key.to_string();
        if key == "pattern" {
            self.pattern = entry.string(diagnostics);
            return;
        }
        let range = match key.split_once('_') {
            Some((_, "length")) => &mut self.length,
            Some(_) => &mut self.items,
            None => &mut self.number,
        };
        let value = if key.contains('_') {
            entry.count(diagnostics).map(ToTokens::into_token_stream)
        } else {
            entry.expression(diagnostics)
        };
        if key.starts_with("min") {
            range.min = value;
        } else {
            range.max = value;
        }
    }

    /// The value of the first limit.
    pub(crate) fn first(&self) -> Option<TokenStream> {
        self.number.first().or_else(|| self.first_length())
    }

    /// The value of the first limit that is not for numbers.
    pub(crate) fn first_length(&self) -> Option<TokenStream> {
        let lengths = self.length.first().or_else(|| self.items.first());
        lengths.or_else(|| Some(self.pattern.as_ref()?.to_token_stream()))
    }

    /// Reports limits that exclude every value, or one of these: the model would get errors that it cannot avoid.
    pub(crate) fn check(
        &self,
        values: [(&str, Option<&TokenStream>); 2],
        diagnostics: &mut Diagnostics,
    ) {
        for (key, bound) in [("min", &self.number.min), ("max", &self.number.max)] {
            if let Some(bound) = bound {
                check_literal(key, "a number", bound, is_number, diagnostics);
            }
        }
        for (suffix, range) in [
            ("", &self.number),
            ("_length", &self.length),
            ("_items", &self.items),
        ] {
            if let (true, Some(max)) = (range.is_empty(), &range.max) {
                let message = format!("`max{suffix}` is below `min{suffix}`, so no value fits");
                diagnostics.error(max, message);
            }
        }
        for (key, value) in values {
            if let Some(value) = value.filter(|value| !self.allow(value)) {
                diagnostics.error(value, format!("the {key} is out of bounds"));
            }
        }
    }

    /// Whether a value in the source can keep the limits.
    fn allow(&self, value: &TokenStream) -> bool {
        if let Ok(text) = syn::parse2::<LitStr>(value.clone()) {
            let length = u32::try_from(text.value().chars().count());
            return self.length.contains(length.ok().map(f64::from));
        }
        self.number.contains(number(value))
    }

    /// The limits as an expression; `None` if there are none.
    pub(crate) fn tokens(&self, private: &TokenStream) -> Option<TokenStream> {
        self.first()?;
        let [min, max] = self.number.json();
        let [min_length, max_length] = self.length.json();
        let [min_items, max_items] = self.items.json();
        let pattern = self.pattern.as_ref().map(LitStr::value).unwrap_or_default();
        Some(quote! {
            &#private::Limits {
                min: #min,
                max: #max,
                min_length: #min_length,
                max_length: #max_length,
                pattern: #pattern,
                min_items: #min_items,
                max_items: #max_items,
            }
        })
    }
}

impl Range {
    fn first(&self) -> Option<TokenStream> {
        self.min.as_ref().or(self.max.as_ref()).cloned()
    }

    fn numbers(&self) -> [Option<f64>; 2] {
        [&self.min, &self.max].map(|bound| number(bound.as_ref()?))
    }

    fn is_empty(&self) -> bool {
        matches!(self.numbers(), [Some(min), Some(max)] if min > max)
    }

    /// Whether the number is within the limits; true if it is not known.
    fn contains(&self, number: Option<f64>) -> bool {
        let [min, max] = self.numbers();
        number.is_none_or(|number| {
            min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
        })
    }

    fn json(&self) -> [proc_macro2::Literal; 2] {
        [&self.min, &self.max].map(|bound| json_token(bound.as_ref().and_then(json_literal)))
    }
}

fn number(value: &TokenStream) -> Option<f64> {
    json_literal(value)?.parse().ok()
}

fn is_number(json: &str) -> bool {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}
