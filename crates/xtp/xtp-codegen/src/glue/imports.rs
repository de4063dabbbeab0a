//! The functions of the host, and the mock host for tests.

use quote::quote;
use syn::{Item, TraitItem, parse_quote};

use super::{Glue, function};
use crate::ir::Function;
use crate::names::Taken;
use crate::rust_types::Missing;
use crate::types::ident;

/// The module `host`, if the schema has imports.
pub(super) fn item(glue: &Glue<'_>) -> Result<Option<Item>, Missing> {
    let imports = &glue.module.imports;
    if imports.is_empty() {
        return Ok(None);
    }
    let functions = imports
        .iter()
        .map(|import| function(glue, import))
        .collect::<Result<Vec<_>, _>>()?;
    let methods = imports
        .iter()
        .map(|import| method(glue, import))
        .collect::<Result<Vec<_>, _>>()?;
    let mut taken = Taken::default();
    for import in imports {
        taken.take(&import.name.rust);
    }
    let (host, runtime, mock) = (&glue.host, &glue.runtime, ident(&taken.take("mock")));
    Ok(Some(parse_quote! {
        /// The functions of the host.
        pub mod host {
            #[allow(
                unused_imports, clippy::wildcard_imports,
                reason = "the functions may use no type of the schema",
            )]
            use super::*;

            #(#functions)*

            /// A mock of the host for tests. A function that is not implemented returns an error.
            #[cfg(not(target_family = "wasm"))]
            pub trait #host { #(#methods)* }

            #[cfg(not(target_family = "wasm"))]
            #runtime::__host!(static HOST: #host);

            /// Runs a test with a mock of the host, on this thread.
            #[cfg(not(target_family = "wasm"))]
            pub fn #mock<R>(
                host: ::std::rc::Rc<impl #host + 'static>,
                test: impl FnOnce() -> R,
            ) -> R {
                #runtime::mock(&HOST, host, test)
            }
        }
    }))
}

fn function(glue: &Glue<'_>, import: &Function) -> Result<Item, Missing> {
    let more = match (&import.input, &import.output) {
        (Some(_), Some(_)) => {
            "If the input cannot be serialized, or the output cannot be deserialized."
        }
        (Some(_), None) => "If the input cannot be serialized.",
        (None, Some(_)) => "If the output cannot be deserialized.",
        (None, None) => "Only in tests, if the mock returns an error.",
    };
    let docs = function::attributes("import", import, &format!("\n\n# Errors\n\n{more}"), 4);
    let (name, wire) = (ident(&import.name.rust), &import.name.wire);
    let (error, runtime) = (&glue.error, &glue.runtime);
    let output = glue.owned(import.output.as_ref())?;
    let encoded = import.output.iter().map(|p| glue.encoding(p.content_type));
    let (input, passed) = match &import.input {
        None => (None, None),
        Some(parameter) => {
            let (ty, is_reference) = glue.lent(parameter)?;
            let encoding = glue.encoding(parameter.content_type);
            let sign = (!is_reference).then(|| quote!(&));
            let passed = quote!(input: #encoding = #sign input);
            (Some(quote!(input: #ty)), Some(passed))
        }
    };
    Ok(parse_quote! {
        #(#docs)*
        pub fn #name(#input) -> Result<#output, #error> {
            #runtime::__import!(HOST, #wire, #name(#passed) #(-> #encoded)*)
        }
    })
}

fn method(glue: &Glue<'_>, import: &Function) -> Result<TraitItem, Missing> {
    let docs = function::attributes("import", import, "", 8);
    let (name, wire, error) = (ident(&import.name.rust), &import.name.wire, &glue.error);
    let output = glue.owned(import.output.as_ref())?;
    let (input, ignored) = match &import.input {
        None => (None, None),
        Some(parameter) => {
            let (ty, _) = glue.lent(parameter)?;
            (Some(quote!(, input: #ty)), Some(quote!(let _ = input;)))
        }
    };
    Ok(parse_quote! {
        #(#docs)*
        fn #name(&self #input) -> Result<#output, #error> {
            #ignored
            Err(#error::not_mocked(#wire))
        }
    })
}
