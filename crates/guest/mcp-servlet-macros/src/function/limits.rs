//! The options that limit a value, such as `min` and `max_length`, of arguments and of fields.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::LitStr;

use super::arg::{json_literal, json_token};
use super::parameters::check_literal;
use crate::diagnostics::Diagnostics;

/// The limits of one value.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) number: Range,
    pub(crate) length: Range,
    pub(crate) items: Range,
    pub(crate) pattern: Option<LitStr>,
}

/// Both limits are inclusive.
#[derive(Default)]
pub(crate) struct Range {
    pub(crate) min: Option<TokenStream>,
    pub(crate) max: Option<TokenStream>,
}

/// The options of an attribute whose options have `limits`, and the options that set them.
macro_rules! keys_and_limits {
    ($($key:expr),* $(,)?) => {
        &[
            $($key,)*
            Key::new("min", |options, entry, diagnostics| {
                options.limits.number.min = entry.expression(diagnostics);
            }),
            Key::new("max", |options, entry, diagnostics| {
                options.limits.number.max = entry.expression(diagnostics);
            }),
            Key::new("min_length", |options, entry, diagnostics| {
                options.limits.length.min = entry.count(diagnostics).map(quote::ToTokens::into_token_stream);
            }),
            Key::new("max_length", |options, entry, diagnostics| {
                options.limits.length.max = entry.count(diagnostics).map(quote::ToTokens::into_token_stream);
            }),
            Key::new("pattern", |options, entry, diagnostics| {
                options.limits.pattern = entry.string(diagnostics);
            }),
            Key::new("min_items", |options, entry, diagnostics| {
                options.limits.items.min = entry.count(diagnostics).map(quote::ToTokens::into_token_stream);
            }),
            Key::new("max_items", |options, entry, diagnostics| {
                options.limits.items.max = entry.count(diagnostics).map(quote::ToTokens::into_token_stream);
            }),
        ]
    };
}
pub(crate) use keys_and_limits;

impl Limits {
    /// The value of the first limit, as the position for an error.
    pub(crate) fn first(&self) -> Option<TokenStream> {
        self.number.first().or_else(|| self.first_length())
    }

    /// The value of the first limit other than `min` and `max`.
    pub(crate) fn first_length(&self) -> Option<TokenStream> {
        let lengths = self.length.first().or_else(|| self.items.first());
        lengths.or_else(|| Some(self.pattern.as_ref()?.to_token_stream()))
    }

    /// Reports a range that contains no value, and a default or example outside of the limits. The model could not avoid
    /// the errors of such an argument.
    pub(crate) fn check_values(
        &self,
        default: Option<&TokenStream>,
        example: Option<&TokenStream>,
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
        for (key, value) in [("default", default), ("example", example)] {
            if let Some(value) = value.filter(|value| !self.allow(value)) {
                diagnostics.error(value, format!("the {key} is out of bounds"));
            }
        }
    }

    /// Whether a value in the source is within the limits; true if it is not a literal.
    fn allow(&self, value: &TokenStream) -> bool {
        if let Ok(text) = syn::parse2::<LitStr>(value.clone()) {
            let length = u32::try_from(text.value().chars().count());
            return self.length.contains(length.ok().map(f64::from));
        }
        self.number.contains(number(value))
    }

    /// Reports the first limit, if there is any: they are not allowed here.
    pub(crate) fn refuse(&self, message: &str, diagnostics: &mut Diagnostics) {
        if let Some(at) = self.first() {
            diagnostics.error(at, message);
        }
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
