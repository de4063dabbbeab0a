//! Defines tools of three arguments as an author would: a string, an optional string, an integer.
#![allow(unused_macros, reason = "not every servlet has such tools")]

macro_rules! tools {
    ($($tool:ident $says:literal {
        $text:ident $of_text:literal, $option:ident $of_option:literal, $number:ident $of_number:literal,
    })*) => {
        use mcp_servlet::prelude::*;

        $(#[doc = $says]
        #[tool]
        fn $tool(
            #[doc = $of_text] $text: String,
            #[doc = $of_option] $option: Option<String>,
            #[doc = $of_number] $number: i64,
        ) -> String {
            format!("{}, {}, {}", $text, $option.unwrap_or_default(), $number)
        })*

        mcp_servlet::export!(static SERVLET = { tools: [$($tool),*] });
    };
}
