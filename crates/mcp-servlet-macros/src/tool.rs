//! `#[tool]`: parse the function's head and attributes, check them, expand.

mod emit;
mod options;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;

use self::options::ToolOptions;
use crate::diagnostics::Diagnostics;
use crate::function::{FnHead, strip};

/// The author's function, and beside it what makes it a tool, or the errors.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut output = strip::without_parameter_attributes(item.clone());
    let options = ToolOptions::parse(attribute, &mut diagnostics);
    let Some(head) = diagnostics.ok(FnHead::parse("tool", item)) else {
        output.extend(diagnostics.into_tokens());
        return output;
    };
    let tool = validate::validate(&head, &options, &mut diagnostics);
    output.extend(match tool {
        Some(tool) if diagnostics.is_empty() => emit::tool(&tool),
        // In an `impl`, where no type can be.
        _ if head.has_receiver() => TokenStream::new(),
        _ => emit::stand_in(&head, &options),
    });
    output.extend(diagnostics.into_tokens());
    output
}
