//! Answers requests of servers: asks the user on a terminal.

use std::{
    io::{self, IsTerminal as _},
    sync::LazyLock,
    thread,
};

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use mcp_servlet_call::JsonObject;
use mcp_servlet_client::{Answers, Elicitation, Input, Offers};
use mcp_servlet_schema::{Expected, as_typed, matches, parse_value, schema_in_words, schema_type};
use serde_json::Value;
use tokio::sync::{
    Mutex,
    mpsc::{UnboundedReceiver, unbounded_channel},
};

use crate::{
    failure::indented,
    terminal::{self, is_yes, note, one_line},
};

/// How often the command asks again for a value that the schema does not allow.
const MAX_ATTEMPTS: usize = 5;

/// Asks the user, if standard input and standard error are a terminal. Declines otherwise.
#[derive(Debug)]
pub(super) struct Answering {
    is_interactive: bool,
}

impl Answering {
    pub(super) fn new() -> Self {
        Self {
            is_interactive: io::stdin().is_terminal() && terminal::is_watched(),
        }
    }
}

impl Answers for Answering {
    fn offers(&self) -> Offers {
        Offers {
            elicitation: self.is_interactive,
            ..Offers::default()
        }
    }

    fn elicit(&self, request: Elicitation) -> BoxFuture<'_, Input> {
        if self.is_interactive {
            return ask_on_terminal(request).boxed();
        }
        let message = one_line(&request.message);
        note(format_args!(
            "warning: the server asks `{message}`, and gets no answer: standard input or standard error is not a terminal"
        ));
        ready(Input::Decline).boxed()
    }
}

/// What the user types, line by line.
type Lines = UnboundedReceiver<String>;

/// The lines of standard input. One thread reads them, so that a question whose time is over keeps nothing from the next one.
static TYPED: LazyLock<Mutex<Lines>> = LazyLock::new(|| {
    let (sender, lines) = unbounded_channel();
    thread::spawn(move || {
        let mut typed = io::stdin().lines().map_while(Result::ok);
        // An error means that the command is about to end.
        while typed.next().is_some_and(|line| sender.send(line).is_ok()) {}
    });
    Mutex::new(lines)
});

/// Asks one question at a time.
async fn ask_on_terminal(request: Elicitation) -> Input {
    let mut lines = TYPED.lock().await;
    // Lines from before the question are not answers to it.
    while lines.try_recv().is_ok() {}
    ask(&mut lines, &request).await
}

/// Asks the user on standard error, and reads the answers.
async fn ask(input: &mut Lines, request: &Elicitation) -> Input {
    let message = indented(&request.message, "  ");
    note(format_args!("the server asks: {message}"));
    if let Some(url) = &request.url {
        note(format_args!("  open {}", one_line(url)));
        return match line(input, "  have you done it? [y/N] ").await {
            Some(answer) if is_yes(&answer) => Input::Accept(Value::Object(JsonObject::new())),
            Some(_) => Input::Decline,
            None => Input::Cancel,
        };
    }
    match line(input, "  answer? [Y/n] ").await {
        Some(answer) if answer.is_empty() || is_yes(&answer) => {}
        Some(_) => return Input::Decline,
        None => return Input::Cancel,
    }
    let schema = request.schema.as_ref().and_then(Value::as_object);
    let content = match schema {
        Some(schema) => fields(input, schema).await,
        None => Some(JsonObject::new()),
    };
    content.map_or(Input::Cancel, |content| Input::Accept(content.into()))
}

/// Asks for the value of each property. None if the input ends.
async fn fields(input: &mut Lines, schema: &JsonObject) -> Option<JsonObject> {
    let mut content = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    for (name, property) in properties.into_iter().flatten() {
        let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
        let question = question(schema, name, property, is_required);
        for attempt in 1.. {
            let typed = line(input, &question).await?;
            match value(schema, name, property, &typed, is_required) {
                Ok(Some(value)) => {
                    content.insert(name.clone(), value);
                    break;
                }
                Ok(None) => break,
                Err(_) if attempt == MAX_ATTEMPTS => return None,
                Err(problem) => note(format_args!("  {}", indented(&problem, "  "))),
            }
        }
    }
    Some(content)
}

/// `  nights (integer, required): `
fn question(schema: &JsonObject, name: &str, property: &Value, is_required: bool) -> String {
    let kind = kind(schema, property);
    let needed = if is_required { "required" } else { "optional" };
    let title = property["title"]
        .as_str()
        .or(property["description"].as_str())
        .map(|title| format!(" {title}"))
        .unwrap_or_default();
    let default = property
        .get("default")
        .map(|value| match value {
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::Array(items) => items.iter().map(as_typed).collect::<Vec<_>>().join(", "),
            value => as_typed(value),
        })
        .map(|value| format!(" [{value}]"))
        .unwrap_or_default();
    one_line(&format!("  {name}{title} ({kind}, {needed}){default}: ")).into_owned()
}

/// What a property accepts, as the user types it.
fn kind(schema: &JsonObject, property: &Value) -> String {
    let words = schema_in_words(schema, property);
    if is_yes_or_no(schema, property) {
        "yes or no".to_owned()
    } else if is_list(schema, property) {
        format!("{words}, separated by commas")
    } else {
        words
    }
}

fn is_yes_or_no(schema: &JsonObject, property: &Value) -> bool {
    schema_type(schema, property) == Expected::Types(vec!["boolean"])
}

fn is_list(schema: &JsonObject, property: &Value) -> bool {
    schema_type(schema, property) == Expected::Types(vec!["array"])
}

/// What the user typed, as the schema has it. None leaves the property out.
fn value(
    schema: &JsonObject,
    name: &str,
    property: &Value,
    typed: &str,
    is_required: bool,
) -> Result<Option<Value>, String> {
    if typed.is_empty() {
        let default = property.get("default").cloned();
        return match default {
            None if is_required => Err("a value is required".to_owned()),
            default => Ok(default),
        };
    }
    let value = match typed.to_ascii_lowercase().as_str() {
        _ if is_yes(typed) && is_yes_or_no(schema, property) => Ok(Value::Bool(true)),
        "n" | "no" if is_yes_or_no(schema, property) => Ok(Value::Bool(false)),
        _ if is_list(schema, property) && !typed.starts_with('[') => typed
            .split(',')
            .map(str::trim)
            .map(|item| parse_value(schema, &property["items"], name, item))
            .collect(),
        _ => parse_value(schema, property, name, typed),
    };
    value
        .ok()
        .filter(|value| matches(property, value))
        .map(Some)
        .ok_or_else(|| {
            let kind = kind(schema, property);
            format!("`{name}`: expected {kind}, found `{typed}`")
        })
}

/// Asks for a line on standard error. None at the end of the input.
async fn line(input: &mut Lines, question: &str) -> Option<String> {
    terminal::question(question);
    let line = input.recv().await?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The lines of an input that ends after them.
    fn lines(typed: &str) -> Lines {
        let (sender, lines) = unbounded_channel();
        for line in typed.lines() {
            sender.send(line.to_owned()).expect("a receiver");
        }
        lines
    }

    fn fields_of(typed: &str) -> Option<Value> {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string" },
                "nights": { "type": "integer", "minimum": 1, "default": 2 },
                "bed": { "type": "string", "enum": ["single", "double"] },
                "x:": { "type": "string" },
                "x:y=z": { "type": "integer" },
                "late": { "type": "boolean", "default": false },
                "view": { "type": "string", "oneOf": [{ "const": "n", "title": "North" }, { "const": "s", "title": "South" }] },
                "extras": { "type": "array", "items": { "anyOf": [{ "const": "b", "title": "Breakfast" }, { "const": "c", "title": "Crib" }] } },
            },
            "required": ["city", "bed"],
        });
        let schema = schema.as_object().expect("an object");
        let fields = fields(&mut lines(typed), schema).now_or_never();
        fields.expect("an end").map(Value::Object)
    }

    #[test]
    fn each_property_is_read_by_its_schema() {
        let answered = json!({
            "city": "Oslo", "nights": 3, "bed": "double", "x:": "{}", "x:y=z": 7,
            "late": true, "view": "s", "extras": ["b", "c"],
        });
        let typed = "Oslo\n3\ndouble\n{}\n7\nY\nSouth\nBreakfast, c\n";
        assert_eq!(fields_of(typed), Some(answered));
    }

    #[test]
    fn questions_and_errors_list_the_choices() {
        let schema = JsonObject::new();
        let late = json!({ "type": "boolean", "default": true });
        let view = json!({ "type": "string", "enum": ["n", "s"], "enumNames": ["North", "South"], "default": "s" });
        let extras = json!({ "type": "array", "items": { "enum": ["a", "b"] }, "default": ["a"] });
        for (property, expected) in [
            (&late, "  x (yes or no, required) [yes]: "),
            (&view, "  x (n (North) or s (South), required) [s]: "),
            (
                &extras,
                "  x (array of (a or b), separated by commas, required) [a]: ",
            ),
        ] {
            assert_eq!(question(&schema, "x", property, true), expected);
        }
        assert_eq!(
            value(&schema, "x", &view, "east", true),
            Err("`x`: expected n (North) or s (South), found `east`".to_owned())
        );
    }

    #[test]
    fn defaults_fill_in_and_wrong_values_are_asked_for_again() {
        let answered = json!({ "city": "7", "nights": 2, "bed": "single", "late": false });
        let typed = "\n7\n\ntriple\nsingle\n\n\nperhaps\n\nEast\n\n\n";
        assert_eq!(fields_of(typed), Some(answered));
        assert_eq!(fields_of("Oslo\n0\nx\n1\n"), None, "the input ends");
        assert_eq!(fields_of(&"\n".repeat(9)), None, "too many attempts");
    }
}
