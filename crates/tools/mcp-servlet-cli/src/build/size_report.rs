//! What takes space in a module: its functions, by crate and by theme.

mod theme;

use std::collections::BTreeMap;

use wasmparser::{BinaryReaderError, KnownCustom, Name, Parser, Payload, TypeRef};

pub(super) use self::theme::Theme;

/// One function of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// The Rust name, such as `core::fmt::write`; `?` if the module has no names.
    pub(crate) name: String,
    /// The size of the function body in bytes.
    pub(crate) size: u64,
}

impl Function {
    /// The crate that the function was written in, as far as its name shows.
    pub(crate) fn krate(&self) -> &str {
        let path = self
            .name
            .trim_start_matches(['<', '&', '(', '[', '*'])
            .trim_start_matches("mut ")
            .trim_start_matches("dyn ");
        let end = path
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(path.len());
        if path.get(end..).is_some_and(|rest| rest.starts_with("::")) {
            &path[..end]
        } else {
            "?"
        }
    }

    /// The theme of the function.
    pub(crate) fn theme(&self) -> Theme {
        Theme::of(self)
    }
}

/// The functions of a module, the largest first.
///
/// # Errors
///
/// The bytes are not a module.
pub(crate) fn functions(wasm: &[u8]) -> Result<Vec<Function>, BinaryReaderError> {
    let mut imported = 0;
    let mut sizes = Vec::new();
    let mut names = BTreeMap::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                let imports = imports.into_imports().filter_map(Result::ok);
                imported += imports.filter(|import| is_function(&import.ty)).count();
            }
            Payload::CodeSectionEntry(body) => {
                let range = body.range();
                sizes.push(range.end.saturating_sub(range.start));
            }
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(section) = section.as_known() {
                    collect_names(section, &mut names);
                }
            }
            _ => {}
        }
    }
    let function = |(index, size): (usize, u64)| {
        let name = u32::try_from(imported + index)
            .ok()
            .and_then(|index| names.remove(&index));
        Function {
            name: name.unwrap_or_else(|| "?".to_owned()),
            size,
        }
    };
    let mut functions: Vec<_> = sizes.into_iter().enumerate().map(function).collect();
    functions.sort_by(|one, other| {
        other
            .size
            .cmp(&one.size)
            .then_with(|| one.name.cmp(&other.name))
    });
    Ok(functions)
}

fn is_function(ty: &TypeRef) -> bool {
    matches!(ty, TypeRef::Func(_) | TypeRef::FuncExact(_))
}

fn collect_names(section: wasmparser::NameSectionReader<'_>, names: &mut BTreeMap<u32, String>) {
    for name in section.into_iter().filter_map(Result::ok) {
        if let Name::Function(map) = name {
            for naming in map.into_iter().filter_map(Result::ok) {
                // `{:#}` leaves out the hash.
                names.insert(
                    naming.index,
                    format!("{:#}", rustc_demangle::demangle(naming.name)),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Function, Theme};

    fn assert_sorted(names: &[(&str, &str, Theme)]) {
        for (name, krate, theme) in names {
            let function = Function {
                name: (*name).to_owned(),
                size: 1,
            };
            assert_eq!(
                (function.krate(), function.theme()),
                (*krate, *theme),
                "{name}"
            );
        }
    }

    #[test]
    fn reads_crate_and_theme_of_a_dependency_from_the_name() {
        assert_sorted(&[
            (
                "greet::_::<impl mcp_servlet::tool::Tool for greet::greet>::call",
                "greet",
                Theme::Own,
            ),
            (
                "mcp_servlet::report::Report::on",
                "mcp_servlet",
                Theme::Servlet,
            ),
            (
                "mcp_servlet_json::reader::scan::value",
                "mcp_servlet_json",
                Theme::Json,
            ),
            (
                "<&mut mcp_servlet_json::de::Deserializer as serde::de::Deserializer>::deserialize_map",
                "mcp_servlet_json",
                Theme::Json,
            ),
            (
                "<talc::base::Talc<S,C,B>>::allocate",
                "talc",
                Theme::Allocator,
            ),
            (
                "rustc_demangle::v0::Printer::print_path",
                "rustc_demangle",
                Theme::Backtraces,
            ),
            (
                "anyhow::error::ErrorImpl::debug",
                "anyhow",
                Theme::Backtraces,
            ),
            (
                "serde_json::value::Value::to_string",
                "serde_json",
                Theme::SerdeJson,
            ),
        ]);
    }

    #[test]
    fn reads_the_theme_of_the_standard_library_from_the_name() {
        assert_sorted(&[
            (
                "core::num::flt2dec::strategy::grisu::format_shortest_opt",
                "core",
                Theme::Floats,
            ),
            (
                "core::fmt::float::float_to_decimal_common_exact",
                "core",
                Theme::Floats,
            ),
            ("<str as core::fmt::Display>::fmt", "?", Theme::Formatting),
            ("core::fmt::write", "core", Theme::Formatting),
            (
                "<alloc::raw_vec::RawVecInner>::finish_grow",
                "alloc",
                Theme::Collections,
            ),
            ("std::panicking::panic_with_hook", "std", Theme::Panics),
            (
                "core::unicode::unicode_data::lowercase::lookup",
                "core",
                Theme::Unicode,
            ),
            ("?", "?", Theme::Other),
        ]);
    }
}
