//! The trait that the author implements, and the macro that turns an implementation into wasm exports.

use quote::{ToTokens, quote};
use syn::{TraitItem, parse_quote};

use super::{Glue, function};
use crate::format;
use crate::ir::{Function, Parameter};
use crate::rust_types::Missing;
use crate::types::ident;

/// Both, if the schema has exports.
pub(super) fn texts(glue: &Glue<'_>) -> Result<Vec<String>, Missing> {
    let exports = &glue.module.exports;
    if exports.is_empty() {
        return Ok(Vec::new());
    }
    let methods = exports
        .iter()
        .map(|export| method(glue, export))
        .collect::<Result<Vec<_>, _>>()?;
    let name = &glue.exports;
    let offer = parse_quote! {
        /// The exports of the plugin. A function that is not implemented returns an error.
        ///
        /// `export!` makes wasm exports of an implementation; the trait must be in scope there.
        pub trait #name { #(#methods)* }
    };
    Ok(vec![
        format::block(offer),
        export_macro(glue),
        format::item(parse_quote! {
            #[allow(unused_imports, reason = "some plugins only use the types")]
            pub(crate) use __export as export;
        }),
    ])
}

/// Formatted as a string, because the printer does not break lines in macros.
fn export_macro(glue: &Glue<'_>) -> String {
    let runtime = glue.runtime.to_token_stream().to_string().replace(' ', "");
    let mut text = format!(
        "macro_rules! __export {{\n    ($plugin:ty) => {{\n        {runtime}::__export! {{ <$plugin as {}> {{\n",
        glue.exports,
    );
    for export in &glue.module.exports {
        text.extend(["            ", &line(glue, export), "\n"]);
    }
    text += "        } }\n    };\n}\n";
    text
}

fn method(glue: &Glue<'_>, export: &Function) -> Result<TraitItem, Missing> {
    let examples = function::examples(&export.code_samples);
    let docs = function::attributes("export", export, &examples, 4);
    let (name, wire) = (ident(&export.name.rust), &export.name.wire);
    let (error, output) = (&glue.error, glue.owned(export.output.as_ref())?);
    let (input, ignored) = match &export.input {
        None => (None, None),
        input => {
            let ty = glue.owned(input.as_ref())?;
            (Some(quote!(input: #ty)), Some(quote!(let _ = input;)))
        }
    };
    Ok(parse_quote! {
        #(#docs)*
        fn #name(#input) -> Result<#output, #error> {
            #ignored
            Err(#error::not_implemented(#wire))
        }
    })
}

/// The line of the macro for an export.
fn line(glue: &Glue<'_>, export: &Function) -> String {
    let encoding = |parameter: &Parameter| glue.encoding(parameter.content_type).to_string();
    let input = export.input.as_ref().map(encoding).unwrap_or_default();
    let output = match &export.output {
        Some(output) => format!(" -> {}", encoding(output)),
        None => String::new(),
    };
    let (wire, name) = (&export.name.wire, &export.name.rust);
    format!("{wire:?} => {name}({input}){output};")
}
