//! Compares rendered schemas byte for byte.

use super::json::Text;
use super::{Description, Side};
use crate::describe::exported::{Item, Kind as _, kind};
use crate::describe::tool::{ToolDef, ToolHints};
use crate::schema::{Node, Property, Schema};

/// The schema as text, for arguments and for results.
fn both(node: &Node) -> [String; 2] {
    [Side::Input, Side::Output].map(|side| {
        let mut text = Text::<4096>::new();
        text.node(node, "", false, side);
        String::from_utf8(text.bytes[..text.length].to_vec()).unwrap()
    })
}

fn same(node: &Node, json: &str) {
    assert_eq!(both(node), [json, json]);
}

const CLOSED: Node =
    Node::object(&[Property::with_node("a", "b", &Node::string(), false)]).closed();
const UNION: Node = Node::any_of(&[Node::null(), Node::string()]);
const NULLABLE: Node = Node::object(&[Property::with_node("a", "", &Node::raw("{}"), true)]);
const OBJECTS: Node = Node::any_of(&[Node::object(&[])]);

#[test]
fn renders_every_kind_without_spaces() {
    same(&Node::any(), "{}");
    same(&Node::null(), r#"{"type":"null"}"#);
    same(&Node::boolean(), r#"{"type":"boolean"}"#);
    same(&Node::number(), r#"{"type":"number"}"#);
    same(
        &Node::string().with_format("date"),
        r#"{"type":"string","format":"date"}"#,
    );
    same(
        &Node::character(),
        r#"{"type":"string","minLength":1,"maxLength":1}"#,
    );
    same(
        &Node::array::<bool>(),
        r#"{"type":"array","items":{"type":"boolean"}}"#,
    );
    same(
        &Node::set::<bool>(),
        r#"{"type":"array","items":{"type":"boolean"},"uniqueItems":true}"#,
    );
    same(
        &Node::map::<bool>(),
        r#"{"type":"object","additionalProperties":{"type":"boolean"}}"#,
    );
    same(&Node::object(&[]), r#"{"type":"object","properties":{}}"#);
    same(
        &CLOSED,
        r#"{"type":"object","properties":{"a":{"type":"string","description":"b"}},"required":["a"],"additionalProperties":false}"#,
    );
    same(&UNION, r#"{"anyOf":[{"type":"null"},{"type":"string"}]}"#);
    same(
        &OBJECTS,
        r#"{"type":"object","anyOf":[{"type":"object","properties":{}}]}"#,
    );
    same(
        &Node::raw(" { \"type\" : \"string\" } "),
        r#"{"type" : "string" }"#,
    );
    same(
        &Node::raw("{}").with_description(" d "),
        r#"{"description":"d"}"#,
    );
    same(
        &Node::raw(r#"{"description":"own"}"#).with_description("d"),
        r#"{"description":"own"}"#,
    );
}

#[test]
fn renders_the_range_of_whole_numbers() {
    for (min, max, json) in [
        (None, None, r#"{"type":"integer"}"#),
        (
            Some(0),
            Some(0),
            r#"{"type":"integer","minimum":0,"maximum":0}"#,
        ),
        (
            Some(i64::MIN),
            Some(i64::MAX),
            r#"{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}"#,
        ),
    ] {
        same(&Node::integer(min, max), json);
    }
}

#[test]
fn notes_follow_a_description_or_replace_it() {
    let colors = Node::one_of_strings(&["a"]).with_notes("\n- `a`: the first");
    same(
        &colors,
        r#"{"type":"string","description":"- `a`: the first","enum":["a"]}"#,
    );
    same(
        &colors.with_description("One."),
        r#"{"type":"string","description":"One.\n- `a`: the first","enum":["a"]}"#,
    );
}

#[test]
fn null_is_in_lists_and_results() {
    let item = r#"{"type":"array","items":{"type":["integer","null"],"minimum":0}}"#;
    assert_eq!(both(&Node::array::<Option<u64>>()), [item; 2]);
    assert_eq!(
        both(&Node::map::<Option<()>>())[1],
        r#"{"type":"object","additionalProperties":{"type":"null"}}"#
    );
    assert_eq!(
        both(&NULLABLE),
        [
            r#"{"type":"object","properties":{"a":{"description":"a"}}}"#,
            r#"{"type":"object","properties":{"a":{"anyOf":[{},{"type":"null"}]}},"required":["a"]}"#,
        ]
    );
}

#[test]
fn optional_flattened_struct_has_no_required_properties() {
    struct Inner;
    impl Schema for Inner {
        const NODE: &'static Node = &Node::object(&[Property::new::<bool>("b", "b")]);
    }
    const NEEDED: Node = Node::object(&[]).with_flattened(&[&Node::flattened::<Inner>()]);
    const FREE: Node = Node::object(&[]).with_flattened(&[&Node::flattened::<Option<Inner>>()]);
    let properties = r#"{"type":"object","properties":{"b":{"type":"boolean","description":"b"}}"#;
    same(&NEEDED, &format!(r#"{properties},"required":["b"]}}"#));
    same(&FREE, &format!("{properties}}}"));
}

#[test]
fn escapes_every_character_that_json_requires() {
    for code in (0..0x100).chain([0x2028, 0x1f44d]) {
        let character = char::from_u32(code).unwrap();
        let mut text = Text::<16>::new();
        text.string(&character.to_string());
        let json = std::str::from_utf8(&text.bytes[..text.length]).unwrap();
        assert_eq!(
            serde_json::from_str::<String>(json).unwrap(),
            character.to_string(),
            "{json}"
        );
    }
}

const LONG: &str = "ä\"\n";

const fn item(def: ToolDef) -> Item<kind::tool> {
    Item {
        def,
        ..kind::tool::PLACEHOLDER
    }
}

static TOOLS: [Item<kind::tool>; 2] = [
    item(ToolDef {
        name: "one",
        title: LONG,
        description: "",
        ..kind::tool::PLACEHOLDER.def
    }),
    item(ToolDef {
        name: "two",
        description: LONG,
        hints: ToolHints {
            read_only: Some(true),
            idempotent: Some(false),
            task: Some("optional"),
            ..ToolHints::UNSET
        },
        output: Some(&Node::object(&[])),
        ..kind::tool::PLACEHOLDER.def
    }),
];

#[test]
fn the_length_is_that_of_the_text() {
    const DESCRIPTION: Description = Description {
        name: "n",
        version: "",
        instructions: LONG,
        tools: &TOOLS,
    };
    const LENGTH: usize = DESCRIPTION.length();
    let text = String::from_utf8(DESCRIPTION.render::<LENGTH>().to_vec()).unwrap();
    let (text, examples) = text.split_once('\0').unwrap();
    assert_eq!(examples, "[{},{}]");
    let input = r#""inputSchema":{"type":"object","properties":{}}"#;
    assert_eq!(
        text,
        format!(
            r#"{{"tools":[{{"name":"one","title":"ä\"\n","description":"one",{input}}},{{"name":"two","description":"ä\"",{input},"outputSchema":{{"type":"object","properties":{{}}}},"annotations":{{"readOnlyHint":true,"idempotentHint":false}},"execution":{{"taskSupport":"optional"}}}}],"serverInfo":{{"name":"n"}},"instructions":"ä\"\n"}}"#
        )
    );
}
