//! `export!`: declares the tables of a servlet and its wasm exports.

#[cfg(feature = "xtp")]
mod xtp;

/// Declares the servlet of a crate: its features, and its wasm exports.
///
/// ```
/// # use mcp_servlet::prelude::*;
/// # /// Says hello.
/// # #[tool]
/// # fn hello() -> &'static str { "hello" }
/// # /// What it says.
/// # #[resource(uri = "docs://hello")]
/// # fn about() -> &'static str { "hello" }
/// mcp_servlet::export!(static SERVLET = {
///     name: "greeter",
///     instructions: "Be polite.",
///     tools: [hello],
///     resources: [about],
/// });
/// # fn main() { assert_eq!(SERVLET.client().describe().unwrap().instructions.as_deref(), Some("Be polite.")); }
/// ```
///
/// | section | content |
/// |---|---|
/// | `name`, `version` | strings; default: those of the package |
/// | `instructions` | how a model should use the servlet |
/// | `tools` | functions with [`#[tool]`](macro@crate::tool) |
/// | `resources` | functions with [`#[resource]`](macro@crate::resource) or [`#[resource_template]`](macro@crate::resource_template) |
/// | `prompts` | functions with [`#[prompt]`](macro@crate::prompt) |
/// | `completions` | functions with [`#[completion]`](macro@crate::completion) |
/// | `errors` | functions that make a [`ToolError`](crate::ToolError) of a reference to an error type, such as `fn(&MyError) -> ToolError`; they apply to each error of this type, and to errors that it caused |
/// | `config` | the type that [`Context::config`](crate::Context::config) reads |
/// | `hosts` | the hosts that it sends HTTP requests to, such as `"api.example"` or `"*.example"`; `config.base_url` is the host of that configuration value |
/// | `paths` | the directories that it opens, such as `"/data"` |
/// | `calls` | the tools of other servers that it [calls](crate::Context::tools), such as `"weather:get_weather"` or `"air:*"` |
/// | `reads` | the resources of other servers that it reads, such as `"docs:file:///*"` |
///
/// All sections are optional and in any order. Clients get lists in the order of the entries here; an
/// entry may be a path and may carry `#[cfg(…)]`. A function that is not listed is unused code, and rustc
/// warns about it. In addition to the exports by which hosts recognize a servlet, the wasm exports only what a
/// section needs.
///
/// `config`, `hosts`, `paths`, `calls` and `reads` grant nothing: they tell operators what to configure and allow. The wasm
/// contains them in the custom section `mcp-servlet:needs`, which adds nothing to its code and data, and
/// [`Servlet::needs`](crate::Servlet::needs) returns them in tests.
#[macro_export]
macro_rules! export {
    ($($declaration:tt)*) => {
        $crate::__private::export! { ($crate) $($declaration)* }
    };
}

/// The wasm exports for tools. Both are always exported, since hosts recognize a servlet by them.
#[cfg(not(mcp_servlet_abi = "hyper-mcp-v2"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_exports {
    ($servlet:ident $begin:ident $($call:ident)?) => {
        $crate::__wasm_export! { $begin "describe" describe(&$servlet) }
        $crate::__wasm_export! { $begin "call" call(&$servlet) }
    };
}

/// The wasm exports for tools in the other ABI; the list also contains the servlet's name and version.
#[cfg(mcp_servlet_abi = "hyper-mcp-v2")]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_exports {
    ($servlet:ident $begin:ident $($call:ident)?) => {
        $crate::__wasm_export! { $begin "list_tools" describe(&$servlet) }
        $($crate::__wasm_export! { $begin "call_tool" $call(&$servlet) })?
    };
}

/// A wasm export. Its function has a scope of its own, so that it hides no function of the author.
#[doc(hidden)]
#[macro_export]
macro_rules! __wasm_export {
    ($begin:ident $name:literal $function:ident($servlet:expr)) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            extern "C" fn __export() -> ::core::primitive::i32 {
                $begin();
                $crate::__private::$function($servlet)
            }
        };
    };
}
