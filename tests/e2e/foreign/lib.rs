//! Types of other crates as arguments and results: by `schemars::JsonSchema`, or by a feature for the crate.

use chrono::{DateTime, NaiveDate, Utc, Weekday};
use mcp_servlet::Schemars;
use mcp_servlet::prelude::*;
use schemars::JsonSchema;
use serde_json::Value;
use url::Url;
use uuid::Uuid;

/// What to send, and where.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    /// what to send
    item: String,
    how_many: u8,
    note: Option<String>,
    #[serde(default)]
    urgent: bool,
    size: Size,
    to: Option<Address>,
    /// the places on the way, in this order; null is any place
    stops: Option<Vec<Option<Address>>>,
    extra: Value,
    range: (f64, f64),
}

/// How large it is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    /// fits into a letter box
    Small,
    Large,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Address {
    city: String,
    zip: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

/// A family.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Person {
    name: String,
    children: Vec<Person>,
}

/// Sends something.
#[tool]
fn send(
    #[arg(schemars)] order: Order,
    #[arg(schemars)] via: Option<Address>,
) -> Json<Schemars<Order>> {
    let to = via.or(order.to);
    Json(Schemars(Order { to, ..order }))
}

/// Sends something, too.
#[tool]
fn send_it(#[arg(flatten, schemars)] order: Order) -> String {
    order.item
}

/// Measures a shape.
#[tool]
fn measure(
    /// what to measure
    #[arg(schemars)]
    shape: Shape,
) -> f64 {
    match shape {
        Shape::Circle { radius } => radius * radius * 3.0,
        Shape::Square { side } => side * side,
    }
}

/// Lists the names of a family.
#[tool]
fn names(#[arg(schemars)] family: Person) -> Json<Schemars<Vec<String>>> {
    let children = family.children.into_iter().map(|child| child.name);
    Json(Schemars(
        [family.name].into_iter().chain(children).collect(),
    ))
}

/// One of several types.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Object { b: u8 },
    Text(String),
}

/// Returns what it gets.
#[tool]
fn same(#[arg(schemars)] either: Either) -> Json<Schemars<Either>> {
    Json(Schemars(either))
}

/// A place, from a crate that knows nothing of MCP.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    city: String,
    zip: Option<String>,
}

/// Finds the place next to another one.
#[tool]
fn neighbour(#[arg(schemars)] place: Place) -> Json<Schemars<Place>> {
    Json(Schemars(place))
}

/// Plans something.
#[derive(Serialize, Schema)]
struct Plan {
    id: Uuid,
    at: DateTime<Utc>,
    day: Weekday,
    link: Option<Url>,
    data: Value,
    to: Schemars<Option<Address>>,
}

/// Plans something.
#[tool]
fn plan(
    id: Uuid,
    at: DateTime<Utc>,
    day: Option<NaiveDate>,
    link: Option<Url>,
    data: Value,
) -> Json<Plan> {
    let day = day.unwrap_or_else(|| at.date_naive());
    let to = Schemars(None);
    Json(Plan {
        id,
        at,
        day: chrono::Datelike::weekday(&day),
        link,
        data,
        to,
    })
}

mcp_servlet::export!(pub static SERVLET = { tools: [send, send_it, measure, names, same, neighbour, plan] });
