//! `#[tool]`: parse the function's signature and attributes, check them, expand.

mod emit;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::{LitInt, LitStr};

use crate::attributes::{CratePath, Entry, Key, key};
use crate::diagnostics::Diagnostics;
use crate::function::attribute::FunctionAttribute;
use crate::function::{FnHead, ValidParam, check, parameters};
use crate::presentation::Presentation;

/// `#[tool]`
pub(crate) struct Tool;

/// `#[tool(…)]`
#[derive(Default)]
pub(crate) struct ToolOptions {
    name: Option<LitStr>,
    title: Option<TokenStream>,
    description: Option<TokenStream>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    /// Whether calls can run as tasks: one of [`TASK_SUPPORT`].
    task: Option<LitStr>,
    input_schema: Option<TokenStream>,
    /// The default of `max_length`, in characters.
    parts: Option<LitInt>,
    presentation: Presentation,
    krate: CratePath,
}

/// The options of `#[tool]`.
const KEYS: &[Key<ToolOptions>] = &[
    key!(name: string),
    key!(title: expression),
    key!(description: expression),
    key!(read_only: flag),
    key!(destructive: flag),
    key!(idempotent: flag),
    key!(open_world: flag),
    Key::new("task", |options, entry, diagnostics| {
        options.task = task_support(entry, diagnostics);
    }),
    key!(input_schema: expression),
    key!(parts: count),
    key!(presentation.icons),
    key!(presentation.meta),
    Key::new("ui", |options, entry, diagnostics| {
        options.presentation.tool_ui(entry, diagnostics);
    }),
    key!(crate),
];

/// A function that can be a tool.
pub(crate) struct ValidTool<'a> {
    options: &'a ToolOptions,
    head: &'a FnHead,
    name: String,
    /// The type that the function returns.
    output: TokenStream,
    parameters: Vec<ValidParam<'a>>,
}

impl FunctionAttribute for Tool {
    type Options = ToolOptions;
    type Valid<'a> = ValidTool<'a>;

    fn name(&self) -> &'static str {
        "tool"
    }

    fn keys(&self) -> Vec<Key<ToolOptions>> {
        KEYS.to_vec()
    }

    fn validate<'a>(
        &self,
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

    fn emit(&self, tool: &ValidTool<'_>) -> TokenStream {
        emit::tool(tool)
    }

    fn placeholder(&self, head: &FnHead, options: &ToolOptions) -> TokenStream {
        emit::placeholder(head, options)
    }
}

/// The author's function, followed by the items that make it a tool, or by the errors.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    Tool.expand(attribute, item)
}

/// The values of `taskSupport` in MCP.
const TASK_SUPPORT: [&str; 3] = ["forbidden", "optional", "required"];

fn task_support(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<LitStr> {
    let text = entry.string(diagnostics)?;
    if TASK_SUPPORT.contains(&text.value().as_str()) {
        return Some(text);
    }
    diagnostics.error(
        &text,
        "`task` is \"forbidden\", \"optional\" or \"required\"\nhelp: write `task = \"optional\"`",
    );
    None
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
