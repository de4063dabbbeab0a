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
            missing_docs,
            unreachable_pub,
            clippy::all,
            clippy::pedantic,
            reason = "names and descriptions are those of the server, and a program may leave a part of it unused"
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
