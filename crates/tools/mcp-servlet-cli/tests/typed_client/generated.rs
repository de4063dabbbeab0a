// @generated from the catalog of `everything` 0.1.0 by xtp-codegen. Do not edit.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(
    dead_code,
    unreachable_pub,
    reason = "a program may use a part of the client, in a private module",
)]
#![allow(
    missing_docs,
    clippy::doc_lazy_continuation,
    clippy::doc_link_with_quotes,
    clippy::doc_markdown,
    clippy::doc_overindented_list_items,
    reason = "descriptions are those of the server",
)]
#![allow(
    clippy::enum_variant_names,
    clippy::fn_params_excessive_bools,
    clippy::iter_not_returning_iterator,
    clippy::large_enum_variant,
    clippy::many_single_char_names,
    clippy::struct_excessive_bools,
    clippy::struct_field_names,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::wrong_self_convention,
    reason = "names and types are those of the server",
)]

/// A client of `everything`.
#[derive(Clone, Debug)]
pub struct Everything<C> {
    caller: C,
}

/// What the catalog had, to find out whether the server has changed.
pub const ENTRIES: &[::mcp_caller::Entry] = &[
    ::mcp_caller::Entry::tool(
        "test_structured_content",
        "1ff8ccd0d552ee46cc74cea5167694bc6f365e6dbce6bac7fe08cb342cca419e",
    ),
    ::mcp_caller::Entry::tool(
        "test_custom_header",
        "18955e1091fb019d2c6184a76864f6860b634a76b936663831c26e2d4a70743b",
    ),
    ::mcp_caller::Entry::resource_template(
        "test://template/{id}/data",
        "6fc2737c551ac07f26dadd00dab87fe678086aa3caf3ada6002fa0636dca728c",
    ),
    ::mcp_caller::Entry::prompt(
        "test_prompt_with_arguments",
        "41597722d2d9d26104d8ad7ec7702844f59f3de6c122487490ed42eab02b48e7",
    ),
];

impl<C: ::mcp_caller::Caller> Everything<C> {
    /// A client that calls through `caller`.
    #[must_use]
    pub const fn new(caller: C) -> Self {
        Self { caller }
    }

    /// Answers with data that has a schema.
    ///
    /// Tool `test_structured_content`, read-only.
    #[must_use]
    pub fn test_structured_content(&self) -> C::Answer<'_, TestStructuredContentOutput> {
        self.caller
            .call(
                "test_structured_content",
                &::mcp_caller::NoArguments {},
                ::mcp_caller::Wrap::No,
            )
    }

    /// Repeats an argument that clients send as an HTTP header as well.
    ///
    /// Tool `test_custom_header`, read-only.
    #[must_use]
    pub fn test_custom_header(
        &self,
        arguments: &TestCustomHeader,
    ) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("test_custom_header", arguments)
    }

    /// The prompts.
    #[must_use]
    pub const fn prompts(&self) -> Prompts<'_, C> {
        let caller = &self.caller;
        Prompts { caller }
    }

    /// The resources.
    #[must_use]
    pub const fn resources(&self) -> Resources<'_, C> {
        let caller = &self.caller;
        Resources { caller }
    }
}

/// The prompts of [`Everything`].
#[derive(Clone, Copy, Debug)]
pub struct Prompts<'c, C> {
    caller: &'c C,
}

impl<'c, C: ::mcp_caller::Caller> Prompts<'c, C> {
    /// Repeats its arguments.
    ///
    /// Prompt `test_prompt_with_arguments`.
    #[must_use]
    pub fn test_prompt_with_arguments(
        &self,
        arguments: &TestPromptWithArguments,
    ) -> C::Answer<'c, C::Messages> {
        self.caller.prompt("test_prompt_with_arguments", arguments)
    }
}

/// The resources of [`Everything`].
#[derive(Clone, Copy, Debug)]
pub struct Resources<'c, C> {
    caller: &'c C,
}

impl<'c, C: ::mcp_caller::Caller> Resources<'c, C> {
    /// Data about what has a number or a name.
    ///
    /// Template `test://template/{id}/data`.
    #[must_use]
    pub fn template(&self, id: &str) -> C::Answer<'c, C::Contents> {
        let uri = ::mcp_caller::expand("test://template/{id}/data", &[("id", Some(id))]);
        self.caller.read(&uri)
    }
}

/// Result of the tool `test_structured_content`.
///
/// The weather somewhere.
#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct TestStructuredContentOutput {
    /// in degrees Celsius
    pub temperature: f64,
    /// in words
    pub conditions: String,
}

/// Arguments of the tool `test_custom_header`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct TestCustomHeader {
    /// what to repeat
    pub value: String,
}

/// Arguments of the prompt `test_prompt_with_arguments`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct TestPromptWithArguments {
    /// what to say first
    pub arg1: String,
    /// what to say then
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arg2: Option<String>,
}

impl TestPromptWithArguments {
    /// With the required fields and nothing else.
    #[must_use]
    pub fn new(arg1: impl Into<String>) -> Self {
        Self {
            arg1: arg1.into(),
            arg2: None,
        }
    }
}
