//! Brings lists into the normal form. One function per kind of item.

use serde_json::value::{RawValue, to_raw_value};

use crate::{
    catalog::{
        Catalog, Detail, Item, Meta, Prompt, Resource, ResourceTemplate, Schema, Server, Tool,
    },
    diagnostic::{Diagnostic, ItemKind, Severity, code},
    entry::Entry,
    lists::{ListProblem, Lists, ServerText},
    names, prompt, template, ui,
};

/// Every entry becomes an item, however wrong it is. Schemas are kept, and not yet compiled.
impl From<&Lists> for Catalog {
    fn from(lists: &Lists) -> Self {
        let mut diagnostics: Vec<_> = lists.problems.iter().map(list_problem).collect();
        let server = server(&lists.server, &mut diagnostics);
        let mut items = Vec::new();
        let mut normalize = |kind, entries: &Option<Vec<Box<RawValue>>>| {
            for entry in entries.iter().flatten() {
                let (item, problems) = item(kind, Entry::read(entry));
                let key = item.to_key(items.len());
                diagnostics.extend(
                    problems
                        .into_iter()
                        .map(|problem| problem.of_item(key.clone())),
                );
                items.push(item);
            }
        };
        normalize(ItemKind::Tool, &lists.tools);
        normalize(ItemKind::Resource, &lists.resources);
        normalize(ItemKind::ResourceTemplate, &lists.resource_templates);
        normalize(ItemKind::Prompt, &lists.prompts);
        diagnostics.extend(names::check_names(&items));
        diagnostics.extend(ui::find_dangling(&items));
        Self {
            protocol: lists.protocol.clone(),
            server,
            items,
            diagnostics,
        }
    }
}

fn list_problem(problem: &ListProblem) -> Diagnostic {
    let pointer = match &*problem.list {
        "resources/templates/list" => "/resourceTemplates".to_owned(),
        method => format!("/{}", method.trim_end_matches("/list")),
    };
    let severity = match &*problem.code {
        code::BAD_LIST => Severity::Error,
        code::MENDED => Severity::Note,
        _ => Severity::Warning,
    };
    Diagnostic::new(problem.code.clone(), severity, pointer, &*problem.message)
}

fn server(text: &ServerText, diagnostics: &mut Vec<Diagnostic>) -> Server {
    let instructions = text
        .instructions
        .as_ref()
        .and_then(|text| to_raw_value(text).ok());
    let mut members = vec![
        ("info".to_owned(), &*text.info),
        ("capabilities".to_owned(), &*text.capabilities),
    ];
    if let Some(text) = &instructions {
        members.push(("instructions".to_owned(), text));
    }
    let mut entry = Entry::from_members(members);
    let server = Server {
        info: entry.object("info").unwrap_or_default(),
        capabilities: entry.object("capabilities").unwrap_or_default(),
        instructions: entry.text("instructions"),
    };
    let problems = entry.into_rest().problems.into_iter();
    diagnostics.extend(problems.map(|problem| Diagnostic {
        pointer: format!("/server{}", problem.pointer),
        ..problem
    }));
    server
}

fn item(kind: ItemKind, mut entry: Entry) -> (Item, Vec<Diagnostic>) {
    let name = entry.required_text("name");
    let title = entry.text("title");
    let description = entry.text("description");
    let meta = Meta {
        icons: entry.array("icons"),
        annotations: entry.object("annotations"),
        meta: entry.object("_meta"),
    };
    let detail = match kind {
        ItemKind::Tool => Detail::Tool(tool(&mut entry, &meta)),
        ItemKind::Resource => Detail::Resource(resource(&mut entry, &meta)),
        ItemKind::ResourceTemplate => Detail::ResourceTemplate(resource_template(&mut entry)),
        ItemKind::Prompt => Detail::Prompt(prompt(&mut entry)),
    };
    let rest = entry.into_rest();
    let item = Item {
        name,
        title: title.or_else(|| annotated_title(kind, &meta)),
        description,
        meta,
        detail,
        extra: rest.members,
        sha256: rest.sha256,
    };
    (item, rest.problems)
}

/// Older servers have the title of a tool among its annotations.
fn annotated_title(kind: ItemKind, meta: &Meta) -> Option<String> {
    let annotations = meta
        .annotations
        .as_ref()
        .filter(|_| kind == ItemKind::Tool)?;
    annotations.get("title")?.as_str().map(str::to_owned)
}

fn tool(entry: &mut Entry, meta: &Meta) -> Tool {
    let input = entry.schema("inputSchema").unwrap_or_else(|| {
        let error = "is missing; expected an object".to_owned();
        entry.problem(code::BAD_SCHEMA, Severity::Error, "/inputSchema", &error);
        Schema {
            error: Some(error),
            ..Schema::default()
        }
    });
    Tool {
        input,
        output: entry.schema("outputSchema"),
        ui: ui::read(ItemKind::Tool, meta.meta.as_ref(), entry),
    }
}

fn resource(entry: &mut Entry, meta: &Meta) -> Resource {
    Resource {
        uri: entry.required_text("uri"),
        mime_type: entry.text("mimeType"),
        size: entry.size("size"),
        ui: ui::read(ItemKind::Resource, meta.meta.as_ref(), entry),
    }
}

fn resource_template(entry: &mut Entry) -> ResourceTemplate {
    let uri_template = entry.required_text("uriTemplate");
    if let Err(problem) = template::variables(&uri_template) {
        entry.problem(code::BAD_TEMPLATE, Severity::Error, "/uriTemplate", problem);
    }
    ResourceTemplate {
        uri_template,
        mime_type: entry.text("mimeType"),
    }
}

fn prompt(entry: &mut Entry) -> Prompt {
    let arguments = entry.array("arguments").unwrap_or_default();
    Prompt {
        input: prompt::input(arguments, entry),
    }
}
