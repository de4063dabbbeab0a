//! Types of expressions, and what is wrong with them.

use serde_json::json;

use super::*;
use crate::types::tests::shown;

/// The names that an expression of the example in the docs can read.
fn scope() -> Vec<(&'static str, Type)> {
    let flights = Type::of_schema(
        &json!({}),
        &json!({
            "type": "object",
            "properties": {
                "country": { "type": "string" },
                "flights": { "type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "string" },
                        "price": { "type": "number" },
                        "stops": { "type": "integer" },
                        "note": { "type": "string" },
                    },
                    "required": ["id", "price", "stops"],
                } },
            },
            "required": ["flights", "country"],
        }),
    );
    let arguments = Type::of_schema(
        &json!({}),
        &json!({
            "type": "object",
            "properties": {
                "day": { "type": "string" },
                "count": { "type": "integer" },
                "ratio": { "type": "number" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "either": { "type": ["string", "integer"] },
                "flag": { "type": "boolean" },
                "any": {},
            },
            "required": ["day", "count"],
        }),
    );
    let request = Type::object([("arguments", arguments), ("meta", Type::ANY)]);
    let steps = Type::object([
        ("flights", flights.with("isError", Type::boolean())),
        (
            "rules",
            Type::object([("text", Type::string())]).or_absent(),
        ),
    ]);
    let item = Type::object([("id", Type::string())]);
    let hotel = item
        .uncertain("step `hotel` may fail, so `{}` may be absent")
        .with("isError", Type::boolean());
    vec![
        ("hotels", Type::list(hotel.clone())),
        ("hotel", hotel),
        ("request", request),
        ("steps", steps),
        ("item", item),
        ("index", Type::integer()),
    ]
}

fn infer(text: &str) -> Inferred {
    let expression =
        Expression::parse(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    expression.infer(&scope())
}

/// Expressions and their types, as [`shown`] writes them.
const TYPES: &[(&str, &str)] = &[
    // Literals.
    ("'a'", "string"),
    ("1", "integer"),
    ("1.5", "number"),
    ("null", "null"),
    ("true", "boolean"),
    ("[]", "[]"),
    ("[1, 'a']", "[integer | string]"),
    // Members that may be absent, and are read as such.
    ("hotel.?id", "absent | string"),
    ("hotel.?id.orValue('')", "string"),
    ("hotels.map(h, h.?id)", "[absent | string]"),
    (
        "hotels.filter(h, has(h.id) && !h.isError).size()",
        "integer",
    ),
    ("{'a': 1}", "{a: integer}"),
    ("{'a': index, 'b': request.arguments.?tags}.a", "integer"),
    ("{'b': request.arguments.?tags}.b", "absent | [string]"),
    // Paths.
    ("steps.flights.country", "string"),
    ("steps.flights['country']", "string"),
    ("steps.?rules.text", "absent | string"),
    ("steps.flights.?country", "string"),
    ("steps.flights.flights[0].?note", "absent | string"),
    ("steps.flights.flights[0].note", "string"),
    (
        "steps.flights.flights[?0]",
        "absent | {id: string, price: number, stops: integer, note?: string, ~}",
    ),
    ("steps.flights.flights[index + 1].id", "string"),
    ("request.arguments.day", "string"),
    ("request.arguments.ratio", "absent | number"),
    ("request.arguments.ratio + 1.0", "number"),
    ("request.meta.x.y", "any"),
    ("other.x", "any"),
    // Operators.
    ("index + 1", "integer"),
    ("-index", "integer"),
    ("index * request.arguments.ratio", "number"),
    ("index / 2", "integer"),
    ("index / request.arguments.count", "number"),
    ("request.arguments.ratio % 2", "integer"),
    ("item.id + '-' + string(index)", "string"),
    ("request.arguments.tags + [1]", "[integer | string]"),
    ("request.arguments.tags + item", "[string]"),
    ("request.arguments.any + 1", "any"),
    ("request.arguments.any - 1", "number"),
    ("request.arguments.either + 'a'", "string"),
    ("index > 1 && item.id == 'a' || !(1 in [1])", "boolean"),
    ("has(item.id)", "boolean"),
    ("index > 1 ? 'a' : 1", "integer | string"),
    // Optional values.
    ("request.arguments.?tags.orValue([])", "[string]"),
    ("request.arguments.?ratio.orValue(0)", "number"),
    (
        "request.arguments.?ratio.orValue('none')",
        "number | string",
    ),
    ("steps.?rules.hasValue()", "boolean"),
    (
        "steps.?rules.text.or(steps.flights.?country)",
        "absent | string",
    ),
    ("steps.?rules.text.value()", "string"),
    ("optional.none()", "absent"),
    ("optional.of(1)", "absent | integer"),
    ("[steps.flights.?country]", "[absent | string]"),
    ("optional.of(steps.?rules)", "any"),
    ("optional.ofNonZeroValue(index)", "absent | integer"),
    ("[?steps.?rules.text]", "[string]"),
    ("[steps.?rules.text]", "[absent | string]"),
    ("[steps.?rules.text][0]", "absent | string"),
    ("[steps.?rules.text][?0]", "any"),
    ("[[steps.?rules.text]].map(y, y[?0])", "[any]"),
    ("{'a': steps.?rules}.?a", "any"),
    // Loops.
    ("steps.flights.flights.map(f, f.id)", "[string]"),
    (
        "steps.flights.flights.map(f, f.stops > 0, f.price)",
        "[number]",
    ),
    (
        "steps.flights.flights.filter(f, f.stops == 0)",
        "[{id: string, price: number, stops: integer, note?: string, ~}]",
    ),
    (
        "steps.flights.flights.filter(f, f.stops == 0)[0].id",
        "string",
    ),
    (
        "steps.flights.flights.map(f, {'id': f.id, 'note': f.?note})",
        "[{id: string, note?: absent | string}]",
    ),
    (
        "steps.flights.flights.map(f, [f.id]).map(l, l[0])",
        "[string]",
    ),
    (
        "request.arguments.tags.map(t, request.arguments.tags.map(u, t + u))",
        "[[string]]",
    ),
    ("item.map(name, name)", "[string]"),
    ("[].map(x, x)", "[]"),
    ("request.meta.list.map(x, x)", "[any]"),
    ("[1].all(x, x > 0)", "boolean"),
    ("[1].exists(x, x > 0)", "boolean"),
    ("[1].exists_one(x, x > 0)", "boolean"),
    // Functions.
    ("size(steps.flights.flights)", "integer"),
    ("item.id.size()", "integer"),
    ("int(item.id)", "integer"),
    ("double(index)", "number"),
    ("bool('true')", "boolean"),
    ("text(steps)", "string"),
    ("json(item.id)", "any"),
    ("json(item.id).a[0] > 1", "boolean"),
    ("dyn(index)", "integer"),
    ("type(index)", "any"),
    ("item.id.split(',')", "[string]"),
    ("item.id.split(',').join('-')", "string"),
    ("item.id.indexOf('a')", "integer"),
    (
        "item.id.replace('a', 'b').lowerAscii().substring(1)",
        "string",
    ),
    ("item.id.matches('^a')", "boolean"),
    ("'%s'.format([index])", "string"),
    ("strings.quote(item.id)", "string"),
];

/// Expressions, the text at which one mistake begins, and the beginning of its message.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "hotel.id",
        "id",
        "step `hotel` may fail, so `id` may be absent: write `hotel.?id`",
    ),
    (
        "hotels.map(h, h.isError ? '' : h.id)",
        "id)",
        "step `hotel` may fail, so `id` may be absent: write `h.?id`",
    ),
    (
        "hotels[0].id + 'x'",
        "id +",
        "step `hotel` may fail, so `id` may be absent: write `hotels[0].?id`",
    ),
    (
        "hotels.map(h, h)[0].id",
        "id",
        "step `hotel` may fail, so `id` may be absent: write `.?id`",
    ),
    (
        "request.arguments.tags.orValue([])",
        "orValue",
        "`orValue` needs a value that may be absent: write `.?` before its last name",
    ),
    (
        "'é' + item.id + 1",
        "+ 1",
        r#"`+` does not take {"type":"string"} and {"type":"integer"}: write `string(…)`"#,
    ),
    (
        "request.arguments.tags + 1",
        "+ 1",
        r#"`+` does not take {"type":"array"} and {"type":"integer"}"#,
    ),
    (
        "item.id - 1",
        "- 1",
        r#"`-` does not take {"type":"string"} and {"type":"integer"}"#,
    ),
    (
        "item.id < 1",
        "< 1",
        r#"`<` does not take {"type":"string"} and {"type":"integer"}"#,
    ),
    (
        "-item.id",
        "-item",
        r#"`-` does not take {"type":"string"}"#,
    ),
    (
        "!index",
        "!index",
        r#"`!` does not take {"type":"integer"}"#,
    ),
    (
        "1 in item.id",
        "in item",
        r#"`in` does not take {"type":"integer"} and {"type":"string"}"#,
    ),
    (
        "index ? 1 : 2",
        "? 1",
        r#"`?` needs true or false, found {"type":"integer"}"#,
    ),
    (
        "index && item.id",
        "&& item",
        r#"`&&` does not take {"type":"integer"} and {"type":"string"}"#,
    ),
    (
        "size(steps.flights.total)",
        "total)",
        "`steps.flights` has no `total`; it has `country`, `flights` and `isError`",
    ),
    (
        "item.?name.orValue('')",
        "name",
        "`item` has no `name`; it has `id`",
    ),
    (
        "has(item.name)",
        "name",
        "`item` has no `name`; it has `id`",
    ),
    ("item['name']", "name", "`item` has no `name`; it has `id`"),
    ("{}.name", "name", "this value has no `name`"),
    (
        "steps.?rules.title.orValue('')",
        "title",
        "`steps.?rules` has no `title`; it has `text`",
    ),
    (
        "steps.flights.flights.map(f, f.name)",
        "name",
        "`f` has no `name`; it has `id`, `price`, `stops` and `note`",
    ),
    (
        "steps.flights.flights.id",
        "id",
        r#"`steps.flights.flights` is {"type":"array"}, and has no `id`"#,
    ),
    (
        "steps.flights.country[0]",
        "country",
        r#"`steps.flights.country` is {"type":"string"}, not a list"#,
    ),
    (
        "steps.flights.country.map(c, c)",
        "map",
        r#"`map` needs a list, found {"type":"string"}"#,
    ),
    (
        "steps.flights.flights.filter(f, f.id)",
        "filter",
        r#"`filter` needs true or false, found {"type":"string"}"#,
    ),
    (
        "index.lowerAscii()",
        "lowerAscii",
        r#"`lowerAscii` does not take {"type":"integer"}"#,
    ),
    (
        "index.split(',')",
        "split",
        r#"`split` does not take {"type":"integer"}"#,
    ),
    (
        "size(index)",
        "size",
        r#"`size` does not take {"type":"integer"}"#,
    ),
    (
        "request.meta.x + true",
        "+ true",
        r#"`+` does not take {"type":"boolean"}"#,
    ),
    ("[1, [item.id - 1]]", "- 1", "`-` does not take"),
    ("{'a': item.id - 1}", "- 1", "`-` does not take"),
    ("true ? item.id - 1 : 0", "- 1", "`-` does not take"),
];

#[test]
fn expressions_have_types() {
    for (text, expected) in TYPES {
        let inferred = infer(text);
        assert_eq!(shown(&inferred.value), *expected, "{text}");
        assert_eq!(inferred.wrong, [], "{text}");
    }
}

#[test]
fn what_is_always_wrong_is_reported_at_its_place() {
    for (text, place, message) in WRONG {
        let inferred = infer(text);
        let [wrong] = inferred.wrong.as_slice() else {
            panic!("{text}: {:?}", inferred.wrong);
        };
        assert!(
            wrong.mistake.message.starts_with(message),
            "{text}: {wrong:?}"
        );
        let found = &text[wrong.mistake.range.start..];
        assert!(found.starts_with(place), "{text}: {found}");
        let length = wrong.mistake.range.len();
        assert!(place.starts_with(&found[..length]), "{text}: {wrong:?}");
    }
}

#[test]
fn what_may_have_a_value_is_not_reported() {
    for text in [
        "request.arguments.either + 1",
        "request.arguments.either + request.arguments.either",
        "request.arguments.any.x[0] + 'a'",
        "request.arguments.ratio % 2",
        "request.meta + 1",
        "null == 1",
        "1 == 'a'",
        "index || true",
        "[].map(x, x + 'a')",
        "[][0] + 'a'",
        "1 in {'a': 1}",
        "item[request.arguments.day]",
        "{request.arguments.day: 1}.other",
        "type(index) == int",
        "json(item.id) + 1",
    ] {
        assert_eq!(infer(text).wrong, [], "{text}");
    }
}

#[test]
fn an_access_tells_which_value_has_no_such_member() {
    let wrong = infer("[1].map(x, steps.flights.flights[0].to)").wrong;
    let access = wrong[0].access.as_ref().expect("an access");
    let path = access.path.as_ref().expect("a path");
    assert_eq!(path.to_string(), "steps.flights.flights[0]");
    assert_eq!(path.root, "steps");
    assert_eq!(access.member, "to");
    let known: Vec<_> = access.found.members().collect();
    assert_eq!(known, ["id", "price", "stops", "note"]);
    assert!(infer("item.id - 1").wrong[0].access.is_none());
    assert!(
        infer("{}.a").wrong[0]
            .access
            .as_ref()
            .is_some_and(|one| one.path.is_none())
    );
}

#[test]
fn deep_and_wide_expressions_end() {
    let deep = "1 + ".repeat(90) + "1";
    assert_eq!(infer(&deep).value, Type::integer());
    let path = "request.meta".to_owned() + &".a".repeat(2000) + " == 1";
    assert_eq!(infer(&path).value, Type::boolean());
    let path = "request.meta".to_owned() + &".?a".repeat(1300);
    assert_eq!(infer(&path).value, Type::ANY);
    // Each turn doubles a value; joining two of them would take forever.
    let doubled = ".map(a, {'l': a, 'r': a})".repeat(60);
    let wide = format!("[[1]{doubled}, [2]{doubled}]");
    assert_eq!(infer(&wide).value.to_string(), r#"{"type":"array"}"#);
}

#[test]
fn every_function_has_a_type() {
    let special = ["dyn", "or", "orValue", "value"];
    let macros = ["all", "exists", "exists_one", "filter", "has", "map"];
    let unknown: Vec<_> = crate::check::names()
        .filter(|name| !special.contains(name) && !macros.contains(name))
        .filter(|name| functions::find(name).is_none())
        .collect();
    assert_eq!(unknown, [""; 0]);
}
