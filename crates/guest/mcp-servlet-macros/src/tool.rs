//! `#[tool]`: parse the function's signature and attributes, check them, expand.

mod emit;
mod options;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;

use self::options::ToolOptions;
use self::validate::ValidTool;
use crate::attributes::Key;
use crate::diagnostics::Diagnostics;
use crate::function::FnHead;
use crate::function::attribute::FunctionAttribute;

/// `#[tool]`
pub(crate) struct Tool;

impl FunctionAttribute for Tool {
    type Options = ToolOptions;
    type Valid<'a> = ValidTool<'a>;

    fn name(&self) -> &'static str {
        "tool"
    }

    fn keys(&self) -> Vec<Key<ToolOptions>> {
        options::KEYS.to_vec()
    }

    fn validate<'a>(
        &self,
        head: &'a FnHead,
        options: &'a ToolOptions,
        diagnostics: &mut Diagnostics,
    ) -> Option<ValidTool<'a>> {
        validate::validate(head, options, diagnostics)
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
