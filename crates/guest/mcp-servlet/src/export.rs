//! `export!`: turns lists of functions into the tables of a servlet and its wasm exports.

mod needs;
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
/// | `resources` | functions with [`#[resource]`](macro@crate::resource) |
/// | `resource_templates` | functions with [`#[resource_template]`](macro@crate::resource_template) |
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
    ($(#[$attribute:meta])* $visibility:vis static $servlet:ident = { $($sections:tt)* } $(;)?) => {
        $crate::__export! {
            [ [$(#[$attribute])* $visibility] $servlet ]
            [ name () else (::core::env!("CARGO_PKG_NAME")) ]
            [ version () else (::core::env!("CARGO_PKG_VERSION")) ]
            [ instructions () else ("") ]
            [ tools () ]
            [ resources () ]
            [ resource_templates () ]
            [ prompts () ]
            [ completions () ]
            [ needs () () () () () ]
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
    ($i:tt [name () else $n:tt] $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt $d:tt name: $new:expr $(, $($rest:tt)*)?) => {
        $crate::__export! { $i [name ($new) else $n] $v $h $t $r $f $p $c $d $($($rest)*)? }
    };
    ($i:tt $n:tt [version () else $v:tt] $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt $d:tt version: $new:expr $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n [version ($new) else $v] $h $t $r $f $p $c $d $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt [instructions () else $h:tt] $t:tt $r:tt $f:tt $p:tt $c:tt $d:tt instructions: $new:expr $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v [instructions ($new) else $h] $t $r $f $p $c $d $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt [tools ()] $r:tt $f:tt $p:tt $c:tt $d:tt tools: [$($new:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h [tools ($($new)*)] $r $f $p $c $d $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt [resources ()] $f:tt $p:tt $c:tt $d:tt resources: [$($new:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t [resources ($($new)*)] $f $p $c $d $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt [resource_templates ()] $p:tt $c:tt $d:tt resource_templates: [$($new:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t $r [resource_templates ($($new)*)] $p $c $d $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt [prompts ()] $c:tt $d:tt prompts: [$($new:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t $r $f [prompts ($($new)*)] $c $d $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt [completions ()] $d:tt completions: [$($new:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t $r $f $p [completions ($($new)*)] $d $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt [needs () $($needs:tt)*] config: $new:ty $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t $r $f $p $c [needs ($new) $($needs)*] $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt [needs $config:tt () $($needs:tt)*] hosts: [$($new:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t $r $f $p $c [needs $config ($($new)*) $($needs)*] $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt [needs $config:tt $hosts:tt () $($needs:tt)*] paths: [$($new:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t $r $f $p $c [needs $config $hosts ($($new),*) $($needs)*] $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt [needs $config:tt $hosts:tt $paths:tt () $reads:tt] calls: [$($new:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t $r $f $p $c [needs $config $hosts $paths ($($new),*) $reads] $($($rest)*)? }
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt [needs $config:tt $hosts:tt $paths:tt $calls:tt ()] reads: [$($new:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__export! { $i $n $v $h $t $r $f $p $c [needs $config $hosts $paths $calls ($($new),*)] $($($rest)*)? }
    };
    ([ $head:tt $servlet:ident ] $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt $d:tt errors: [$($new:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__export! { [ $head $servlet [$($new)*] ] $n $v $h $t $r $f $p $c $d $($($rest)*)? }
    };
    (
        [ [$($head:tt)*] $servlet:ident $([$($errors:tt)*])? ]
        [name ($($name:expr)?) else $no_name:tt]
        [version ($($version:expr)?) else $no_version:tt]
        [instructions ($($instructions:expr)?) else $no_instructions:tt]
        [tools ($($tools:tt)*)]
        [resources ($($resources:tt)*)] [resource_templates ($($templates:tt)*)]
        [prompts ($($prompts:tt)*)] [completions ($($completions:tt)*)]
        [needs $($needs:tt)*]
    ) => {
        #[allow(dead_code, reason = "only the wasm exports and tests read it")]
        #[allow(long_running_const_eval, reason = "long descriptions take long to look through")]
        $($head)* static $servlet: $crate::Servlet = {
            const __TOOLS: &[$crate::__private::ToolItem] =
                $crate::__private::each_function_needs_tool_attribute! { [$crate::__private] Tool ITEM: $crate::__private::ToolItem, unique_tool; $($tools)* };
            const __DESCRIPTION: $crate::__private::Description = $crate::__private::Description {
                name: $crate::__or! { $($name)? => $no_name },
                version: $crate::__or! { $($version)? => $no_version },
                instructions: $crate::__or! { $($instructions)? => $no_instructions },
                tools: __TOOLS,
            };
            let servlet = $crate::Servlet::new(
                $crate::__rendered!(Description, __DESCRIPTION),
                &$crate::__private::entries::<_, _, { __TOOLS.len() }>(__TOOLS),
            );
            let servlet = $crate::__with_generators! { servlet, __DESCRIPTION };
            #[cfg(not(target_family = "wasm"))]
            let servlet = servlet.with_features({
                $crate::__features! { ($($resources)*) ($($templates)*) ($($prompts)*) ($($completions)*) }
                &__FEATURES
            });
            #[cfg(not(target_family = "wasm"))]
            let servlet = $crate::__needs! { servlet $($needs)* };
            #[cfg(not(target_family = "wasm"))]
            let servlet = servlet $(.with_errors($crate::__conversion!($($errors)*)))?;
            servlet
        };

        // A macro that is exported exists once in a crate, so a second `export!` is an error natively, too. A test has
        // one crate for several.
        #[cfg(not(test))]
        #[doc(hidden)]
        #[allow(non_local_definitions, reason = "`export!` may be used in a function")]
        #[macro_export]
        macro_rules! one_export_per_crate {
            () => {};
        }

        #[cfg(target_family = "wasm")]
        const _: () = {
            $crate::__needs_section! { $($needs)* }
            fn __begin() {
                $($crate::__private::set_conversion($crate::__conversion!($($errors)*));)?
            }
            $crate::__tool_shims! { $servlet ($($tools)*) }
            $crate::__features! { ($($resources)*) ($($templates)*) ($($prompts)*) ($($completions)*) }
            $crate::__shim! { __FEATURES "list_resources" list_resources ($($resources)*) }
            $crate::__shim! { __FEATURES "list_resource_templates" list_resource_templates ($($templates)*) }
            $crate::__shim! { __FEATURES "read_resource" read_resource ($($resources)* $($templates)*) }
            $crate::__shim! { __FEATURES "list_prompts" list_prompts ($($prompts)*) }
            $crate::__shim! { __FEATURES "get_prompt" get_prompt ($($prompts)*) }
            $crate::__shim! { __FEATURES "complete" complete ($($completions)*) }
        };
    };
    ($i:tt $n:tt $v:tt $h:tt $t:tt $r:tt $f:tt $p:tt $c:tt $d:tt $($section:tt)*) => {
        $crate::__wrong_section! { $($section)* }
    };
}

/// The conversion of errors with these functions.
#[doc(hidden)]
#[macro_export]
macro_rules! __conversion {
    ($($(#[$attribute:meta])* $function:path),* $(,)?) => {{
        const CONVERSIONS: &[$crate::__private::Conversion] =
            &[$($(#[$attribute])* |error| $crate::__private::converted(error, $function)),*];
        |error| $crate::__private::converted_by(CONVERSIONS, error)
    }};
}

/// A value, or else what stands for it.
#[doc(hidden)]
#[macro_export]
macro_rules! __or {
    (=> ($default:expr)) => {
        $default
    };
    ($value:expr => $default:tt) => {
        $value
    };
}

/// The compile error for a section that is wrong.
#[doc(hidden)]
#[macro_export]
macro_rules! __wrong_section {
    (tools: $one:path $(, $($rest:tt)*)?) => { $crate::__wrong_section! { tools of $one } };
    (resources: $one:path $(, $($rest:tt)*)?) => { $crate::__wrong_section! { resources of $one } };
    (resource_templates: $one:path $(, $($rest:tt)*)?) => { $crate::__wrong_section! { resource_templates of $one } };
    (prompts: $one:path $(, $($rest:tt)*)?) => { $crate::__wrong_section! { prompts of $one } };
    (completions: $one:path $(, $($rest:tt)*)?) => { $crate::__wrong_section! { completions of $one } };
    (errors: $one:path $(, $($rest:tt)*)?) => { $crate::__wrong_section! { errors of $one } };
    (hosts: $one:literal $(, $($rest:tt)*)?) => { $crate::__wrong_section! { hosts of $one } };
    (paths: $one:literal $(, $($rest:tt)*)?) => { $crate::__wrong_section! { paths of $one } };
    (calls: $one:literal $(, $($rest:tt)*)?) => { $crate::__wrong_section! { calls of $one } };
    (reads: $one:literal $(, $($rest:tt)*)?) => { $crate::__wrong_section! { reads of $one } };
    ($section:ident of $one:expr) => {
        ::core::compile_error!(::core::concat!(
            "`", ::core::stringify!($section), "` in `export!` takes a list, found `", ::core::stringify!($one), "`",
            "\nhelp: put it in brackets: `", ::core::stringify!($section), ": [", ::core::stringify!($one), "]`",
        ));
    };
    ($section:tt $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "unexpected `", ::core::stringify!($section), "` in `export!`",
            "\nhelp: the sections, each at most once, are `name: \"…\"`, `version: \"…\"`, `instructions: \"…\"`, ",
            "`tools: [...]`, `resources: [...]`, `resource_templates: [...]`, `prompts: [...]`, `completions: [...]`, ",
            "`errors: [...]`, `config: Type`, `hosts: [\"…\"]`, `paths: [\"…\"]`, `calls: [\"…\"]` and `reads: [\"…\"]`",
        ));
    };
}

/// The entries of the sections other than `tools`, as a static.
#[doc(hidden)]
#[macro_export]
macro_rules! __features {
    (
        ($($resources:tt)*) ($($templates:tt)*) ($($prompts:tt)*) ($($completions:tt)*)
    ) => {
        #[allow(dead_code, reason = "without sections, no export reads it")]
        #[allow(long_running_const_eval, reason = "many entries take long to compare")]
        static __FEATURES: $crate::__private::Features = {
            const __RESOURCES: &[$crate::__private::Item<$crate::__private::ResourceDef, $crate::__private::ResourceEntry>] =
                $crate::__private::each_function_needs_resource_attribute! { [$crate::__private] Resource ITEM: $crate::__private::Item<$crate::__private::ResourceDef, $crate::__private::ResourceEntry>, unique_resource; $($resources)* };
            const __TEMPLATES: &[$crate::__private::Item<$crate::__private::ResourceDef, $crate::__private::TemplateEntry>] =
                $crate::__private::each_function_needs_resource_template_attribute! { [$crate::__private] ResourceTemplate ITEM: $crate::__private::Item<$crate::__private::ResourceDef, $crate::__private::TemplateEntry>, unique_resource_template; $($templates)* };
            const __PROMPTS: &[$crate::__private::Item<$crate::__private::PromptDef, $crate::__private::PromptEntry>] =
                $crate::__private::each_function_needs_prompt_attribute! { [$crate::__private] Prompt ITEM: $crate::__private::Item<$crate::__private::PromptDef, $crate::__private::PromptEntry>, unique_prompt; $($prompts)* };
            $crate::__private::Features::new(
                $crate::__private::Listed::new(
                    $crate::__rendered!(List, $crate::__private::List::Resources(__RESOURCES)),
                    &$crate::__private::entries::<_, _, { __RESOURCES.len() }>(__RESOURCES),
                ),
                $crate::__private::Listed::new(
                    $crate::__rendered!(List, $crate::__private::List::Templates(__TEMPLATES)),
                    &$crate::__private::TemplateEntry::in_order($crate::__private::entries::<_, _, { __TEMPLATES.len() }>(__TEMPLATES)),
                ),
                $crate::__private::Listed::new(
                    $crate::__rendered!(List, $crate::__private::List::Prompts(__PROMPTS)),
                    &$crate::__private::entries::<_, _, { __PROMPTS.len() }>(__PROMPTS),
                ),
                $crate::__private::each_function_needs_completion_attribute! { [$crate::__private] Suggest ENTRY: $crate::__private::CompletionEntry, unique_completion; $($completions)* },
            )
        };
    };
}

/// The JSON of a constant of this type.
#[doc(hidden)]
#[macro_export]
macro_rules! __rendered {
    ($ty:ident, $value:expr) => {{
        const __VALUE: $crate::__private::$ty = $value;
        #[allow(
            long_running_const_eval,
            reason = "long descriptions take long to render"
        )]
        const __LENGTH: usize = __VALUE.length();
        #[allow(
            long_running_const_eval,
            reason = "long descriptions take long to render"
        )]
        static __TEXT: [u8; __LENGTH] = __VALUE.render::<__LENGTH>();
        &__TEXT
    }};
}

/// The servlet with the generators that fill the gaps in its description.
#[cfg(feature = "schemars")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_generators {
    ($servlet:ident, $description:ident) => {
        $servlet.with_generators(const { &$description.generators() })
    };
}

/// The servlet without generators: all schemas are constants.
#[cfg(not(feature = "schemars"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_generators {
    ($servlet:ident, $description:ident) => {
        $servlet
    };
}

/// The wasm exports for tools. Both are always exported, since hosts recognize a servlet by them.
#[cfg(not(mcp_servlet_abi = "hyper-mcp-v2"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_shims {
    ($servlet:ident ($($tool:tt)*)) => {
        $crate::__shim! { $servlet "describe" describe (always) }
        $crate::__shim! { $servlet "call" call (always) }
    };
}

/// The wasm exports for tools in the other ABI; the list also contains the servlet's name and version.
#[cfg(mcp_servlet_abi = "hyper-mcp-v2")]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_shims {
    ($servlet:ident ($($tool:tt)*)) => {
        $crate::__shim! { $servlet "list_tools" describe (always) }
        $crate::__shim! { $servlet "call_tool" call ($($tool)*) }
    };
}

/// A wasm export, if its sections are not empty.
#[doc(hidden)]
#[macro_export]
macro_rules! __shim {
    ($of:ident $name:literal $function:ident ()) => {};
    ($of:ident $name:literal $function:ident ($($some:tt)+)) => {
        #[unsafe(export_name = $name)]
        extern "C" fn $function() -> i32 {
            __begin();
            $crate::__private::$function(&$of)
        }
    };
}
