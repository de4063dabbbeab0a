//! The list of resources if functions list some (docs/decisions/0080-lists-by-functions.md).

use std::collections::BTreeSet;

use mcp_servlet_json::{to_string, write_raw, write_string, write_u64};
use mcp_servlet_types::{FIXED_RESOURCES, Resource};

use crate::answer::error::ToolError;
use crate::describe::resource::{ResourceEntry, template};
use crate::host::context::Context;
use crate::host::level::Level;

/// The output of `list_resources`: those in `fixed`, which is the rendered list of resources with fixed URIs, and then those that
/// functions list. A function that returns an error, and a resource whose URI does not match the template or is already listed,
/// cause a warning in the host's log.
pub(super) fn all(fixed: &str, entries: &[ResourceEntry], context: &Context) -> String {
    let fixed_uris = entries.iter().filter(|entry| entry.template.is_none());
    let mut uris: BTreeSet<String> = fixed_uris.map(|entry| entry.uri.to_owned()).collect();
    let fixed_count = uris.len() as u64;
    let mut json = fixed.strip_suffix("]}").unwrap_or_default().to_owned();
    for entry in entries {
        let Some(list) = entry.list else { continue };
        match list(context) {
            Ok(resources) => {
                for resource in resources {
                    let added = add(&mut json, entry, resource, &mut uris);
                    added.unwrap_or_else(|problem| warn(context, entry, &problem));
                }
            }
            Err(error) => match error.into_input_request() {
                Ok(_) => warn(
                    context,
                    entry,
                    "the function cannot ask the client for input",
                ),
                Err(fault) => warn(context, entry, fault.message()),
            },
        }
    }
    write_raw(&mut json, "],\"_meta\":{");
    write_string(&mut json, FIXED_RESOURCES);
    write_raw(&mut json, ":");
    write_u64(&mut json, fixed_count);
    write_raw(&mut json, "}}");
    json
}

/// Adds a resource of this family to the list, or returns why not.
fn add(
    json: &mut String,
    entry: &ResourceEntry,
    mut resource: Resource,
    uris: &mut BTreeSet<String>,
) -> Result<(), String> {
    let uri = &resource.uri;
    let Some(values) = entry.values(uri) else {
        return Err(["`", uri, "` does not match the template"].concat());
    };
    let is_decoded = |value: &&str| template::decoded(value).is_some();
    if !values.iter().flatten().all(is_decoded) {
        return Err(["`", uri, "` has an invalid percent-encoding"].concat());
    }
    if !uris.insert(uri.clone()) {
        return Err(["`", uri, "` is already in the list"].concat());
    }
    if resource.mime_type.is_none() && !entry.mime_type.is_empty() {
        resource.mime_type = Some(entry.mime_type.to_owned());
    }
    let text = to_string(&resource).map_err(|error| ToolError::from(error).message().to_owned())?;
    if !json.ends_with('[') {
        write_raw(json, ",");
    }
    write_raw(json, &text);
    Ok(())
}

#[cold]
fn warn(context: &Context, entry: &ResourceEntry, problem: &str) {
    let text = ["cannot list resources of `", entry.uri, "`: ", problem];
    context.log(Level::Warn, &text.concat());
}
