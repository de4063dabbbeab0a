//! Generates a typed client of an MCP server from its catalog.
//!
//! Each schema of the catalog is lowered to the types that XTP schemas become (`ir`), so that typify, the names and the
//! descriptions are the same for both. The items around them are written here: they call through the crate `mcp-caller`.
//!
//! ```
//! use mcp_catalog::{Catalog, Lists};
//! use xtp_codegen::client::Client;
//!
//! # let text = r#"{
//! #     "protocol": "2025-11-25",
//! #     "server": { "info": { "name": "weather", "version": "1.0.0" }, "capabilities": { "tools": {} } },
//! #     "tools": [{
//! #         "name": "forecast",
//! #         "description": "The weather of tomorrow.",
//! #         "inputSchema": { "type": "object", "properties": { "city": { "type": "string" } } }
//! #     }]
//! # }"#;
//! let lists: Lists = serde_json::from_str(text)?;
//! let generated = Client::new().generate(&Catalog::from(&lists))?;
//!
//! assert!(generated.warnings.is_empty());
//! assert!(generated.rust.contains("pub fn forecast(&self, arguments: &Forecast)"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod forms;
mod items;
mod lower;
mod merge;
mod methods;
mod names;
mod unions;
mod walk;

use std::fmt;

use mcp_catalog::{Catalog, Item};

pub use self::build::{ClientBuild, ClientBuildError};
use self::lower::Lowering;
use self::methods::Methods;
use crate::format;
use crate::names::type_source;
use crate::options::Options;
use crate::rust_types::RustTypes;
use crate::suggest::{listed, nearest};

/// Attributes of a client in a file of its own. `mcp_caller::client!` allows the same lints, because `include!` accepts no such
/// attributes.
const OWN_FILE: &str = r#"
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
"#;

/// How a client is generated.
#[derive(Clone, Debug, Default)]
pub struct Client {
    name: Option<String>,
    only: Vec<String>,
    own_file: bool,
}

/// A client in Rust.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The source.
    pub rust: String,
    /// What the source has no type for, in the order of the catalog.
    pub warnings: Vec<Warning>,
}

/// A part of an item that has no Rust type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The item, such as `` tool `book` ``.
    pub item: String,
    /// A JSON pointer into the entry of the item.
    pub pointer: String,
    /// What the generated code has instead.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            return write!(f, "{} {}", self.item, self.message);
        }
        write!(f, "{}: `{}` {}", self.item, self.pointer, self.message)
    }
}

/// Why there is no client.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The name of the client cannot be a Rust type.
    #[error("`{0}` cannot be the name of the client: expected a Rust type such as `{1}`")]
    Name(String, String),
    /// The catalog has no item of a name.
    #[error("the catalog has no `{name}`; {there}")]
    NoItem {
        /// The name.
        name: String,
        /// What the catalog has.
        there: String,
    },
    /// A bug of the generator.
    #[error("no client can be generated: {0}; please report it together with the catalog")]
    Internal(String),
}

impl Client {
    /// A client of everything in the catalog, named after the server.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the client.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Generates only the items of these names, URIs or URI templates.
    #[must_use]
    pub fn only<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.only.extend(names.into_iter().map(Into::into));
        self
    }

    /// Chooses whether the code is a file of its own, for `mod name;`. Such a file starts with attributes that keep
    /// `cargo fmt` from changing it, and that allow the lints about unused items, and about names, types and descriptions, which
    /// are those of the server. `include!` does not accept such a file.
    #[must_use]
    pub fn own_file(mut self, wanted: bool) -> Self {
        self.own_file = wanted;
        self
    }

    /// Generates the client of a catalog.
    ///
    /// # Errors
    /// If a name is not a Rust type, or not in the catalog.
    pub fn generate(&self, catalog: &Catalog) -> Result<Generated, ClientError> {
        let name = self.client_name(catalog)?;
        let mut lowering = Lowering::new(&name);
        let methods = Methods::new(&self.items(catalog)?, &mut lowering);
        let (module, uses, warnings) = lowering.finish();
        let options = Options::new()
            .free_form("::std::collections::BTreeMap<String, ::mcp_caller::Value>")
            .any_json("::mcp_caller::Value")
            .header(header(catalog, &methods))
            .own_file(self.own_file);
        let outside = options.types().map_err(internal)?;
        let rust_types = RustTypes::find(&module, &outside).map_err(internal)?;
        let mut texts = methods.texts(&name, catalog);
        let types = items::items(&module, &uses, &rust_types).map_err(internal)?;
        texts.extend(types.into_iter().map(format::item));
        let rust = format::join(&options, OWN_FILE, texts);
        Ok(Generated { rust, warnings })
    }

    fn client_name(&self, catalog: &Catalog) -> Result<String, ClientError> {
        match &self.name {
            Some(name) if names::is_type(name) => Ok(name.clone()),
            Some(name) => Err(ClientError::Name(
                name.clone(),
                type_source(&names::ty(name)),
            )),
            None => {
                let name = server_member(catalog, "name").unwrap_or("client");
                Ok(type_source(&names::ty(name)))
            }
        }
    }

    /// The items that are wanted.
    fn items<'c>(&self, catalog: &'c Catalog) -> Result<Vec<&'c Item>, ClientError> {
        let names = |item: &'c Item| [item.name.as_str(), item.key()];
        let known = catalog.items.iter().flat_map(names);
        for name in &self.only {
            if known.clone().all(|known| known != name) {
                let there = if let Some(nearest) = nearest(name, known.clone()) {
                    format!("there is `{nearest}`")
                } else {
                    let all = catalog.items.iter().map(|item| item.name.as_str());
                    format!("it has {}", listed(&all.collect::<Vec<_>>()))
                };
                let name = name.clone();
                return Err(ClientError::NoItem { name, there });
            }
        }
        let is_wanted = |item: &&'c Item| {
            self.only.is_empty()
                || names(item)
                    .iter()
                    .any(|name| self.only.iter().any(|only| only == name))
        };
        Ok(catalog.items.iter().filter(is_wanted).collect())
    }
}

#[cfg(doctest)]
#[doc = include_str!("../../../../docs/typed-clients.md")]
struct Documents;

/// A text about the server.
fn server_member<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c str> {
    let text = catalog.server.info.get(name)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

/// The comment on top of the client.
fn header(catalog: &Catalog, methods: &Methods<'_>) -> String {
    let server = server_member(catalog, "name").unwrap_or("a server without a name");
    let version =
        server_member(catalog, "version").map_or_else(String::new, |version| format!(" {version}"));
    let mut header =
        format!("@generated from the catalog of `{server}`{version} by xtp-codegen. Do not edit.")
            .replace('\n', " ");
    for line in methods.renamed() {
        header.extend(["\n", &line.replace('\n', " ")]);
    }
    header
}

fn internal(error: impl fmt::Display) -> ClientError {
    ClientError::Internal(error.to_string())
}

/// How messages name an item.
fn label(item: &Item) -> String {
    format!("{} `{}`", item.kind().label(), item.key())
}
