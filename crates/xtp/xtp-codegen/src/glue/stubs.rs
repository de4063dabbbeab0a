//! A first implementation of the exports, for the author to fill in.

use quote::quote;
use syn::{ImplItem, parse_quote};

use super::Glue;
use crate::ir::Function;
use crate::rust_types::Missing;
use crate::types::docs::{BREAKS, is_visible};
use crate::types::ident;

/// An `impl` for a type of this name, in which every export returns the error that it is not implemented.
///
/// With `samples`, each function has the first code sample in Rust as a comment. As code, an incomplete sample would
/// keep the plugin from compiling.
pub(crate) fn stubs(glue: &Glue<'_>, plugin: &str, samples: bool) -> Result<String, Missing> {
    let mut text = format!("impl {} for {plugin} {{", glue.exports);
    for (at, export) in glue.module.exports.iter().enumerate() {
        let gap = if at == 0 { "\n" } else { "\n\n" };
        let sample = sample(export).filter(|_| samples);
        text.extend([gap, &function(glue, export, sample)?]);
    }
    text += "\n}\n";
    Ok(text)
}

/// One function of the `impl`.
fn function(glue: &Glue<'_>, export: &Function, sample: Option<&str>) -> Result<String, Missing> {
    let method = method(glue, export)?;
    let formatted = prettyplease::unparse(&parse_quote!(impl Plugin { #method }));
    let mut lines: Vec<_> = formatted.lines().map(str::to_owned).collect();
    lines.retain(|line| line.starts_with(' '));
    let body = lines
        .iter()
        .position(|line| line.trim_start().starts_with("Err("));
    let comments = sample
        .into_iter()
        .flat_map(str::lines)
        .flat_map(|line| line.split('\r'))
        .flat_map(|line| line.split(BREAKS))
        .map(|line| {
            let line: String = line.chars().filter(|c| is_visible(*c)).collect();
            format!("        // {line}").trim_end().to_owned()
        });
    let at = body.unwrap_or(lines.len());
    lines.splice(at..at, comments);
    Ok(lines.join("\n"))
}

fn sample(export: &Function) -> Option<&str> {
    let mut samples = export.code_samples.iter();
    let sample = samples.find(|sample| sample.lang.eq_ignore_ascii_case("rust"))?;
    Some(sample.source.trim_matches('\n'))
}

fn method(glue: &Glue<'_>, export: &Function) -> Result<ImplItem, Missing> {
    let (name, wire, error) = (ident(&export.name.rust), &export.name.wire, &glue.error);
    let output = glue.owned(export.output.as_ref())?;
    let input = match &export.input {
        None => None,
        input => {
            let ty = glue.owned(input.as_ref())?;
            Some(quote!(_input: #ty))
        }
    };
    Ok(parse_quote! {
        fn #name(#input) -> Result<#output, #error> {
            Err(#error::not_implemented(#wire))
        }
    })
}
