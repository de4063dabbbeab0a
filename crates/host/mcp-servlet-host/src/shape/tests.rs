//! Tests of shapes.

use std::iter;

use proptest::{collection::vec, prelude::*};

use super::*;

fn shape(take: &[&str], most: Option<usize>, chars: Option<usize>) -> Shape {
    let paths = take.iter().map(|path| path.parse().expect("a path"));
    Shape {
        take: paths.collect(),
        most,
        chars,
        more: None,
    }
}

fn result(json: Value) -> CallToolResult {
    let Value::Object(json) = json else {
        panic!("an object");
    };
    CallToolResult::new(json)
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// What is left of structured content.
fn left(shape: &Shape, content: &Value) -> Value {
    let shaped = shape.apply(result(
        json!({ "content": [], "structuredContent": content }),
    ));
    shaped.structured_content().cloned().expect("content")
}

#[test]
fn paths_are_json_pointers() {
    for path in ["/items/*/title", "/a~1b/~0", "/", "/0"] {
        assert_eq!(path.parse::<ShapePath>().expect(path).to_string(), path);
    }
    for text in ["", "items", "items/*", "#/items", "/a~", "/a~2"] {
        let error = text.parse::<ShapePath>().expect_err(text).to_string();
        let expected = format!("expected a JSON pointer such as `/items/*/title`, found `{text}`");
        assert_eq!(error, expected);
    }
}

#[test]
fn takes_what_paths_lead_to() {
    let content = json!({
        "total": 2,
        "items": [{ "title": "a", "by": { "id": 1, "name": "x" } }, { "title": "b" }, "c"],
        "a/b": { "c": null },
    });
    for (take, expected) in [
        (&["/total"][..], json!({ "total": 2 })),
        (&["/none"], json!({})),
        (
            &["/items/*/title"],
            json!({ "items": [{ "title": "a" }, { "title": "b" }] }),
        ),
        (&["/items/0"], json!({ "items": [content["items"][0]] })),
        (
            &["/*/*/by/id", "/items/1"],
            json!({ "items": [{ "by": { "id": 1 } }, { "title": "b" }], "a/b": {} }),
        ),
        (&["/a~1b"], json!({ "a/b": { "c": null } })),
        (
            &["/total/x", "/items/*"],
            json!({ "items": content["items"] }),
        ),
        (&["/*"], content.clone()),
    ] {
        assert_eq!(
            left(&shape(take, None, None), &content),
            expected,
            "{take:?}"
        );
    }
}

#[test]
fn cuts_are_noted_once() {
    let many = |count: usize| (0..count).collect::<Vec<_>>();
    let items = json!({ "items": many(1214), "few": [[1, 2, 3], [4]] });
    let mut shape = shape(&[], Some(2), None);
    shape.more = Some("page".to_owned());
    let before = json!({
        "content": [text(&items.to_string()), { "type": "image", "data": "a" }],
        "structuredContent": items,
        "_meta": { "kept": 1 },
    });
    let shaped = Value::from(shape.apply(result(before)).into_json());
    let items = json!({ "items": [0, 1], "few": [[1, 2], [4]] });
    let note = "/items has 2 of 1,214 items; ask with \"page\" for more\n\
        /few/0 has 2 of 3 items; ask with \"page\" for more";
    let expected = json!({
        "content": [text(&items.to_string()), { "type": "image", "data": "a" }, text(note)],
        "structuredContent": items,
        "_meta": { "kept": 1, "mcp-servlet/cut": { "/items": 1212, "/few/0": 1 } },
    });
    assert_eq!(shaped, expected);

    let lists: Vec<_> = (0..18).map(|_| many(3)).collect();
    let shape = shape_of(20);
    let uncut = shape.apply(result(json!({ "content": [], "structuredContent": lists })));
    assert_eq!(uncut.text(), "");
    let shape = shape_of(2);
    let shaped = shape.apply(result(
        json!({ "content": [text(&json!(lists).to_string())] }),
    ));
    let note = shaped.texts().last().expect("a text").to_owned();
    assert_eq!(
        note,
        "the list has 2 of 18 items; ask for less\n\
         /0 has 2 of 3 items; ask for less\n\
         /1 has 2 of 3 items; ask for less"
    );
    let lists =
        json!({ "all": (0..17).map(|at| (at.to_string(), json!(many(3)))).collect::<Value>() });
    let shaped = shape.apply(result(json!({ "content": [], "structuredContent": lists })));
    assert!(
        shaped
            .text()
            .ends_with("/all/4 has 2 of 3 items; ask for less\nand 12 more lists")
    );
}

#[test]
fn notes_of_a_hostile_result_stay_small() {
    let members = || (0..20_000).map(|at| (at.to_string(), json!([1, 2])));
    let name = "n".repeat(100_000);
    let content = json!({ "few": [1, 2], (name): members().collect::<Value>() });
    let json = json!({ "content": [text(&content.to_string())], "structuredContent": content });
    let shape = shape_of(1);
    let shaped = Value::from(shape.apply(result(json)).into_json());
    let note = "/few has 1 of 2 items; ask for less\nand 20,000 more lists";
    assert_eq!(shaped["content"][1]["text"], note);
    assert_eq!(shaped["_meta"]["mcp-servlet/cut"], json!({ "/few": 1 }));

    let shaped = shape.apply(result(
        json!({ "content": [], "structuredContent": members().collect::<Value>() }),
    ));
    assert!(shaped.text().ends_with("\nand 19,995 more lists"));
    let cut = &Value::from(shaped.into_json())["_meta"]["mcp-servlet/cut"];
    assert_eq!(cut.as_object().expect("numbers").len(), MAX_NAMED_LISTS);
}

fn shape_of(most: usize) -> Shape {
    shape(&[], Some(most), None)
}

#[test]
fn texts_are_cut_at_the_end_of_a_line() {
    for (before, after, count) in [
        ("one\ntwo\nthree", "one\ntwo", 6),
        ("one\ntwo!\n", "one\ntwo!", 1),
        ("\nno other line", "\nno othe", 6),
        ("äöüßäöüßä", "äöüßäöüß", 1),
        ("12345678", "12345678", 0),
    ] {
        let shape = shape(&["/x"], Some(1), Some(8));
        let shaped = shape.apply(result(json!({ "content": [text(before)] })));
        let shaped = Value::from(shaped.into_json());
        assert_eq!(shaped["content"][0]["text"], after);
        let cut = &shaped["_meta"]["mcp-servlet/cut"];
        if count == 0 {
            assert_eq!(*cut, Value::Null);
            continue;
        }
        assert_eq!(*cut, json!({ "/content/0/text": count }), "{before}");
        let note = match count {
            1 => "1 more character was cut; ask for less".to_owned(),
            count => format!("{count} more characters were cut; ask for less"),
        };
        assert_eq!(shaped["content"][1]["text"], note);
    }
}

#[test]
fn errors_and_requests_for_input_stay() {
    let long = text("a long text");
    for json in [
        json!({ "content": [long], "isError": true }),
        json!({ "content": [long], "resultType": "input_required" }),
        json!({ "content": [{ "type": "resource_link", "uri": "x:", "name": "a long name" }] }),
        json!({ "content": [text("{ \"a\" :1}")] }),
    ] {
        let shape = shape(&[], Some(1), Some(9));
        let shaped = shape.apply(result(json.clone())).into_json();
        assert_eq!(Value::from(shaped), json);
    }
}

#[test]
fn an_output_schema_stays_as_long_as_it_is_true() {
    let list =
        |least: Value| json!({ "properties": { "a": { "type": "array", "minItems": least } } });
    for (shape, schema, stays) in [
        (shape(&["/a"], None, None), json!({}), false),
        (shape_of(20), list(json!(20)), true),
        (shape_of(20), list(json!(21)), false),
        (shape_of(20), json!({ "contains": {} }), false),
        (shape_of(2), json!({ "const": [1, 2, 3] }), false),
        (shape_of(2), json!({ "enum": [{ "a": [1, 2, 3] }] }), false),
        (shape_of(3), json!({ "enum": [{ "a": [1, 2, 3] }] }), true),
        (
            shape_of(2),
            json!({ "properties": { "contains": {}, "const": {} } }),
            true,
        ),
        (shape(&[], None, Some(1)), list(json!(21)), true),
    ] {
        let tool = json!({ "name": "t", "inputSchema": {}, "outputSchema": schema });
        let mut tool = Tool::new(tool.as_object().cloned().expect("an object")).expect("a tool");
        tool.set_shape(&shape);
        assert_eq!(tool.json().contains_key("outputSchema"), stays, "{schema}");
        assert_eq!(tool.unshaped_output_schema(), Some(&schema));
    }
}

#[test]
fn paths_must_be_in_closed_schemas() {
    let person =
        json!({ "type": "object", "properties": { "name": {} }, "additionalProperties": false });
    let schema = json!({
        "type": "object",
        "properties": {
            "items": { "type": "array", "items": { "$ref": "#/$defs/Person" } },
            "open": { "type": "object", "properties": { "a": {} } },
            "any": { "anyOf": [person] },
        },
        "additionalProperties": false,
        "$defs": { "Person": person },
    });
    for (path, expected) in [
        ("/items", None),
        ("/items/*/name", None),
        ("/items/3/name", None),
        ("/*/name", None),
        ("/open/b/c", None),
        ("/any/b", None),
        ("/itms", Some("; it has `/items`")),
        ("/itms/*/name", Some("; it has `/items`")),
        ("/items/*/nme", Some("; it has `/items/*/name`")),
        ("/items/name", Some("; it has `/items/*`")),
        ("/zzz", Some("")),
    ] {
        let tool = json!({ "name": "search", "inputSchema": {}, "outputSchema": schema });
        let mut tool = Tool::new(tool.as_object().cloned().expect("an object")).expect("a tool");
        let shape = shape(&[path], None, None);
        tool.set_shape(&shape);
        let expected: Vec<_> = expected
            .map(|known| {
                let message =
                    format!("`{path}` is not in the output schema of `github:search`{known}");
                ShapeProblem::Take(0, message)
            })
            .into_iter()
            .collect();
        assert_eq!(shape.problems("github", &tool), expected, "{path}");
    }
}

#[test]
fn the_argument_for_more_must_exist() {
    let schema = json!({ "type": "object", "properties": { "page": {} } });
    let tool = json!({ "name": "search", "inputSchema": schema });
    let tool = Tool::new(tool.as_object().cloned().expect("an object")).expect("a tool");
    for (more, expected) in [
        ("page", None),
        ("pge", Some("; it has `page`")),
        ("offset", Some("")),
    ] {
        let mut shape = shape_of(20);
        shape.more = Some(more.to_owned());
        let expected: Vec<_> = expected
            .map(|hint| {
                ShapeProblem::More(format!("`github:search` has no argument `{more}`{hint}"))
            })
            .into_iter()
            .collect();
        assert_eq!(shape.problems("github", &tool), expected);
    }
}

/// Whether a value has only what the other has, in the same order.
fn is_within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|whole| is_within(value, whole))),
        (Value::Array(part), Value::Array(whole)) => {
            let mut rest = whole.iter();
            part.iter()
                .all(|item| rest.any(|whole| is_within(item, whole)))
        }
        (part, whole) => part == whole,
    }
}

fn longest_list(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(longest_list).max().unwrap_or(0),
        Value::Array(items) => items
            .iter()
            .map(longest_list)
            .max()
            .unwrap_or(0)
            .max(items.len()),
        _ => 0,
    }
}

fn items(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(items).sum(),
        Value::Array(all) => all.len() + all.iter().map(items).sum::<usize>(),
        _ => 0,
    }
}

/// Any JSON with members `a` to `c`.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ab\n~/\"]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let members = vec(("[a-c]", inner.clone()), 0..4);
        prop_oneof![
            members.prop_map(|members| members.into_iter().collect::<Value>()),
            vec(inner, 0..6).prop_map(Value::from),
        ]
    })
}

proptest! {
    #[test]
    fn a_result_is_a_part_and_the_numbers_add_up(
        content in any_json(),
        take in vec("(/[a-c*01]){1,3}", 0..3),
        most in proptest::option::of(1_usize..4),
        chars in proptest::option::of(1_usize..20),
        line in "[a-c\n ]{0,30}",
        has_structured: bool,
    ) {
        let take: Vec<_> = take.iter().map(String::as_str).collect();
        let shape = shape(&take, most, chars);
        let is_json = content.is_object() || content.is_array();
        let own = content.to_string();
        let mut json = json!({ "content": [text(&line), text(&own)] });
        if has_structured {
            json["structuredContent"] = content.clone();
        }
        let shaped = Value::from(shape.apply(result(json)).into_json());
        let blocks = shaped["content"].as_array().expect("content");
        let counts = shaped["_meta"]["mcp-servlet/cut"].as_object().cloned().unwrap_or_default();
        prop_assert_eq!(blocks.len(), 2 + usize::from(!counts.is_empty()));

        // What `most` cuts is what is left of the part that `take` takes.
        let mut whole = content.clone();
        Shape { most: None, chars: None, ..shape.clone() }.reduce(&mut whole, &mut Cut::default());
        let mut part = content.clone();
        shape.reduce(&mut part, &mut Cut::default());
        prop_assert!(is_within(&part, &content), "{part} of {content}");
        prop_assert!(most.is_none_or(|most| longest_list(&part) <= most));
        if has_structured {
            prop_assert_eq!(&shaped["structuredContent"], &part);
        }
        let in_lists = counts.iter().filter(|(key, _)| !key.starts_with("/content/"));
        for (pointer, count) in in_lists {
            let (before, after) = (whole.pointer(pointer), part.pointer(pointer));
            let length = |list: Option<&Value>| list.and_then(Value::as_array).map(Vec::len);
            let count = count.as_u64().and_then(|count| usize::try_from(count).ok());
            prop_assert_eq!(length(before), length(after).zip(count).map(|(one, two)| one + two));
        }
        prop_assert_eq!(counts.keys().any(|key| !key.starts_with("/content/")), items(&whole) > items(&part));

        let texts = [line, if is_json && part != content { part.to_string() } else { own }];
        for (at, before) in texts.iter().enumerate() {
            let after = blocks[at]["text"].as_str().expect("text");
            let count = counts.get(&format!("/content/{at}/text")).and_then(Value::as_u64).unwrap_or(0);
            prop_assert!(before.starts_with(after), "{after} of {before}");
            prop_assert_eq!(after.chars().count() as u64 + count, before.chars().count() as u64);
            prop_assert!(chars.is_none_or(|chars| after.chars().count() <= chars));
        }
    }
}

#[test]
fn texts_that_repeat_parts_of_the_structured_content_become_one() {
    let items: Vec<_> = (0..3).map(|id| json!({ "id": id, "title": "t" })).collect();
    // The Python SDK makes a text of each item.
    let texts = items.iter().map(|item| text(&item.to_string()));
    let content: Vec<_> = iter::once(text("three")).chain(texts).collect();
    let before = json!({ "content": content, "structuredContent": { "result": items } });
    let shape = shape(&["/result/*/title"], Some(2), None);
    let shaped = Value::from(shape.apply(result(before)).into_json());
    let left = json!({ "result": [{ "title": "t" }, { "title": "t" }] });
    assert_eq!(shaped["structuredContent"], left);
    let note = "/result has 2 of 3 items; ask for less";
    let content = json!([text("three"), text(&left.to_string()), text(note)]);
    assert_eq!(shaped["content"], content);
}
