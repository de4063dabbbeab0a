//! The purpose of functions, and what an author can do about their size.

use super::Function;

/// The theme of a function: the purpose that its code serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Theme {
    /// The author's code, and libraries without a theme of their own.
    Own,
    /// Dispatch, arguments and results.
    Servlet,
    /// Reading and writing JSON.
    Json,
    /// The library `serde_json`.
    SerdeJson,
    /// Parsing and printing floating-point numbers.
    Floats,
    /// `format!` and the formatting of values.
    Formatting,
    /// Errors with backtraces.
    Backtraces,
    /// Panics.
    Panics,
    /// The allocator.
    Allocator,
    /// Vectors, strings and maps.
    Collections,
    /// Unicode tables and the code that uses them.
    Unicode,
    /// Functions whose name does not show what they are for.
    Other,
}

/// Parts of function names and their themes. The first match applies.
const PIECES: &[(Theme, &[&str])] = &[
    (
        Theme::Backtraces,
        &[
            "anyhow::",
            "backtrace",
            "rustc_demangle",
            "gimli::",
            "addr2line::",
        ],
    ),
    (
        Theme::Floats,
        &[
            "flt2dec",
            "dec2flt",
            "fmt::float",
            "float_to_decimal",
            "ryu::",
            "zmij::",
            "for f64>",
            "for f32>",
        ],
    ),
    (Theme::SerdeJson, &["serde_json::"]),
    (Theme::Json, &["mcp_servlet_json::"]),
    (Theme::Servlet, &["mcp_servlet::"]),
    (
        Theme::Unicode,
        &["unicode", "to_lowercase", "to_uppercase", "char::convert"],
    ),
    (
        Theme::Panics,
        &[
            "panic",
            "unwrap_failed",
            "expect_failed",
            "slice_index_fail",
            "rust_oom",
        ],
    ),
    (
        Theme::Allocator,
        &["talc::", "dlmalloc::", "__rdl_", "__rust_", "__rg_"],
    ),
    (Theme::Formatting, &["fmt::", "alloc::fmt"]),
    (
        Theme::Collections,
        &[
            "raw_vec",
            "alloc::vec",
            "vec::",
            "string::",
            "core::str",
            "collections::",
            "slice::",
            "btree",
            "memcpy",
            "memcmp",
            "memset",
        ],
    ),
];

impl Theme {
    pub(super) fn of(function: &Function) -> Self {
        let name = &function.name;
        if name == "?" {
            return Self::Other;
        }
        let is_of_std = ["core", "alloc", "std", "?"].contains(&function.krate());
        let is_ours = function.krate().starts_with("mcp_servlet");
        for (theme, pieces) in PIECES {
            let applies = match theme {
                // The path of a trait that an author implements may also contain these words.
                Self::Json | Self::Servlet => is_ours,
                Self::Unicode | Self::Panics | Self::Formatting | Self::Collections => is_of_std,
                _ => true,
            };
            if applies && pieces.iter().any(|piece| name.contains(piece)) {
                return *theme;
            }
        }
        if is_of_std { Self::Other } else { Self::Own }
    }

    /// The name as people read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Own => "your code and its libraries",
            Self::Servlet => "dispatch, arguments, results",
            Self::Json => "JSON",
            Self::SerdeJson => "serde_json",
            Self::Floats => "floating-point numbers",
            Self::Formatting => "formatting",
            Self::Backtraces => "errors with backtraces",
            Self::Panics => "panics",
            Self::Allocator => "allocator",
            Self::Collections => "vectors, strings, maps",
            Self::Unicode => "Unicode",
            Self::Other => "other",
        }
    }

    /// Advice for the author, if there is any.
    pub(crate) fn advice(self) -> Option<&'static str> {
        Some(match self {
            Self::Floats => {
                "take or return an integer (cents, milliseconds) where it says the same: reading and printing floats comes in only with `f32` and `f64`"
            }
            Self::Backtraces => {
                "return `ToolError`, or an error type of your own, instead of `anyhow::Error`: it brings code for backtraces, which no servlet has"
            }
            Self::SerdeJson => {
                "derive `Deserialize` and `Schema` on a struct, or take `RawJson`, instead of `serde_json::Value`"
            }
            Self::Unicode => {
                "compare with `eq_ignore_ascii_case`, and change case with `to_ascii_lowercase`, where the text is ASCII"
            }
            Self::Allocator => {
                "turn on the feature `global-allocator` of `mcp-servlet`: its allocator is 8 KB smaller than std's"
            }
            _ => return None,
        })
    }
}
