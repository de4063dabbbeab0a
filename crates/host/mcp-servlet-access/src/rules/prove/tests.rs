//! What is proved of rules, against all calls over small domains.

use proptest::{prelude::*, sample};
use serde_json::{Map, json};

use super::*;
use crate::rules::Effect::{Allow, Deny};

fn argument(path: &str, schema: &Value) -> Argument {
    let schema = schema.as_object().expect("an object");
    Argument::new(path, schema).unwrap_or_else(|problem| panic!("{path}: {problem}"))
}

fn prove(path: &str, fragment: &Value, effect: Effect, schema: &Value) -> Proof {
    argument(path, fragment).prove(
        effect,
        ToolSchema {
            name: "pay",
            schema,
        },
    )
}

/// The schema of a tool with an argument `amount`.
fn amount(schema: &Value) -> Value {
    json!({ "type": "object", "properties": { "amount": schema }, "required": ["amount"] })
}

#[test]
fn what_never_or_always_holds_is_wrong() {
    for (fragment, effect, schema, expected) in [
        (
            json!({ "maximum": 100 }),
            Allow,
            json!({ "type": "number", "minimum": 200 }),
            "this never holds: `pay` takes {\"type\":\"number\",\"minimum\":200} for `amount`",
        ),
        (
            json!({ "maximum": 100 }),
            Allow,
            json!({ "type": "integer", "maximum": 50 }),
            "this always holds: `pay` takes {\"type\":\"integer\",\"maximum\":50} for `amount`",
        ),
        (
            json!({ "maximum": 100 }),
            Allow,
            json!({ "type": "string" }),
            "argument `amount` of `pay` is {\"type\":\"string\"}, but `maximum` only applies to type `number`",
        ),
        (
            json!({ "minimum": 100 }),
            Deny,
            json!({ "enum": [1, 2] }),
            "this never holds: `pay` takes {\"enum\":[1,2]} for `amount`",
        ),
        (
            json!({ "const": "a" }),
            Allow,
            json!({ "enum": ["b", "c"] }),
            "this never holds: `pay` takes {\"enum\":[\"b\",\"c\"]} for `amount`",
        ),
        (
            json!({ "pattern": "^a" }),
            Deny,
            json!({ "enum": ["ab", "ac"] }),
            "this always holds: `pay` takes {\"enum\":[\"ab\",\"ac\"]} for `amount`",
        ),
        (
            json!({ "exclusiveMaximum": 3 }),
            Allow,
            json!({ "type": "integer", "exclusiveMinimum": 2 }),
            "this never holds: `pay` takes {\"type\":\"integer\",\"exclusiveMinimum\":2} for `amount`",
        ),
        (
            json!({ "minLength": 5 }),
            Allow,
            json!({ "type": "string", "maxLength": 4 }),
            "this never holds: `pay` takes {\"type\":\"string\",\"maxLength\":4} for `amount`",
        ),
    ] {
        let proof = prove("amount", &fragment, effect, &amount(&schema));
        let kind = match expected.split(' ').nth(1) {
            Some("always") => MistakeKind::Always,
            Some("never") => MistakeKind::Never,
            _ => MistakeKind::Misfit,
        };
        let expected = Proof::Mistake(kind, expected.to_owned());
        assert_eq!(proof, expected, "{fragment} {schema}");
    }
}

#[test]
fn an_argument_that_a_tool_does_not_have_is_wrong() {
    let closed = json!({ "properties": { "amount": {} }, "additionalProperties": false });
    let proof = prove("amuont", &json!({ "maximum": 1 }), Allow, &closed);
    let expected = "tool `pay` has no argument `amuont`; did you mean `amount`?";
    assert_eq!(proof, misfit(expected.to_owned()));
}

#[test]
fn what_a_call_shows_is_proved() {
    let order = json!({
        "type": "object",
        "properties": {
            "items": { "type": "array", "items": { "$ref": "#/$defs/item" } },
            "note": { "type": "string", "minLength": 3 },
        },
        "required": ["note"],
        "$defs": { "item": { "type": "object", "properties": { "sku": { "type": "string" } }, "required": ["sku"] } },
    });
    for (path, fragment, schema) in [
        (
            "amount",
            json!({ "maximum": 100 }),
            amount(&json!({ "type": "number" })),
        ),
        (
            "amount",
            json!({ "minimum": 0, "maximum": 100 }),
            amount(&json!({ "type": "integer", "maximum": 1000 })),
        ),
        (
            "amount",
            json!({ "pattern": "^(DE|FR)[0-9]{3}$" }),
            amount(&json!({ "type": "string" })),
        ),
        (
            "amount",
            json!({ "const": "acme" }),
            amount(&json!({ "type": "string" })),
        ),
        (
            "amount?",
            json!({ "maxItems": 2 }),
            json!({ "properties": { "amount": { "type": "array" } } }),
        ),
        ("items[].sku", json!({ "pattern": "^A" }), order),
    ] {
        for effect in [Allow, Deny] {
            let proof = prove(path, &fragment, effect, &schema);
            assert_eq!(
                proof,
                Proof::Proved,
                "{effect:?} {path} {fragment} {schema}"
            );
        }
    }
}

#[test]
fn what_is_not_known_is_not_proved() {
    for (path, fragment, schema) in [
        (
            "owner",
            json!({ "const": "acme" }),
            json!({ "type": "object" }),
        ),
        (
            "amount",
            json!({ "maximum": 100 }),
            json!({ "patternProperties": { "^a": {} } }),
        ),
        (
            "amount",
            json!({ "pattern": "^a$" }),
            amount(&json!({ "type": "string", "not": { "const": "a" } })),
        ),
    ] {
        let proof = prove(path, &fragment, Allow, &schema);
        assert!(
            matches!(proof, Proof::Unproved(_)),
            "{path} {fragment} {schema}: {proof:?}"
        );
    }
}

/// Values of all types, at which the bounds of the random schemas are.
fn domain() -> Vec<Value> {
    let mut all: Vec<_> = (-24..=24)
        .map(|half| json!(f64::from(half) / 2.0))
        .collect();
    all.extend((-12..=12).map(|number| json!(number)));
    let mut texts = vec![String::new(), "text".to_owned()];
    for length in 0..4 {
        let longer: Vec<_> = texts
            .iter()
            .filter(|text| text.len() == length && !text.contains('t'))
            .flat_map(|text| ["a", "b"].map(|end| format!("{text}{end}")))
            .collect();
        texts.extend(longer);
    }
    all.extend(texts.into_iter().map(Value::from));
    for length in 0..6 {
        all.extend(
            [json!("a"), json!(1), json!(null), json!({})].map(|item| json!(vec![item; length])),
        );
    }
    all.extend([json!(null), json!(true), json!(false), json!({})]);
    all
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3..=3_i64).prop_map(Value::from),
        sample::select(vec![-1.5, 0.5, 2.5]).prop_map(Value::from)
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        number(),
        sample::select(vec![
            json!("a"),
            json!("ab"),
            json!(""),
            json!(null),
            json!(true),
            json!([]),
            json!([1])
        ]),
    ]
}

/// A keyword that rules have.
fn keyword() -> impl Strategy<Value = (String, Value)> {
    let bounds = sample::select(vec![
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ]);
    let lengths = sample::select(vec!["minLength", "maxLength", "minItems", "maxItems"]);
    let types = vec![
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    prop_oneof![
        4 => (bounds, number()).prop_map(|(name, value)| (name.to_owned(), value)),
        3 => (lengths, 0..=3_u64).prop_map(|(name, value)| (name.to_owned(), json!(value))),
        3 => sample::subsequence(types, 1..=2).prop_map(|types| ("type".to_owned(), json!(types))),
        1 => sample::select(vec!["^a", "b$", "^(a|b)$"]).prop_map(|text| ("pattern".to_owned(), json!(text))),
        1 => sample::select(vec![json!(1), json!(2), json!(0.5)]).prop_map(|of| ("multipleOf".to_owned(), of)),
        2 => prop::collection::vec(scalar(), 1..=3).prop_map(|mut values| {
            values.dedup();
            ("enum".to_owned(), json!(values))
        }),
        1 => scalar().prop_map(|value| ("const".to_owned(), value)),
    ]
}

fn fragment() -> impl Strategy<Value = Value> {
    prop::collection::vec(keyword(), 1..=3)
        .prop_map(|keywords| Value::Object(keywords.into_iter().collect()))
}

/// A schema of an argument, of keywords that are understood and others.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![8 => fragment(), 1 => Just(json!({})), 1 => Just(json!(true)), 1 => Just(json!({ "$ref": "#/$defs/d" }))];
    leaf.prop_recursive(2, 8, 3, |inner| {
        let several = sample::select(vec!["allOf", "anyOf", "oneOf"]);
        let parts = prop::collection::vec(inner.clone(), 1..=3);
        prop_oneof![
            (several, parts, prop::option::of(keyword())).prop_map(|(name, parts, more)| {
                let mut schema = Map::from_iter([(name.to_owned(), json!(parts))]);
                schema.extend(more);
                Value::Object(schema)
            }),
            (inner.clone(), inner).prop_map(|(one, not)| json!({ "allOf": [one], "not": not })),
        ]
    })
}

#[derive(Clone, Debug)]
struct Case {
    argument: Argument,
    effect: Effect,
    schema: Value,
}

fn case() -> impl Strategy<Value = Case> {
    let path = sample::select(vec!["x", "x?", "x.y", "x.y?", "x[]", "x[]?"]);
    let effect = sample::select(vec![Allow, Deny]);
    let root = prop_oneof![
        3 => Just(json!({})),
        1 => Just(json!({ "additionalProperties": false })),
        1 => Just(json!({ "required": ["x"] })),
        2 => Just(json!({ "required": ["x"], "additionalProperties": false })),
    ];
    let inner = (any::<bool>(), any::<bool>());
    let parts = (path, fragment(), effect, schema(), schema(), root, inner);
    parts.prop_filter_map(
        "a rule",
        |(path, fragment, effect, leaf, other, mut root, (required, typed))| {
            let argument = Argument::new(path, fragment.as_object()?).ok()?;
            let mut part = match path.trim_end_matches('?') {
                "x.y" if required => json!({ "properties": { "y": leaf }, "required": ["y"] }),
                "x.y" => json!({ "properties": { "y": leaf }, "additionalProperties": false }),
                "x[]" => json!({ "items": leaf }),
                _ => leaf,
            };
            if typed && path.contains('.') {
                part["type"] = json!("object");
            }
            root["properties"] = json!({ "x": part });
            root["$defs"] = json!({ "d": other });
            let root = Value::Object(root.as_object()?.clone());
            mcp_servlet_schema::Validator::new(&root).ok()?;
            Some(Case {
                argument,
                effect,
                schema: root,
            })
        },
    )
}

/// All calls of the small domain that match the schema, and whether the rule holds for each.
fn outcomes(case: &Case) -> Vec<(Value, bool)> {
    let validator = mcp_servlet_schema::Validator::new(&case.schema).expect("a schema");
    let domain = domain();
    let mut values = vec![None];
    values.extend(domain.iter().cloned().map(Some));
    if case.argument.path.len() > 1 {
        values.extend(domain.iter().map(|value| Some(json!({ "y": value }))));
        values.extend(domain.iter().map(|value| Some(json!([value]))));
        values.extend(domain.iter().map(|value| Some(json!([value, value]))));
    }
    let calls = values
        .into_iter()
        .map(|value| Map::from_iter(value.map(|value| ("x".to_owned(), value))));
    let accepted = calls.filter(|call| {
        // A null for a member that may be absent passes the check of the server as well.
        let mut without = call.clone();
        without.retain(|_, value| !value.is_null());
        let accepts = |call: &Map<String, Value>| {
            validator.accepts(&Value::Object(call.clone())) == Some(true)
        };
        accepts(call) || accepts(&without)
    });
    accepted
        .map(|call| {
            (
                Value::Object(call.clone()),
                case.argument.holds(case.effect, &call),
            )
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_proof_is_wrong(case in case()) {
        let proof = case.argument.prove(case.effect, ToolSchema { name: "t", schema: &case.schema });
        let outcomes = outcomes(&case);
        let holds = outcomes.iter().find(|(_, holds)| *holds);
        let fails = outcomes.iter().find(|(_, holds)| !*holds);
        match &proof {
            Proof::Proved => prop_assert!(holds.is_some() && fails.is_some(), "{proof:?}: {holds:?} {fails:?}"),
            Proof::Mistake(MistakeKind::Always, text) => {
                prop_assert!(fails.is_none(), "{text}: {fails:?}");
            }
            Proof::Mistake(MistakeKind::Never, text) => {
                prop_assert!(holds.is_none(), "{text}: {holds:?}");
            }
            // A value of another type makes a `deny` hold.
            Proof::Mistake(MistakeKind::Misfit, text) if case.effect == Deny => {
                let of_value = outcomes.iter().filter(|(call, _)| call.pointer("/x").is_some_and(|x| !x.is_null()));
                prop_assert!(case.argument.path.len() > 1 || of_value.clone().all(|(_, holds)| *holds), "{text}");
            }
            Proof::Mistake(MistakeKind::Misfit, text) if !case.argument.may_be_absent() => prop_assert!(holds.is_none(), "{text}: {holds:?}"),
            Proof::Mistake(MistakeKind::Misfit, _) | Proof::Unproved(_) => {}
        }
    }
}

#[test]
fn a_condition_may_read_what_only_one_of_its_tools_has() {
    let closed = |name: &str, schema: Value| json!({ "type": "object", "properties": { name: schema }, "additionalProperties": false });
    let (x, y) = (
        closed("x", json!({ "type": "integer" })),
        closed("y", json!({ "items": { "type": "string" } })),
    );
    let prove = |text: &str| {
        let when = When::new(&format!("${{{{ {text} }}}}"), true, None);
        let schemas = [("a", &x), ("b", &y)].map(|(name, schema)| ToolSchema { name, schema });
        when.expect(text).prove(&schemas)
    };
    let wrong = |text: &str| {
        let proofs = prove(text);
        let wrong = proofs.iter().find_map(|proof| match proof {
            Proof::Proved => None,
            Proof::Mistake(MistakeKind::Misfit, text) => Some(text.clone()),
            other => panic!("{text}: {other:?}"),
        });
        wrong.unwrap_or_default()
    };
    let union = "tool.name == 'a' ? arguments.x > 1 : arguments.y[0] == 'z'";
    for (text, expected) in [
        (union, ""),
        ("caller.subject == 'ann'", ""),
        ("arguments.gone > 1", "tool `a` has no argument `gone`"),
        ("arguments.y[0].z > 1", "tool `a` has no argument `y`"),
    ] {
        assert_eq!(wrong(text), expected, "{text}");
    }
    let compared =
        "`y[0]` is compared with a number, but `b` takes {\"type\":\"string\"} for `y[0]`";
    assert!(prove("arguments.y[0] == 5").contains(&misfit(compared.to_owned())));
    let flag = json!({ "properties": { "is": { "type": "boolean" } } });
    let [flag, a] = [("c", &flag), ("a", &x)].map(|(name, schema)| ToolSchema { name, schema });
    let when = When::new("${{ arguments.is }}", true, None).expect("a condition");
    assert_eq!(when.prove(&[flag, a]), [Proof::Proved]);
    assert!(matches!(&*when.prove(&[]), [Proof::Unproved(_)]));
    assert!(matches!(
        &*when.prove(&[a]),
        [Proof::Mistake(MistakeKind::Misfit, _), Proof::Unproved(_)]
    ));
    let nested = When::new("${{ arguments.y[0].z }}", true, None).expect("a condition");
    let b = ToolSchema {
        name: "b",
        schema: &y,
    };
    let message = "`b` accepts no value at `y[0].z`";
    assert_eq!(nested.prove(&[b])[0], misfit(message.to_owned()));
}

/// A tool of a remote can have any schema.
#[test]
fn a_schema_cannot_make_large_values() {
    for pattern in ["((a{100}){100}){100}", "(?:(?:|a){1000}){100}b{20000}"] {
        let texts = witness::matching(pattern);
        let is_short = |text: &Value| text.as_str().is_some_and(|text| text.len() < 1_100);
        assert!(texts.len() == 3 && texts.iter().all(is_short), "{pattern}");
    }
    let calls = |schema: &Value| {
        let argument = argument("amount", &json!({ "minLength": 1 }));
        witness::witnesses(&amount(schema), schema, &argument).count()
    };
    let lists: Vec<_> = (0..50)
        .map(|less| json!({ "minItems": 900 - less }))
        .collect();
    assert!((1..=202).contains(&calls(&json!({ "anyOf": lists }))));
    assert_eq!(calls(&json!({ "pattern": "a", "$ref": "#/$defs/gone" })), 0);
}

#[test]
fn many_random_rules_are_decided() {
    use proptest::{strategy::ValueTree as _, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let mut counts = [0; 3];
    for _ in 0..2_000 {
        let case = case().new_tree(&mut runner).expect("a case").current();
        let proof = case.argument.prove(
            case.effect,
            ToolSchema {
                name: "t",
                schema: &case.schema,
            },
        );
        counts[match proof {
            Proof::Proved => 0,
            Proof::Mistake(..) => 1,
            Proof::Unproved(_) => 2,
        }] += 1;
    }
    assert!(counts[0] > 400 && counts[1] > 400, "{counts:?}");
}
