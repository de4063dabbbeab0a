//! A catalog as an OpenAPI document.

mod components;
mod dialect;
mod info;
mod members;
mod names;
mod operation;
mod parts;
mod references;
mod resources;
mod results;
mod schema;

use std::collections::{HashMap, hash_map};

use serde_json::{Value, json};

use self::{components::Components, names::Names};
use crate::{
    JsonObject,
    catalog::{Catalog, Detail, Item, Prompt, Tool},
    diagnostic::{Diagnostic, ItemKind, Severity, code},
};

/// An OpenAPI document, and what of the catalog is not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenApi {
    /// The document, for OpenAPI 3.1.
    pub document: JsonObject,
    /// The items that are left out, and the schemas that the document does not have, in the order of the catalog.
    pub diagnostics: Vec<Diagnostic>,
}

impl Catalog {
    /// The catalog as an OpenAPI 3.1 document.
    ///
    /// Each tool is a path `/tools/NAME` and each prompt a path `/prompts/NAME`, both with `POST`; the request body has the
    /// arguments. `GET /resources?uri=` reads the resources.
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
    ///         "server": { "info": { "name": "weather", "version": "1.0.0" }, "capabilities": { "tools": {}, "prompts": {} } },
    ///         "tools": [{ "name": "forecast", "inputSchema": { "type": "object" } }],
    ///         "prompts": [{ "name": "report", "arguments": [{ "name": "city" }] }]
    ///     }"#,
    /// )?;
    /// let openapi = Catalog::from(&lists).to_openapi();
    ///
    /// assert_eq!(openapi.document["info"]["title"], "weather");
    /// let paths = &openapi.document["paths"];
    /// assert_eq!(paths["/tools/forecast"]["post"]["operationId"], "forecast");
    /// assert_eq!(paths["/prompts/report"]["post"]["operationId"], "prompt_report");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn to_openapi(&self) -> OpenApi {
        let mut export = Export::default();
        let items = export.reachable(&self.items);
        for &(index, item) in &items {
            if let Detail::Tool(tool) = &item.detail {
                export.tool(index, item, tool);
            }
        }
        // After the tools, because their names stay as they are.
        for &(index, item) in &items {
            if let Detail::Prompt(prompt) = &item.detail {
                export.prompt(index, item, prompt);
            }
        }
        export.resources(&items);
        export.finish(self)
    }
}

/// What the items so far have added.
#[derive(Default)]
struct Export {
    paths: JsonObject,
    operation_ids: Names,
    components: Components,
    diagnostics: Vec<Diagnostic>,
}

impl Export {
    /// The items that requests reach, with their positions in the catalog. The others are reported.
    fn reachable<'a>(&mut self, items: &'a [Item]) -> Vec<(usize, &'a Item)> {
        let mut first = HashMap::new();
        let items = items.iter().enumerate();
        let reachable = items.filter(|&(index, item)| {
            let problem = unreachable(index, item, &mut first);
            let is_reachable = problem.is_none();
            self.report(index, item, problem);
            is_reachable
        });
        reachable.collect()
    }

    fn tool(&mut self, index: usize, item: &Item, tool: &Tool) {
        self.operation_ids.take(&item.name);
        let (input, problem) = self
            .components
            .input(&item.name, &tool.input, "/inputSchema");
        self.report(index, item, problem);
        let output = tool.output.as_ref().map(|output| {
            let (output, problem) = self.components.output(&item.name, output);
            self.report(index, item, problem);
            output
        });
        if output.is_none() {
            self.components.result(ItemKind::Tool);
        }
        let operation = operation::tool(item, &input, output.as_deref());
        self.post("tools", item, operation);
    }

    fn prompt(&mut self, index: usize, item: &Item, prompt: &Prompt) {
        let id = self.operation_ids.add(&format!("prompt_{}", item.name));
        let (input, problem) = self.components.input(&id, &prompt.input, "/arguments");
        self.report(index, item, problem);
        self.components.result(ItemKind::Prompt);
        self.post("prompts", item, operation::prompt(item, &id, &input));
    }

    fn post(&mut self, folder: &str, item: &Item, operation: Value) {
        let path = operation::path(folder, &item.name);
        self.paths.insert(path, json!({ "post": operation }));
    }

    fn resources(&mut self, items: &[(usize, &Item)]) {
        let id = || self.operation_ids.add("read_resource");
        if let Some(operation) = resources::operation(items.iter().map(|(_, item)| *item), id) {
            self.components.result(ItemKind::Resource);
            let path = json!({ "get": operation });
            self.paths.insert("/resources".to_owned(), path);
        }
    }

    fn report(&mut self, index: usize, item: &Item, problem: Option<Diagnostic>) {
        let problem = problem.map(|problem| problem.of_item(item.to_key(index)));
        self.diagnostics.extend(problem);
    }

    fn finish(mut self, catalog: &Catalog) -> OpenApi {
        let mut document = JsonObject::new();
        document.insert("openapi".to_owned(), "3.1.0".into());
        document.insert("info".to_owned(), info::info_object(catalog));
        document.insert("paths".to_owned(), Value::Object(self.paths));
        document.insert("components".to_owned(), self.components.finish());
        self.diagnostics
            .sort_by_key(|problem| problem.item.as_ref().map(|item| item.index));
        OpenApi {
            document,
            diagnostics: self.diagnostics,
        }
    }
}

/// Why no request reaches an item.
fn unreachable<'a>(
    index: usize,
    item: &'a Item,
    first: &mut HashMap<(ItemKind, &'a str), usize>,
) -> Option<Diagnostic> {
    let (kind, key) = (item.kind(), item.key());
    let (code, problem) = if key.is_empty() {
        (code::BAD_MEMBER, "is missing or empty".to_owned())
    } else {
        match first.entry((kind, key)) {
            hash_map::Entry::Vacant(free) => {
                free.insert(index);
                return None;
            }
            hash_map::Entry::Occupied(first) => {
                let problem = format!("item {} has the same one", first.get());
                (code::DUPLICATE_NAME, problem)
            }
        }
    };
    let label = kind.label();
    let problem =
        format!("{problem}, so no request reaches the {label}; the document leaves it out");
    let pointer = kind.key_pointer();
    Some(Diagnostic::new(code, Severity::Warning, pointer, problem))
}
