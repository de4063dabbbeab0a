//! The macros of `mcp-servlet`, which re-exports and documents them.
//!
//! Each macro parses the author's item, checks every rule and expands. Expansions contain no logic;
//! they call `mcp_servlet::__private`. The author's item comes first and unchanged, even if there are errors.

mod attributes;
mod completion;
mod derive;
mod diagnostics;
mod docs;
#[cfg(test)]
mod documented;
mod export;
mod from_text;
mod function;
#[cfg(test)]
mod hygiene;
mod presentation;
mod prompt;
mod resource;
mod test;
mod tool;
mod warning;

use proc_macro::TokenStream;

/// Makes a function a tool.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(attribute.into(), item.into()).into()
}

/// Makes a function a resource.
#[proc_macro_attribute]
pub fn resource(attribute: TokenStream, item: TokenStream) -> TokenStream {
    resource::expand(resource::Kind::Fixed, attribute.into(), item.into()).into()
}

/// Makes a function a family of resources.
#[proc_macro_attribute]
pub fn resource_template(attribute: TokenStream, item: TokenStream) -> TokenStream {
    resource::expand(resource::Kind::Template, attribute.into(), item.into()).into()
}

/// Makes a function a prompt.
#[proc_macro_attribute]
pub fn prompt(attribute: TokenStream, item: TokenStream) -> TokenStream {
    prompt::expand(attribute.into(), item.into()).into()
}

/// Makes a function suggest values.
#[proc_macro_attribute]
pub fn completion(attribute: TokenStream, item: TokenStream) -> TokenStream {
    completion::expand(attribute.into(), item.into()).into()
}

/// Makes a function a test that runs natively and against wasm.
#[proc_macro_attribute]
pub fn test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(attribute.into(), item.into()).into()
}

/// Declares the servlet of a crate. `export!` of `mcp-servlet` passes its path first.
#[doc(hidden)]
#[proc_macro]
pub fn __export(input: TokenStream) -> TokenStream {
    export::expand(input.into()).into()
}

/// The marker type of a function that `export!` lists. Not part of the API.
#[doc(hidden)]
#[proc_macro]
pub fn __marker(path: TokenStream) -> TokenStream {
    export::marker(path.into()).into()
}

/// Gives a type a JSON Schema.
#[proc_macro_derive(Schema, attributes(schema, serde))]
pub fn schema(item: TokenStream) -> TokenStream {
    derive::expand(item.into()).into()
}

/// Lets a type of one field be read from text.
#[proc_macro_derive(FromText, attributes(text))]
pub fn from_text(item: TokenStream) -> TokenStream {
    from_text::expand(item.into()).into()
}
