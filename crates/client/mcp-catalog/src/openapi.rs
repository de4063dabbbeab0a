//! The tools of a catalog as an OpenAPI document.

mod components;
mod dialect;
mod info;
mod names;
mod operation;
mod parts;
mod references;
mod results;
mod schema;

use std::collections::{HashMap, hash_map};

use serde_json::{Value, json};

use self::components::Components;
use crate::{
    JsonObject,
    catalog::{Catalog, Detail, Item, Tool},
    diagnostic::{Diagnostic, Severity, code},
};

/// An OpenAPI document, and what of the catalog is not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenApi {
    /// The document, for OpenAPI 3.1.
    pub document: JsonObject,
    /// The tools that are left out, and the schemas that the document does not have.
    pub diagnostics: Vec<Diagnostic>,
}

impl Catalog {
    /// The tools as an OpenAPI 3.1 document: each is a path with `POST`, whose request body has the arguments.
    ///
    /// All schemas are in `components`, in dialect 2020-12, and refer to each other there. If a schema is not valid, or
    /// refers to something else, the document accepts any value instead, and [`OpenApi::diagnostics`] says why. Without the feature
    /// `validate`, this includes schemas whose only [`error`](crate::Schema::error) is that they could take very long to apply.
    ///
    /// ```
    /// use mcp_catalog::{Catalog, Lists};
    ///
    /// let lists: Lists = serde_json::from_str(
    ///     r#"{
    ///         "protocol": "2025-11-25",
    ///         "server": { "info": { "name": "weather", "version": "1.0.0" }, "capabilities": { "tools": {} } },
    ///         "tools": [{ "name": "forecast", "inputSchema": { "type": "object" } }]
    ///     }"#,
    /// )?;
    /// let openapi = Catalog::from(&lists).to_openapi();
    ///
    /// assert_eq!(openapi.document["info"]["title"], "weather");
    /// assert_eq!(openapi.document["paths"]["/tools/forecast"]["post"]["operationId"], "forecast");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn to_openapi(&self) -> OpenApi {
        let mut export = Export::default();
        let mut first = HashMap::new();
        for (index, item) in self.items.iter().enumerate() {
            if let Detail::Tool(tool) = &item.detail {
                export.tool(index, item, tool, &mut first);
            }
        }
        export.finish(self)
    }
}

/// What the tools so far have added.
#[derive(Default)]
struct Export {
    paths: JsonObject,
    components: Components,
    diagnostics: Vec<Diagnostic>,
}

impl Export {
    fn tool<'a>(
        &mut self,
        index: usize,
        item: &'a Item,
        tool: &Tool,
        first: &mut HashMap<&'a str, usize>,
    ) {
        if let Some((code, problem)) = unreachable(index, item, first) {
            let problem =
                format!("{problem}, so no request reaches the tool; the document leaves it out");
            let problem = Diagnostic::new(code, Severity::Warning, "/name", problem);
            self.diagnostics.push(problem.of(item.to_key(index)));
            return;
        }
        let (schemas, problems) = self.components.tool(&item.name, tool);
        let key = || item.to_key(index);
        let problems = problems.into_iter().map(|problem| problem.of(key()));
        self.diagnostics.extend(problems);
        let operation = operation::of(item, &schemas);
        self.paths
            .insert(operation::path(&item.name), json!({ "post": operation }));
    }

    fn finish(self, catalog: &Catalog) -> OpenApi {
        let mut document = JsonObject::new();
        document.insert("openapi".to_owned(), "3.1.0".into());
        document.insert("info".to_owned(), info::of(catalog));
        document.insert("paths".to_owned(), Value::Object(self.paths));
        document.insert("components".to_owned(), self.components.finish());
        OpenApi {
            document,
            diagnostics: self.diagnostics,
        }
    }
}

/// Why no request reaches a tool.
fn unreachable<'a>(
    index: usize,
    item: &'a Item,
    first: &mut HashMap<&'a str, usize>,
) -> Option<(&'static str, String)> {
    if item.name.is_empty() {
        return Some((code::BAD_MEMBER, "is missing or empty".to_owned()));
    }
    match first.entry(&item.name) {
        hash_map::Entry::Vacant(free) => {
            free.insert(index);
            None
        }
        hash_map::Entry::Occupied(first) => {
            let problem = format!("item {} has the same one", first.get());
            Some((code::DUPLICATE_NAME, problem))
        }
    }
}
