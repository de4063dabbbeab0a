//! Write MCP servlets in Rust.
//!
//! An *MCP servlet* is a WebAssembly plugin that gives a model tools. Hosts load it, ask it to
//! describe itself, call its tools and speak MCP to the client. With this crate it is a few
//! annotated functions:
//!
//! ```
//! use mcp_servlet::prelude::*;
//!
//! /// A very simple tool to provide a greeting.
//! #[tool]
//! fn greet(
//!     /// the name of the person to greet
//!     name: String,
//! ) -> String {
//!     format!("Hello, {name}!")
//! }
//!
//! mcp_servlet::export!(static SERVLET = { tools: [greet] });
//! # fn main() {}
//! ```
//!
//! Built as a `cdylib` for `wasm32-unknown-unknown`, that is a servlet for every host. Natively it is
//! an ordinary function, and [`Servlet::call`] goes through the real dispatch in a unit test.
//!
//! - [`macro@tool`] turns a function into a tool; its parameters are the tool's arguments.
//! - [`derive@Schema`] lets a type of yours be an argument or a structured result.
//! - [`IntoToolResult`] lists what a tool may return; [`ToolError`] and [`Fault`] are its errors.
//! - [`Context`] is what a tool may ask of its host.
//! - [`testing`] prepares a context for tests.
//!
//! # Features
//!
//! - `panic-hook` (default): a panic reaches the host as an error with its message, not as a bare trap.
//! - `small-allocator` (default): an allocator that takes 8 KB less than std's, and less time; turn it off to
//!   bring your own.
//! - `http`: [`Context::http`](Context), through the host.

#[cfg(target_family = "wasm")]
mod abi;
#[cfg(all(
    target_arch = "wasm32",
    not(target_feature = "atomics"),
    feature = "small-allocator"
))]
mod allocator;
mod arguments;
mod context;
mod error;
#[cfg(target_family = "wasm")]
mod exports;
mod report;
mod request;
mod result;
pub mod schema;
mod servlet;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod tool;
mod unique;

#[doc(hidden)]
pub mod __private;

/// The code in the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Makes a function a tool.
///
/// The doc comment is the description that the model reads. Parameters are arguments, read by their
/// types; a parameter taken by reference is the [`Context`]. The function stays as it is, so a unit
/// test can call it.
///
/// ```
/// use mcp_servlet::prelude::*;
///
/// /// Repeats a word.
/// #[tool(title = "Repeat", read_only, idempotent)]
/// fn repeat(
///     /// the word
///     word: String,
///     /// how many times
///     #[arg(default = 2, min = 1, max = 100)]
///     times: u8,
/// ) -> String {
///     word.repeat(usize::from(times))
/// }
/// # assert_eq!(repeat("ab".into(), 3), "ababab");
/// ```
///
/// | on the function | meaning |
/// |---|---|
/// | `name = "…"` | the tool's name, if not the function's |
/// | `title = "…"` | the name that people see |
/// | `description = "…"` | the description, if not the doc comment |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | MCP's hints; `read_only = false` says the opposite |
/// | `input_schema = include_str!("…")` | a schema written by hand, for a function of one argument that takes all of them |
/// | `crate = path` | where this crate is, if it was renamed |
///
/// | on a parameter | meaning |
/// |---|---|
/// | `#[arg(default)]`, `#[arg(default = …)]` | the value when it is absent |
/// | `#[arg(rename = "…")]` | the argument's name, if not the parameter's |
/// | `#[arg(example = …)]` | an example, for the model |
/// | `#[arg(min = …, max = …)]` | bounds of a number, both inclusive |
/// | `#[arg(flatten)]` | the parameter takes all arguments: a struct that derives [`Schema`](derive@Schema) |
///
/// An argument of type `Option` may be left out. Whatever does not fit, the model is told: which
/// argument by JSON pointer, what was expected, and what came.
///
/// A tool cannot share its name with a module beside it: its marker type has the function's name.
pub use mcp_servlet_macros::tool;

/// Gives a type a JSON Schema that says what serde does with it.
///
/// It reads the type's serde attributes and doc comments; see the trait [`Schema`](trait@Schema).
/// `#[schema(example = …)]` on a field shows the model an example, and `#[schema(json = "…")]` stands
/// in for the schema of a field whose serde code is written by hand (`#[serde(with = "…")]`).
///
/// ```
/// use mcp_servlet::prelude::*;
///
/// /// What to do with it.
/// #[derive(Deserialize, Schema)]
/// #[serde(rename_all = "snake_case", tag = "kind")]
/// enum Action {
///     /// Move it.
///     Move {
///         /// where to
///         to: String,
///     },
///     /// Throw it away.
///     Delete,
/// }
/// ```
pub use mcp_servlet_macros::Schema;

pub use mcp_servlet_json::RawJson;
pub use mcp_servlet_types::Content;

#[cfg(feature = "http")]
pub use self::context::http::{HttpError, HttpRequest, HttpResponse};
pub use self::context::{Context, Level};
pub use self::error::{Fault, ToolError};
pub use self::result::{IntoToolResult, Json, ToolResult};
pub use self::schema::Schema;
pub use self::servlet::Servlet;

/// Everything that a servlet usually names.
pub mod prelude {
    pub use serde::{Deserialize, Serialize};

    pub use crate::{
        Content, Context, Fault, IntoToolResult, Json, Level, RawJson, Schema, ToolError,
        ToolResult, tool,
    };
}

/// Declares the servlet of a crate: its tools, and its wasm exports.
///
/// ```
/// # use mcp_servlet::prelude::*;
/// # /// Says hello.
/// # #[tool]
/// # fn hello() -> &'static str { "hello" }
/// mcp_servlet::export!(static SERVLET = {
///     name: "greeter",
///     instructions: "Be polite.",
///     tools: [hello],
/// });
/// # fn main() { assert_eq!(SERVLET.describe().instructions.as_deref(), Some("Be polite.")); }
/// ```
///
/// `name` and `version` are the package's unless given. Tools are listed to clients in this order; an
/// entry may be a path and may carry `#[cfg(…)]`. A tool that is not listed is unused code, and rustc
/// says so.
#[macro_export]
macro_rules! export {
    ($(#[$attribute:meta])* $visibility:vis static $servlet:ident = { $($sections:tt)* } $(;)?) => {
        $crate::__export! {
            [ [$(#[$attribute])* $visibility] $servlet ]
            [ name (env!("CARGO_PKG_NAME")) ]
            [ version (env!("CARGO_PKG_VERSION")) ]
            [ instructions ("") ]
            [ tools () ]
            $($sections)*
        }
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "`export!` takes one declaration\nhelp: write `export!(static SERVLET = { tools: [greet] });`"
        );
    };
}

/// One section after the other is moved from the input into its place in the state.
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($item:tt [name $name:tt] $version:tt $instructions:tt $tools:tt name: $value:expr $(, $($rest:tt)*)?) => {
        $crate::__export! { $item [name ($value)] $version $instructions $tools $($($rest)*)? }
    };
    ($item:tt $name:tt [version $version:tt] $instructions:tt $tools:tt version: $value:expr $(, $($rest:tt)*)?) => {
        $crate::__export! { $item $name [version ($value)] $instructions $tools $($($rest)*)? }
    };
    ($item:tt $name:tt $version:tt [instructions $instructions:tt] $tools:tt instructions: $value:expr $(, $($rest:tt)*)?) => {
        $crate::__export! { $item $name $version [instructions ($value)] $tools $($($rest)*)? }
    };
    ($item:tt $name:tt $version:tt $instructions:tt [tools $tools:tt] tools: [$($new:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__export! { $item $name $version $instructions [tools ($($new)*)] $($($rest)*)? }
    };
    (
        [ [$($head:tt)*] $servlet:ident ]
        [name $name:tt] [version $version:tt] [instructions $instructions:tt]
        [tools ($($(#[$attribute:meta])* $tool:path),* $(,)?)]
    ) => {
        #[allow(dead_code, reason = "only the wasm exports and tests read it")]
        $($head)* static $servlet: $crate::Servlet = {
            const DESCRIPTION: $crate::__private::Description = $crate::__private::Description {
                name: $name,
                version: $version,
                instructions: $instructions,
                tools: &[$($(#[$attribute])* <$tool as $crate::__private::Tool>::DEF),*],
            };
            #[allow(long_running_const_eval, reason = "long descriptions take long to render")]
            const LENGTH: usize = DESCRIPTION.length();
            #[allow(long_running_const_eval, reason = "long descriptions take long to render")]
            static TEXT: [u8; LENGTH] = DESCRIPTION.render::<LENGTH>();
            $crate::Servlet::new(
                &TEXT,
                &[$($(#[$attribute])* <$tool as $crate::__private::Tool>::ENTRY),*],
            )
        };

        #[cfg(target_family = "wasm")]
        const _: () = {
            #[unsafe(export_name = "describe")]
            extern "C" fn describe() -> i32 {
                $crate::__private::describe(&$servlet)
            }

            #[unsafe(export_name = "call")]
            extern "C" fn call() -> i32 {
                $crate::__private::call(&$servlet)
            }
        };
    };
    ($item:tt $name:tt $version:tt $instructions:tt $tools:tt $section:ident $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "unexpected `", ::core::stringify!($section), "` in `export!`",
            "\nhelp: the sections are `name: \"…\"`, `version: \"…\"`, `instructions: \"…\"` and `tools: [...]`",
        ));
    };
}
