//! Every rule of `#[tool]`, in one place.

use proc_macro2::TokenStream;

use super::options::ToolOptions;
use crate::diagnostics::Diagnostics;
use crate::function::{FnHead, ValidParam, check, parameters};

/// A function that can be a tool.
pub(crate) struct ValidTool<'a> {
    pub(crate) options: &'a ToolOptions,
    pub(crate) head: &'a FnHead,
    pub(crate) name: String,
    /// The type that the function returns.
    pub(crate) output: TokenStream,
    pub(crate) parameters: Vec<ValidParam<'a>>,
}

/// The checked tool, or `None` if the function cannot be expanded.
pub(crate) fn validate<'a>(
    head: &'a FnHead,
    options: &'a ToolOptions,
    diagnostics: &mut Diagnostics,
) -> Option<ValidTool<'a>> {
    check::check_signature("tool", head, diagnostics);
    let whole = options.input_schema.is_some();
    let parameters = parameters::parameters("tool", head, whole, diagnostics);
    check_whole(&parameters, head, options, diagnostics);
    check_parts(&parameters, options, diagnostics);
    Some(ValidTool {
        options,
        head,
        name: check::name("tool", head, options.name.as_ref(), diagnostics),
        output: check::output("tool", &head.output, diagnostics)?,
        parameters,
    })
}

fn check_whole(
    parameters: &[ValidParam<'_>],
    head: &FnHead,
    options: &ToolOptions,
    diagnostics: &mut Diagnostics,
) {
    let wholes = parameters
        .iter()
        .filter(|param| matches!(param, ValidParam::Whole { .. }))
        .count();
    let others = parameters
        .iter()
        .filter(|param| matches!(param, ValidParam::Argument(_)))
        .count();
    let name = &head.name;
    if options.input_schema.is_some() && wholes != 1 {
        diagnostics.error(
            name,
            format!("with `input_schema`, tool `{name}` must have one argument, found {wholes}\nhelp: use one parameter for all arguments"),
        );
    } else if wholes > 1 || (wholes == 1 && others > 0) {
        diagnostics.error(
            name,
            format!("tool `{name}` takes other arguments next to a flattened one\nhelp: move them into the struct"),
        );
    }
}

/// The arguments that `parts` adds.
const ADDED: [&str; 2] = ["max_length", "start_index"];

fn check_parts(
    parameters: &[ValidParam<'_>],
    options: &ToolOptions,
    diagnostics: &mut Diagnostics,
) {
    let Some(parts) = &options.parts else {
        return;
    };
    if parameters
        .iter()
        .any(|param| matches!(param, ValidParam::Whole { .. }))
    {
        diagnostics.error(
            parts,
            "`parts` cannot be combined with a flattened argument\nhelp: use one parameter for each argument",
        );
    }
    for argument in parameters::arguments(parameters) {
        if ADDED.contains(&&*argument.name) {
            let name = &argument.name;
            diagnostics.error(
                argument.ident,
                format!(
                    "`parts` adds an argument called `{name}`\nhelp: remove this one, or rename it"
                ),
            );
        }
    }
}
