//! Notes of a model: tools write them, resources return them, completions suggest their names.
//!
//! A variable of the servlet contains them, so they are lost when the host drops the instance.

use std::collections::BTreeMap;

use mcp_servlet::prelude::*;

/// The variable that holds all notes.
const NOTES: &str = "notes";

/// By name, in alphabetical order.
type Notes = BTreeMap<String, String>;

fn notes(context: &Context) -> Result<Notes, ToolError> {
    Ok(context.var_json(NOTES)?.unwrap_or_default())
}

fn unknown(name: &str) -> ToolError {
    ToolError::new(format!("there is no note called `{name}`"))
}

/// Writes a note, or replaces the note with this name.
#[tool(idempotent, open_world = false)]
fn write_note(
    context: &Context,
    /// the name of the note
    #[arg(example = "shopping")]
    name: String,
    /// the text of the note
    text: String,
) -> Result<Vec<Content>, ToolError> {
    if name.is_empty() {
        return Err(ToolError::new("a note needs a name"));
    }
    let mut notes = notes(context)?;
    let message = match notes.insert(name.clone(), text) {
        None => "written",
        Some(_) => "replaced",
    };
    context.set_var_json(NOTES, &notes)?;
    Ok(vec![
        Content::text(message),
        Content::resource_link(uri(&name), name),
    ])
}

/// Deletes a note.
#[tool(destructive, idempotent = false, open_world = false)]
fn delete_note(
    context: &Context,
    /// the name of the note
    name: String,
) -> Result<&'static str, ToolError> {
    let mut notes = notes(context)?;
    notes.remove(&name).ok_or_else(|| unknown(&name))?;
    context.set_var_json(NOTES, &notes)?;
    Ok("deleted")
}

/// Finds notes by a word in their name or text, in upper or lower case.
#[tool(read_only, open_world = false)]
fn find_notes(
    context: &Context,
    /// the word
    word: String,
) -> Result<Vec<Content>, ToolError> {
    let word = word.to_lowercase();
    let notes = notes(context)?.into_iter();
    let found = notes.filter(|(name, text)| {
        name.to_lowercase().contains(&word) || text.to_lowercase().contains(&word)
    });
    Ok(found
        .map(|(name, _)| Content::resource_link(uri(&name), name))
        .collect())
}

/// The names of all notes.
#[resource(uri = "notes://index", title = "All notes")]
fn index(context: &Context) -> Result<Json<Vec<String>>, ToolError> {
    Ok(Json(notes(context)?.into_keys().collect()))
}

/// One note.
#[resource_template(uri_template = "notes://note/{name}", mime_type = "text/plain")]
fn note(
    context: &Context,
    /// the name of the note
    name: String,
) -> Result<Option<String>, ToolError> {
    Ok(notes(context)?.remove(&name))
}

/// Asks for a summary of a note.
#[prompt]
fn summarize(
    context: &Context,
    /// the note
    name: String,
    /// how many sentences at most
    #[arg(default = 3, min = 1)]
    sentences: u8,
) -> Result<Vec<PromptMessage>, ToolError> {
    let text = notes(context)?
        .remove(&name)
        .ok_or_else(|| unknown(&name))?;
    let contents = ResourceContents::text(uri(&name), text);
    Ok(vec![
        PromptMessage::user(format!("Summarize this note in {sentences} sentences.")),
        PromptMessage::user(Content::resource(contents)),
    ])
}

/// Completes the name of a note in a URI.
#[completion(of = note.name)]
fn note_names(context: &Context) -> Result<Vec<String>, ToolError> {
    Ok(notes(context)?.into_keys().collect())
}

/// Completes the name of a note to summarize.
#[completion(of = summarize.name)]
fn names_to_summarize(context: &Context) -> Result<Vec<String>, ToolError> {
    note_names(context)
}

/// The URI of a note, with its name percent-encoded.
fn uri(name: &str) -> String {
    let mut uri = String::from("notes://note/");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            for digit in [byte >> 4, byte & 15] {
                uri.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
            }
        }
    }
    uri
}

mcp_servlet::export!(static SERVLET = {
    instructions: "Read `notes://index` before you write a note: it may be there.",
    tools: [write_note, delete_note, find_notes],
    resources: [index, note],
    prompts: [summarize],
    completions: [note_names, names_to_summarize],
});

#[cfg(test)]
mod tests;
