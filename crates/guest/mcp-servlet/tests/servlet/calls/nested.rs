//! Invalid arguments inside structs and enums.
#![allow(dead_code, reason = "the types are read and shown")]

use std::collections::BTreeMap;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::calls::{complaint, missing, schema, text, wrong};

#[derive(Debug, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Order {
    #[serde(alias = "id")]
    item_id: u32,
    delivery: Delivery,
    lines: Option<Vec<Line>>,
    #[serde(skip_deserializing)]
    total: u32,
    by_name: Option<BTreeMap<String, Line>>,
}

#[derive(Debug, Deserialize, Schema)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
    amount: Option<u8>,
}

#[derive(Debug, Deserialize, Schema)]
#[serde(tag = "method", rename_all = "lowercase")]
enum Delivery {
    Pickup { shop: u8 },
    Parcel { address: String },
    None,
}

#[derive(Debug, Deserialize, Schema)]
enum External {
    A,
    B(u8),
    C { c: u8 },
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
enum Untagged {
    A(String),
    B(Vec<u8>),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A,
    B(u8),
}

#[tool]
fn order(#[arg(flatten)] order: Order) -> String {
    format!("{order:?}")
}

#[tool]
fn nest(
    order: Option<Order>,
    external: Option<External>,
    untagged: Option<Untagged>,
    adjacent: Option<Adjacent>,
) -> String {
    format!("{order:?} {external:?} {untagged:?} {adjacent:?}")
}

#[derive(Debug, Deserialize, Schema)]
struct Open {
    a: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[tool]
fn open(#[arg(flatten)] open: Open) -> String {
    format!("{open:?}")
}

#[tool]
fn holes(
    names: Vec<Option<String>>,
    sizes: BTreeMap<String, Option<u8>>,
    lines: Vec<Option<Line>>,
) -> String {
    format!("{names:?} {sizes:?} {lines:?}")
}

/// A tool whose schema says more than its type.
#[tool(input_schema = r#"{
    "type": "object",
    "properties": { "a": { "type": "array" }, "b": { "type": "array", "items": { "enum": ["x"] } } },
    "required": ["a"]
}"#)]
fn raw(all: BTreeMap<String, Vec<u8>>) -> String {
    format!("{all:?}")
}

mcp_servlet::export!(static SERVLET = { tools: [order, nest, open, holes, raw] });

/// A valid order, except for some members.
fn order_with(members: Value) -> Value {
    let mut order = json!({ "itemId": 1, "delivery": { "method": "none" } });
    order
        .as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    order
}

#[test]
fn points_into_the_authors_types() {
    let line = "/lines/items/properties";
    let named = "/byName/additionalProperties/properties";
    for (members, pointer, of_schema, came) in [
        (
            json!({ "itemId": "1" }),
            "/itemId",
            "/itemId".to_owned(),
            "\"1\"",
        ),
        (
            json!({ "lines": [{ "text": "a" }, { "text": 1 }] }),
            "/lines/1/text",
            format!("{line}/text"),
            "1",
        ),
        (
            json!({ "lines": [{ "text": "a", "amount": 1000 }] }),
            "/lines/0/amount",
            format!("{line}/amount"),
            "1000: out of range",
        ),
        (
            json!({ "lines": {} }),
            "/lines",
            "/lines".to_owned(),
            "an object",
        ),
        (
            json!({ "byName": { "a~/b": { "text": [] } } }),
            "/byName/a~0~1b/text",
            format!("{named}/text"),
            "an array",
        ),
    ] {
        let complaint = complaint(&SERVLET, "order", order_with(members));
        assert_eq!(
            wrong(&complaint),
            (pointer, schema(&SERVLET, "order", &of_schema), came)
        );
    }
}

#[test]
fn points_to_missing_fields_of_the_authors_types() {
    let text = "/lines/items/properties/text";
    let in_map = "/byName/additionalProperties/properties/text";
    for (tool, arguments, pointer, of_schema) in [
        ("order", json!({}), "/itemId", "/itemId"),
        (
            "order",
            order_with(json!({ "lines": [{}] })),
            "/lines/0/text",
            text,
        ),
        (
            "order",
            order_with(json!({ "byName": { "a~/b": {} } })),
            "/byName/a~0~1b/text",
            in_map,
        ),
        (
            "nest",
            json!({ "order": {} }),
            "/order/itemId",
            "/order/properties/itemId",
        ),
    ] {
        let complaint = complaint(&SERVLET, tool, arguments);
        assert_eq!(
            missing(&complaint),
            (pointer, schema(&SERVLET, tool, of_schema))
        );
    }
}

#[test]
fn names_unknown_fields_of_the_authors_types() {
    let known = "known are `itemId`, `delivery`, `lines`, `byName`";
    for (members, expected) in [
        (
            json!({ "lines": [{ "text": "a", "amonut": 1 }] }),
            "`/lines/0/amonut` is unknown; known are `text`, `amount`".to_owned(),
        ),
        (
            json!({ "total": 1 }),
            format!("`/total` is unknown; {known}"),
        ),
        (json!({ "x": 1 }), format!("`/x` is unknown; {known}")),
    ] {
        assert_eq!(complaint(&SERVLET, "order", order_with(members)), expected);
    }
    let open = order_with(json!({ "delivery": { "method": "none", "more": 1 } }));
    assert!(
        text(&SERVLET, "order", open).is_ok(),
        "serde ignores what an open type does not know"
    );
}

/// Errors about unions have less detail; this test checks their pointers.
#[test]
fn points_into_enums() {
    for (tool, arguments, pointer) in [
        ("order", json!({ "itemId": 1 }), "/delivery"),
        (
            "order",
            order_with(json!({ "delivery": "pickup" })),
            "/delivery",
        ),
        (
            "order",
            order_with(json!({ "delivery": {} })),
            "/delivery/method",
        ),
        (
            "order",
            order_with(json!({ "delivery": { "method": "plane" } })),
            "/delivery/method",
        ),
        (
            "order",
            order_with(json!({ "delivery": { "method": "pickup" } })),
            "/delivery/shop",
        ),
        (
            "order",
            order_with(json!({ "delivery": { "method": "pickup", "shop": "x" } })),
            "/delivery",
        ),
        ("nest", json!({ "order": 1 }), "/order"),
        ("nest", json!({ "external": "Z" }), "/external"),
        ("nest", json!({ "external": { "Z": 1 } }), "/external"),
        ("nest", json!({ "external": { "B": "x" } }), "/external/B"),
        ("nest", json!({ "external": { "C": {} } }), "/external/C/c"),
        (
            "nest",
            json!({ "external": { "C": { "c": "x" } } }),
            "/external/C/c",
        ),
        ("nest", json!({ "external": "B" }), "/external"),
        ("nest", json!({ "external": {} }), "/external"),
        (
            "nest",
            json!({ "external": { "A": null, "B": 1 } }),
            "/external",
        ),
        ("nest", json!({ "untagged": 1 }), "/untagged"),
        ("nest", json!({ "untagged": [1, "x"] }), "/untagged"),
        ("nest", json!({ "adjacent": { "t": "Z" } }), "/adjacent/t"),
        ("nest", json!({ "adjacent": { "t": "B" } }), "/adjacent/c"),
        ("nest", json!({ "adjacent": { "c": 1 } }), "/adjacent/t"),
    ] {
        let complaint = complaint(&SERVLET, tool, &arguments);
        assert!(
            complaint.starts_with(&format!("`{pointer}` ")),
            "{arguments}: {complaint}"
        );
    }
}

#[test]
fn reads_enums_of_every_form() {
    for (name, value, read) in [
        ("external", json!("A"), "None Some(A) None None"),
        ("external", json!({ "B": 1 }), "None Some(B(1)) None None"),
        (
            "external",
            json!({ "C": { "c": 2 } }),
            "None Some(C { c: 2 }) None None",
        ),
        ("untagged", json!("a"), "None None Some(A(\"a\")) None"),
        ("untagged", json!([1]), "None None Some(B([1])) None"),
        ("adjacent", json!({ "t": "A" }), "None None None Some(A)"),
        (
            "adjacent",
            json!({ "t": "B", "c": 3 }),
            "None None None Some(B(3))",
        ),
    ] {
        assert_eq!(
            text(&SERVLET, "nest", json!({ name: value })).as_deref(),
            Ok(read)
        );
    }
}

#[test]
fn null_is_a_value_in_lists_and_maps() {
    let arguments = |names, sizes, lines| json!({ "names": names, "sizes": sizes, "lines": lines });
    let read = arguments(json!(["a", null]), json!({ "a": null }), json!([null]));
    assert_eq!(
        text(&SERVLET, "holes", read).as_deref(),
        Ok("[Some(\"a\"), None] {\"a\": None} [None]")
    );
    for (refused, pointer, of_schema, came) in [
        (
            arguments(json!([1]), json!({}), json!([])),
            "/names/0",
            "/names/items",
            "1",
        ),
        (
            arguments(json!([]), json!({ "a": 300 }), json!([])),
            "/sizes/a",
            "/sizes/additionalProperties",
            "300: out of range",
        ),
        (
            arguments(json!([]), json!({ "a": 1.5 }), json!([])),
            "/sizes/a",
            "/sizes/additionalProperties",
            "1.5: an integer has no fraction",
        ),
        (
            arguments(json!([]), json!({}), json!([{ "text": 7 }])),
            "/lines/0/text",
            "/lines/items/properties/text",
            "7",
        ),
    ] {
        let complaint = complaint(&SERVLET, "holes", refused);
        assert_eq!(
            wrong(&complaint),
            (pointer, schema(&SERVLET, "holes", of_schema), came)
        );
    }
}

#[test]
fn a_flattened_struct_knows_its_aliases_and_takes_others_only_into_a_map() {
    let order = text(
        &SERVLET,
        "order",
        json!({ "id": 7, "delivery": { "method": "pickup", "shop": 1 } }),
    );
    assert!(
        order
            .unwrap()
            .starts_with("Order { item_id: 7, delivery: Pickup { shop: 1 }")
    );
    let open = text(&SERVLET, "open", json!({ "a": 1, "b": 2 }));
    assert_eq!(open.as_deref(), Ok("Open { a: 1, rest: {\"b\": 2} }"));
    let absent = complaint(&SERVLET, "open", json!({ "b": 1 }));
    assert_eq!(missing(&absent), ("/a", schema(&SERVLET, "open", "/a")));
    let inside = complaint(&SERVLET, "open", json!({ "a": 1, "b": "x" }));
    assert!(inside.starts_with("the object must match {"), "{inside}");
    let twice = complaint(&SERVLET, "order", json!({ "id": 1, "itemId": 1 }));
    assert_eq!(twice, "`/itemId` appears twice");
}

#[test]
fn tool_with_its_own_schema_accepts_what_its_type_accepts() {
    assert_eq!(text(&SERVLET, "raw", json!({})).as_deref(), Ok("{}"));
    assert_eq!(
        text(&SERVLET, "raw", json!({ "c": [1] })).as_deref(),
        Ok("{\"c\": [1]}")
    );
    let complaints =
        [json!({ "a": 1 }), json!({ "b": [300] })].map(|all| complaint(&SERVLET, "raw", all));
    assert_eq!(
        wrong(&complaints[0]),
        ("/a", json!({ "type": "array" }), "1")
    );
    assert_eq!(
        wrong(&complaints[1]),
        ("/b/0", json!({ "enum": ["x"] }), "300")
    );
}

#[derive(Deserialize, Schema)]
#[serde(tag = "shape", rename_all = "lowercase")]
enum Shape {
    Circle {
        radius: u8,
    },
    Box {
        width: u8,
        inner: Option<Vec<External>>,
    },
}

#[tool]
fn draw(shape: Shape, other: Option<External>) {
    let _ = (shape, other);
}

mcp_servlet::export!(static SHAPES = { tools: [draw] });

#[test]
fn error_has_the_schema_of_the_matching_variant() {
    let byte = |name: &str| json!({ "type": "integer", "description": name, "minimum": 0, "maximum": 255 });
    for (arguments, pointer, expected) in [
        (
            json!({ "shape": { "shape": "circle", "radius": "1" } }),
            "/shape/radius",
            byte("radius"),
        ),
        (
            json!({ "shape": { "shape": "box", "width": "1" } }),
            "/shape/width",
            byte("width"),
        ),
        (
            json!({ "shape": { "shape": "box", "width": 1, "inner": [{ "C": { "c": "1" } }] } }),
            "/shape/inner/0/C/c",
            byte("c"),
        ),
        (
            json!({ "shape": { "shape": "circle", "radius": 1 }, "other": { "B": "1" } }),
            "/other/B",
            byte("b"),
        ),
    ] {
        let complaint = complaint(&SHAPES, "draw", arguments);
        // serde reads an internally tagged enum in one piece, so only the position of the enum is known.
        let (place, schema, came) = wrong(&complaint);
        if place == pointer {
            assert_eq!((schema, came), (expected, "\"1\""));
        } else {
            assert_eq!((place, came), ("/shape", "an object"), "{complaint}");
            let tag = &schema["properties"]["shape"]["enum"];
            assert!(complaint.contains(&tag.to_string()), "{complaint}");
            assert_eq!(schema["type"], "object", "{complaint}");
        }
    }
}

#[test]
fn whole_numbers_are_integers_in_the_authors_types_too() {
    let order = r#"{"itemId":12.0,"delivery":{"method":"pickup","shop":7.0},"lines":[{"text":"a","amount":1e1}]}"#;
    let answer = text(&SERVLET, "order", order.parse::<RawJson>().unwrap()).unwrap();
    for part in ["item_id: 12", "shop: 7", "amount: Some(10)"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let arguments = r#"{"external":{"C":{"c":3.0}},"untagged":[4.0],"adjacent":{"t":"B","c":5.0}}"#;
    let answer = text(&SERVLET, "nest", arguments.parse::<RawJson>().unwrap()).unwrap();
    for part in ["C { c: 3 }", "B([4])", "B(5)"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let open: mcp_servlet::RawJson = r#"{"a":1.0,"more":2e2}"#.parse().unwrap();
    let answer = text(&SERVLET, "open", &open).unwrap();
    assert!(answer.contains(r#"a: 1, rest: {"more": 200}"#), "{answer}");
}
