//! Runs jq programs on JSON.

use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, unwrap_valr};
use jaq_json::write::{Pp, write};
use jaq_json::{Val, ValR, read};
use mcp_servlet::prelude::*;

mod explain;

/// Filters that need a process, a terminal or a clock, which servlets do not have.
const ABSENT: [&str; 10] = [
    "debug",
    "debug_empty",
    "env",
    "halt",
    "halt_error",
    "localtime",
    "now",
    "stderr",
    "stderr_empty",
    "strflocaltime",
];

/// How many outputs are counted beyond those that are shown: a program may have no end.
const MAX_COUNTED: usize = 10_000;

/// Runs a jq program over JSON and returns its outputs, one after another.
#[tool(title = "Query JSON", read_only, open_world = false)]
fn query(
    /// the jq program
    #[arg(example = ".users | map(select(.age > 30).name)")]
    filter: String,
    /// the JSON text; with several values, the program runs over each
    #[arg(example = r#"{"users": [{"name": "Ada", "age": 36}]}"#)]
    json: String,
    /// whether to print strings without quotes
    #[arg(default = false)]
    raw: bool,
    /// whether to print each output on one line
    #[arg(default = true)]
    compact: bool,
    /// the maximum number of outputs
    #[arg(default = 100, min = 1, max = 10_000)]
    max_outputs: usize,
) -> Result<String, ToolError> {
    let program = compile(&filter)?;
    let context = Ctx::<JustLut<Val>>::new(&program.lut, Vars::new([]));
    let values = read::parse_many(json.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| format!("`json` is not JSON, see {error}"))?;
    let outputs = values
        .into_iter()
        .flat_map(|value| program.id.run((context.clone(), value)));
    let style = Pp {
        indent: (!compact).then(|| "  ".to_owned()),
        sep_space: !compact,
        ..Pp::default()
    };
    let show = |value| match value {
        Val::TStr(text) if raw => text.to_vec(),
        value => json_text(&value, &style),
    };
    list(outputs.map(unwrap_valr), max_outputs, show)
}

/// The first outputs, and how many more there are.
fn list(
    mut outputs: impl Iterator<Item = ValR>,
    most: usize,
    show: impl Fn(Val) -> Vec<u8>,
) -> Result<String, ToolError> {
    let mut shown = Vec::new();
    for output in outputs.by_ref().take(most) {
        let value = output.map_err(|error| explain::failed(&shown, &error))?;
        shown.push(String::from_utf8_lossy(&show(value)).into_owned());
    }
    shown.extend(match (shown.len(), outputs.take(MAX_COUNTED).count()) {
        (0, _) => Some("[no outputs]".to_owned()),
        (_, 0) => None,
        (_, MAX_COUNTED) => Some(format!(
            "[and {MAX_COUNTED} more at least: narrow the filter]"
        )),
        (_, more) => Some(format!(
            "[and {more} more: raise `max_outputs`, or narrow the filter]"
        )),
    });
    Ok(shown.join("\n"))
}

fn compile(code: &str) -> Result<Filter<JustLut<Val>>, String> {
    let defs = jaq_core::defs()
        .chain(jaq_std::defs())
        .chain(jaq_json::defs());
    let funs = jaq_core::funs()
        .chain(jaq_std::funs())
        .chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(defs.filter(|def| !ABSENT.contains(&def.name)))
        .load(&arena, File { code, path: () })
        .map_err(|errors| explain::unread(code, errors))?;
    Compiler::default()
        .with_funs(funs.filter(|(name, ..)| !ABSENT.contains(name)))
        .compile(modules)
        .map_err(|errors| explain::undefined(code, errors))
}

fn json_text(value: &Val, style: &Pp) -> Vec<u8> {
    let mut text = Vec::new();
    write(&mut text, style, 0, value).expect("memory takes whatever is written");
    text
}

mcp_servlet::export!(static SERVLET = { tools: [query] });

#[cfg(test)]
mod tests;
