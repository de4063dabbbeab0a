//! The trait through which typed clients call a server.
//!
//! `servlet gen client` and `ClientBuild` of `xtp-codegen` generate a client from the catalog of an MCP server. The client is
//! generic over a [`Caller`]: a session of `mcp-servlet-client` is one, and so is `context.tools().member("weather")` in a
//! servlet. This crate has the trait, and the few types that the generated code names. It depends only on serde, so the code
//! also compiles for wasm.

#![no_std]

extern crate alloc;

mod caller;
mod entry;
mod template;
mod value;

pub use caller::{Caller, NoArguments, Wrap};
pub use entry::{Entry, EntryKind};
pub use template::expand;
pub use value::Value;

/// Includes the client that `ClientBuild` generated in a build script from the catalog of the same name.
///
/// ```text
/// mcp_caller::client!(pub mod weather);        // after ClientBuild::new("weather.catalog.json") in build.rs
/// ```
#[macro_export]
macro_rules! client {
    ($(#[$attribute:meta])* $visibility:vis mod $name:ident $(;)?) => {
        $(#[$attribute])*
        #[allow(
            dead_code,
            unreachable_pub,
            reason = "a program may use a part of the client, in a private module"
        )]
        #[allow(
            missing_docs,
            clippy::doc_lazy_continuation,
            clippy::doc_link_with_quotes,
            clippy::doc_markdown,
            clippy::doc_overindented_list_items,
            reason = "descriptions are those of the server"
        )]
        #[allow(
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
            reason = "names and types are those of the server"
        )]
        $visibility mod $name {
            ::core::include!(::core::concat!(
                ::core::env!("OUT_DIR"),
                "/",
                ::core::stringify!($name),
                ".rs"
            ));
        }
    };
}
