//! Collects errors, so that one compile shows all of them.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The errors of one expansion.
#[derive(Default)]
#[must_use = "errors that nobody reports are lost"]
pub(crate) struct Diagnostics(Option<syn::Error>);

impl Diagnostics {
    /// Reports `message` at `tokens`; a `help:` line goes into the message.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports a parse error.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The parsed value; reports the error if there is none.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The errors as tokens that make the compiler report them.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0
            .map(syn::Error::into_compile_error)
            .unwrap_or_default()
    }
}
