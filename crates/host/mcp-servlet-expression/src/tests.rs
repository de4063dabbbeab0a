//! Values, mistakes and limits of expressions.

use serde_json::json;

use super::*;

fn scope(request: &Value) -> Scope<'_> {
    Scope::default().with("request", Part::Json(request))
}

fn run(text: &str, request: &Value) -> Result<Option<Value>, Failure> {
    let expression =
        Expression::parse(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    expression.run(&scope(request), &mut Budget::default())
}

#[test]
fn values_keep_their_types() {
    let request = json!({ "n": 3, "big": u64::MAX, "f": 1.5, "s": "a,b", "l": [3, 1], "o": { "z": 1, "a": 2 }, "none": null });
    for (text, expected) in [
        ("request.n + 1", json!(4)),
        ("request.big", json!(u64::MAX)),
        ("request.big > 5u", json!(true)),
        ("request.f * 2.0", json!(3.0)),
        ("1.0 in request.l", json!(true)),
        ("request.s in request.l", json!(false)),
        ("[1, 'a'] in [[1, 'b'], [1, 'a']]", json!(true)),
        ("'z' in request.o && !('y' in request.o)", json!(true)),
        ("request.s.split(',')", json!(["a", "b"])),
        ("request.s.indexOf('b')", json!(2)),
        ("'äbä'.lastIndexOf('ä')", json!(2)),
        ("'a-b-c'.replace('-', '+', 1)", json!("a+b-c")),
        ("'abc'.split('', 2)", json!(["a", "bc"])),
        ("['x', 'y'].join('/')", json!("x/y")),
        ("request.l.map(x, x * 10)", json!([30, 10])),
        ("request.l.filter(x, x > 1)", json!([3])),
        (
            "request.l.exists(x, x == 1) && request.l.all(x, x > 0)",
            json!(true),
        ),
        ("request.l.exists_one(x, x == 1)", json!(true)),
        ("request.s.matches('^a,')", json!(true)),
        ("matches(request.s, 'z')", json!(false)),
        ("request.s.matches('[ab]*a[ab]{4000}c')", json!(false)),
        ("json('{\"a\": [1]}').a[0]", json!(1)),
        (
            "text({'b': 1, 'a': [true, null]})",
            json!(r#"{"a":[true,null],"b":1}"#),
        ),
        ("request.?gone.orValue('x')", json!("x")),
        ("has(request.gone) ? 1 : 2", json!(2)),
        ("has(request.o.z)", json!(true)),
        ("request.o['a']", json!(2)),
        ("request.l[1]", json!(1)),
        ("'%s is %d'.format(['x', request.n])", json!("x is 3")),
        ("optional.of(request.n).value()", json!(3)),
        ("strings.quote('a')", json!("\"a\"")),
        ("request.none == null", json!(true)),
        ("[request.?gone, 1]", json!([1])),
        ("{'a': request.?gone, 'b': 1}", json!({ "b": 1 })),
        ("request.l.map(x, x > 1, [x])", json!([[3]])),
    ] {
        assert_eq!(run(text, &request), Ok(Some(expected)), "{text}");
    }
}

#[test]
fn a_path_keeps_order_and_is_looked_up_in_the_json() {
    let request = json!({ "o": { "z": 1, "a": 1.0e3 } });
    let value = run("request.o", &request).map(|value| value.map(|value| value.to_string()));
    assert_eq!(value, Ok(Some(r#"{"z":1,"a":1000.0}"#.to_owned())));
    assert_eq!(run("request.?gone", &request), Ok(None));
    assert_eq!(run("request.o.?x.y", &request), Ok(None));
    assert_eq!(run("request.gone", &request), Err(Failure::Absent));
}

/// `map` with a condition does not take the fast way, so it shows what `cel` returns.
#[test]
fn a_member_of_each_item_is_the_same_as_in_cel() {
    let lists = [
        json!([]),
        json!([{ "a": 1 }, { "a": 1.0, "b": 2 }, { "a": "x" }, { "a": null }, { "a": u64::MAX }]),
        json!([{ "a": 1e300 }, { "a": -0.0 }]),
        json!([{ "a": { "b": { "y": 1, "x": 2 } } }, { "a": { "b": [1] } }]),
        json!([{ "a": { "b": true } }]),
        json!([{ "b": 1 }]),
        json!([{ "a": 1 }, 2]),
        json!([["a"]]),
        json!({ "a": 1 }),
        json!("a"),
        json!(null),
    ];
    let texts = [
        "request.list.map(one, one.a)",
        "request.list.map(one, one['a'])",
        "request.list.map(one, one.a.b)",
        "request.list.map(request, request.a)",
        "request['list'].map(one, one.a)",
        "request.lists[0].map(one, one.a)",
        "request.?list.map(one, one.a)",
        "request.list.map(one, one.?a)",
        "request.list.map(one, request.list)",
        "request.list.map(one, one)",
        "request.gone.map(one, one.a)",
    ];
    for list in lists {
        for text in texts {
            let request = json!({ "list": list, "lists": [list] });
            let in_cel = text.replace(", ", ", true, ");
            assert_eq!(
                run(text, &request),
                run(&in_cel, &request),
                "{text} of {list}"
            );
        }
    }
}

#[test]
fn a_member_of_each_item_costs_steps() {
    let list = |length: u64| {
        let items: Vec<_> = (0..length)
            .map(|_| json!({ "a": 1, "other": [2] }))
            .collect();
        json!({ "list": items })
    };
    let text = "request.list.map(one, one.a)";
    let value = run(text, &list(50_000));
    assert!(matches!(value, Ok(Some(_))), "more than 1 MiB can be read");
    assert_eq!(run(text, &list(MAX_STEPS)), Err(Failure::TooMuch));
    let expression = Expression::parse(text).expect("an expression");
    let request = json!({ "list": [{ "a": 1 }, { "a": "x".repeat(1000) }] });
    let mut budget = Budget::default();
    let value = expression.run(&scope(&request), &mut budget);
    assert!(matches!(value, Ok(Some(_))));
    assert_eq!(budget.steps(), MAX_STEPS - 18);
}

#[test]
fn failures_have_kinds() {
    let request = json!({ "n": 0, "s": "secret" });
    for (text, failure) in [
        ("1 / request.n", Failure::Arithmetic),
        ("request.s + 1", Failure::Type),
        ("request.gone + 1", Failure::Absent),
        ("[1][request.n + 5]", Failure::Bounds),
        ("1.0 / 0.0", Failure::Json("a number that is not finite")),
        ("int(request.s)", Failure::Type),
        (
            "{1: 2}",
            Failure::Json("a map with keys that are not strings"),
        ),
    ] {
        assert_eq!(run(text, &request), Err(failure), "{text}");
    }
}

#[test]
fn paths_are_shown_as_they_are_written() {
    for text in [
        "a",
        "a.b.?c",
        "a[0][?12].x_1",
        "a[\"x y\"][?\"\"]",
        "a[\"1\"]",
    ] {
        let expression = Expression::parse(text).expect(text);
        let path = expression.path().map(ToString::to_string);
        assert_eq!(path.as_deref(), Some(text));
    }
}

/// Checks the first mistake of an expression, and its place.
fn has_mistake(text: &str, place: &str, message: &str) {
    let mistakes = Expression::parse(text).expect_err(text);
    let mistake = &mistakes[0];
    assert!(mistake.message.contains(message), "{text}: {mistake:?}");
    assert_eq!(
        text.get(mistake.range.clone()).map(str::trim),
        Some(place),
        "{text}: {mistake:?}"
    );
}

#[test]
fn errors_of_the_parser_are_in_our_words() {
    for (text, place, message) in [
        (
            "result.x?",
            "result.x?",
            "write `result.?x` for a member that may be absent",
        ),
        (
            "size(result.a.b?.c)",
            "result.a.b?",
            "write `result.a.?b` for a member that may be absent",
        ),
        (
            "result.x ?? 1",
            "??",
            "there is no operator `??`; write `result.?x.orValue(1)`",
        ),
        ("'?' + result.x ?: 1", "?:", "there is no operator `?:`"),
        (
            "result.?a == 1 ? 1",
            "?",
            "`?` needs `:`, as in `condition ? a : b`",
        ),
        (
            "if result.x then 1",
            "if",
            "there is no `if`; write `condition ? a : b`",
        ),
        ("result[", "[", "`[` is not closed"),
        ("(result.x", "(", "`(` is not closed"),
        ("size([1,2", "[", "`[` is not closed"),
        ("f(')', \"\\\"\"", "(", "`(` is not closed"),
        ("[1, ", "", "expected a value after `[1,`"),
        (
            "result.x.map(y)",
            "map",
            "`map` is called on a list and takes a name and an expression, as in `list.map(item, item.x)`",
        ),
        ("map(y, y)", "map", "`map` is called on a list"),
        ("has(a, b)", "has", "`has` takes a member"),
        (
            "99999999999999999999",
            "99999999999999999999",
            "`99999999999999999999` does not fit into 64 bits",
        ),
        ("has(1)", "1", "`has` takes a member"),
        (
            "[1].map(1, 2)",
            "1",
            "expected a name, as in `list.map(item, item.x)`, found `1`",
        ),
    ] {
        has_mistake(text, place, message);
    }
}

#[test]
fn mistakes_have_places() {
    for (text, place, message) in [
        ("request.a ==", "", "expected a value after `==`"),
        ("1 +* 2", "*", "unexpected `*`"),
        (
            "'é' + lower(request.s)",
            "lower",
            "there is no function `lower`; there is `lowerAscii`",
        ),
        (
            "request.s.lower()",
            "lower",
            "there is no function `lower`; there is `lowerAscii`",
        ),
        (
            "request.s.matches(request.p)",
            "matches",
            "`matches` needs its pattern in the expression",
        ),
        ("request.s.matches('(')", "matches", "invalid pattern: "),
        ("request.s.format([1])", "format", "`format` needs its text"),
        (
            "request.?a.optMap(x, x + 1).orValue(1)",
            "optMap",
            "there is no function `optMap`",
        ),
        (
            "request.?a.b.optFlatMap(x, x.?y).hasValue()",
            "optFlatMap",
            "there is no function `optFlatMap`",
        ),
        ("Thing{a: 1}", "Thing", "there is no type `Thing`"),
        (
            "'a'.replace('b')",
            "replace",
            "`replace` takes 2 to 3 arguments, found 1",
        ),
        (
            "[1].map(a, [1].map(b, [1].map(c, [1].map(d, d))))",
            ".",
            "loops can be nested 3 deep",
        ),
    ] {
        has_mistake(text, place, message);
    }
}

#[test]
fn long_and_deep_expressions_are_refused() {
    let long = "1 + ".repeat(1024) + "1";
    assert!(
        Expression::parse(&long).expect_err("too long")[0]
            .message
            .contains("4096 bytes, found 4097")
    );
    assert!(Expression::parse(" ").is_err());
    for deep in [
        "1 + ".repeat(1000) + "1",
        "-".repeat(90) + "1",
        "(".repeat(90) + "1" + &")".repeat(90),
    ] {
        let mistakes = Expression::parse(&deep);
        let is_deep = |mistake: &Mistake| mistake.message.contains("nested 96 deep");
        assert!(
            mistakes.is_ok() || mistakes.is_err_and(|all| all.iter().all(is_deep)),
            "{deep}"
        );
    }
}

#[test]
fn the_budget_ends_expressions() {
    let numbers: Vec<_> = (0..2000).collect();
    let text = "ab".repeat(100_000);
    let request = json!({ "l": numbers, "s": text, "many": vec![1; 60_000] });
    for text in [
        "request.many.map(x, x + 1)",
        "request.many.all(x, x == 1)",
        "request.l.map(a, request.l)",
        "request.l.map(a, request.l.map(b, a + b))",
        "request.l.all(a, request.l.all(b, request.l.all(c, c >= 0)))",
        "request.l.exists(a, request.l.exists(b, request.l.exists(c, c < 0)))",
        "request.l.exists_one(a, request.l.exists_one(b, a == -b))",
        "request.s.replace('a', request.s)",
        "request.s.matches('[ab]*a[ab]{4000}c')",
        "request.s.split('').size() + request.s.split('').size()",
        "request.l.map(x, request.s).join(request.s)",
        "request.many.all(x, x > 0) || true",
        "request.many in request.l",
        "[request.many] in request.l.map(x, [x])",
        "request.many.all(x, x > 0) ? request.many : request.many",
    ] {
        assert_eq!(run(text, &request), Err(Failure::Budget), "{text}");
    }
    let sum = vec!["request.s"; 90].join(" + ");
    assert_eq!(run(&sum, &request), Err(Failure::Budget));
    let equal = vec!["request.many == request.many"; 90].join(" && ");
    assert_eq!(run(&equal, &request), Err(Failure::Budget));
    assert!(run("request.l.filter(x, x > 1000).size()", &request).is_ok());
}

#[test]
fn what_expressions_read_takes_time_of_the_budget() {
    let request = json!({ "many": vec![1; 60_000] });
    let expression = Expression::parse("request.many[0] == 1").expect("an expression");
    let mut budget = Budget::of_decision();
    let mut runs = (0..1000).map(|_| expression.run(&scope(&request), &mut budget));
    assert!(runs.any(|value| value == Err(Failure::Budget)));
    let next = Expression::parse("1 == 1").expect("an expression");
    let value = next.run(&scope(&request), &mut budget);
    assert_eq!(value, Err(Failure::Budget));
}

#[test]
fn an_attempt_ends_before_it_takes_long() {
    let numbers: Vec<_> = (0..2000).collect();
    let deep = "1 + ".repeat(40) + "1";
    let request = json!({ "l": numbers, "s": "a".repeat(100_000), "t": "a" });
    for (text, is_quick) in [
        ("request.t + 'b'", true),
        ("request.s", true),
        ("request.s + 'b'", false),
        ("request.l.map(a, a + 1)", false),
        (deep.as_str(), false),
    ] {
        let expression = Expression::parse(text).expect(text);
        let mut budget = Budget::default();
        let attempt = budget.attempt(|budget| expression.run(&scope(&request), budget));
        assert_eq!(attempt.is_some(), is_quick, "{text}");
        let value = run(text, &request);
        assert!(value.is_ok(), "{text}");
        match attempt {
            Some(attempt) => assert_eq!(attempt, value, "{text}"),
            None => assert_eq!(budget.steps(), MAX_STEPS, "{text}"),
        }
    }
}

#[test]
fn values_that_may_be_absent_are_charged_before_they_are_copied() {
    let numbers: Vec<_> = (0..2000).collect();
    let request = json!({ "l": numbers });
    let text = "request.l.all(a, request.?l[0].orValue(0) == 0)";
    assert_eq!(run(text, &request), Err(Failure::Budget));
    assert_eq!(
        run("request.?l[0].orValue(5)", &request),
        Ok(Some(json!(0)))
    );
    assert_eq!(
        run("request[?'l'][?9999].orValue(5)", &request),
        Ok(Some(json!(5)))
    );
    assert_eq!(
        run("optional.of(request.l)[?1].orValue(5)", &request),
        Ok(Some(json!(1)))
    );
    assert_eq!(
        run("optional.none().?a.orValue(5)", &request),
        Ok(Some(json!(5)))
    );
}

#[test]
fn the_hostile_expressions_use_every_function_and_macro() {
    let all = include_str!("../../mcp-servlet-bundle/tests/hostile/expressions.txt");
    let qualified = check::QUALIFIED
        .iter()
        .flat_map(|(space, names)| names.iter().map(move |name| format!("{space}.{name}")));
    let names = check::names().map(str::to_owned).chain(qualified);
    let unused: Vec<_> = names
        .filter(|name| !all.contains(&format!("{name}(")))
        .collect();
    assert_eq!(unused, [""; 0]);
}

#[test]
fn an_expression_reads_a_mebibyte() {
    let request = json!({ "s": "a".repeat(1 << 20), "t": 1 });
    assert_eq!(run("request.s + 'a'", &request), Err(Failure::TooMuch));
    assert_eq!(run("request.t + 1", &request), Ok(Some(json!(2))));
    assert!(run("request.s", &request).is_ok());
}

#[test]
fn the_paths_of_a_call_copy_eight_mebibytes() {
    let request = json!({ "large": "a".repeat(3 << 20), "small": { "a": [1, 2] } });
    let copy = |text: &str, budget: &mut Budget| {
        let path = Expression::parse(text).expect("a path");
        let value = path.run(&scope(&request), budget);
        value.map(|value| value.is_some())
    };
    let mut budget = Budget::default();
    let attempt = budget.attempt(|budget| copy("request.large", budget));
    assert_eq!(attempt, Some(Ok(true)));
    assert_eq!(copy("request.large", &mut budget), Ok(true));
    let third = budget.attempt(|budget| copy("request.large", budget));
    assert_eq!(third, Some(Err(Failure::TooLarge)));
    assert_eq!(copy("request.small", &mut budget), Ok(true));
}

#[test]
fn loops_read_only_parts_of_the_items_of_a_list() {
    for (text, expected) in [
        ("steps.a.map(s, s.free)", vec!["steps.a[0].free"]),
        ("steps.a.map(s, s.?free.x)", vec!["steps.a[0].?free.x"]),
        ("steps.a.map(s, has(s.free))", vec!["steps.a[0].?free"]),
        (
            "steps.a.b.all(s, s.free > 1 || s.id == steps.c.id)",
            vec!["steps.a.b[0].free", "steps.a.b[0].id", "steps.c.id"],
        ),
        (
            "steps.a.map(s, s.list.map(x, x.id + s.id))",
            vec!["steps.a[0].list[0].id", "steps.a[0].id"],
        ),
        // The items themselves are in the result.
        (
            "steps.a.filter(s, s.free)",
            vec!["steps.a[0].free", "steps.a[0]"],
        ),
        ("steps.a.map(s, 1)", vec!["steps.a[0]"]),
        ("steps.a.map(steps, steps.x)", vec!["steps.a[0].x"]),
        ("size(steps.a)", vec!["steps.a"]),
        // A list that an operator makes has no path.
        (
            "(steps.a + steps.b).map(s, s.free)",
            vec!["steps.a", "steps.b"],
        ),
    ] {
        let expression = Expression::parse(text).expect("an expression");
        let found: Vec<_> = expression.exact_reads.iter().map(Path::to_string).collect();
        assert_eq!(found, expected, "{text}");
    }
}
