//! Schemas of types that implement `schemars::JsonSchema`, generated when the servlet describes itself.

mod rewrite;

use std::cell::Cell;
use std::ptr;

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kind::{Gap, Generate, Kind, Place};
use super::{Node, Schema};

/// A value whose JSON Schema comes from [`schemars`], such as a type of another crate that implements
/// its `JsonSchema`.
///
/// Use it for a result in [`Json`](crate::Json), and for a field of a type that derives
/// [`Schema`](derive@crate::Schema). For an argument, use `#[arg(schemars)]`. serde reads and writes it
/// as the value inside. The servlet generates the schema whenever it describes itself, and contains the
/// code for that.
///
/// ```
/// use mcp_servlet::prelude::*;
/// use mcp_servlet::Schemars;
/// use schemars::JsonSchema;
///
/// /// A place, from a crate that knows nothing of MCP.
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Place { city: String, zip: Option<String> }
///
/// /// Where the headquarters of a company are.
/// #[tool]
/// fn locate(#[arg(schemars)] near: Option<Place>, company: String) -> Json<Schemars<Place>> {
///     let city = near.map_or(company, |place| place.city);
///     Json(Schemars(Place { city, zip: None }))
/// }
///
/// mcp_servlet::export!(static SERVLET = { tools: [locate] });
/// # fn main() { assert!(SERVLET.client().request("describe", "").unwrap().contains("\"zip\"")); }
/// ```
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Schemars<T>(pub T);

impl<T: Described> Schema for Schemars<T> {
    const NODE: &'static Node = &Node::generated::<T>();
}

/// The end of the schema of a result that is wrapped in an object. See `Node::wrapped`.
const WRAPPED: &str = ",\"x-fastmcp-wrap-result\":true}";

thread_local! {
    /// For each generator that was run for a result: whether its schema accepts objects only.
    ///
    /// Not in a lock: a trap would leave it locked, and a host may keep the instance.
    static KNOWN: Cell<Vec<(Generate, bool)>> = const { Cell::new(Vec::new()) };
}

/// A type with a schema of schemars.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema of schemars",
    label = "the trait `schemars::JsonSchema` is not implemented for it",
    note = "derive it: `#[derive(Deserialize, schemars::JsonSchema)]`, with version 1 of schemars",
    note = "for a type of another crate, turn on the feature for it: of that crate, or of schemars, such as `chrono04`"
)]
pub trait Described: JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> Described for T {}

impl Node {
    const fn generated<T: Described>() -> Self {
        Self::new(Kind::Generated(generate::<T>))
    }

    /// Whether a generated schema accepts objects only. The first call generates it.
    pub(crate) fn generates_object(&self) -> bool {
        let Kind::Generated(generate) = self.kind else {
            return false;
        };
        let mut known = KNOWN.take();
        let same = |(other, _): &&(Generate, bool)| ptr::fn_addr_eq(*other, generate);
        if let Some(&(_, is_object)) = known.iter().find(same) {
            KNOWN.set(known);
            return is_object;
        }
        let schema = generate(&Gap {
            place: Place::Result,
            description: "",
            fallback: "",
        });
        let is_object = !schema.ends_with(WRAPPED);
        known.push((generate, is_object));
        KNOWN.set(known);
        is_object
    }
}

/// The members of the schema of `T`.
fn generate<T: Described>(gap: &Gap<'_>) -> String {
    let contract = match gap.place {
        Place::Arguments | Place::Argument => Contract::Deserialize,
        Place::Result | Place::Part => Contract::Serialize,
    };
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    members(schema.into(), gap)
}

/// The members of a schema, by the rules of this crate and without the braces.
fn members(schema: Value, gap: &Gap<'_>) -> String {
    let mut schema = rewrite::schema(schema, gap.place);
    let text = |json: &str| serde_json::from_str::<Value>(json).ok();
    if let Some(description) = text(gap.description) {
        schema.insert("description".to_owned(), description);
    } else if let (false, Some(fallback)) = (schema.contains_key("description"), text(gap.fallback))
    {
        schema.insert("description".to_owned(), fallback);
    }
    let is_object = schema.get("type").is_some_and(|ty| ty == "object");
    if schema.is_empty() {
        // Without members, there would be a comma without a member after it.
        schema.insert("description".to_owned(), "any JSON".into());
    }
    let json = Value::Object(schema).to_string();
    match gap.place {
        Place::Result if is_object => format!(",\"outputSchema\":{json}"),
        Place::Result => format!(
            ",\"outputSchema\":{{\"type\":\"object\",\"properties\":{{\"result\":{json}}},\"required\":[\"result\"]{WRAPPED}"
        ),
        _ => json[1..json.len() - 1].to_owned(),
    }
}
