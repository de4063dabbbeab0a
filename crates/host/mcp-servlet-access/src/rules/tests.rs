//! What rules decide.

use serde_json::json;

use super::*;
use crate::{AuthOptions, Caller, CallerKind};

fn rule(effect: Effect, tools: &[&str]) -> Rule {
    Rule {
        name: tools.join(" "),
        effect,
        tools: tools.iter().map(|text| Pattern::new(text)).collect(),
        prompts: Vec::new(),
        resources: Vec::new(),
        members: Vec::new(),
        hints: Vec::new(),
        scopes: BTreeSet::new(),
        arguments: Vec::new(),
        when: None,
        message: None,
        explains_denials: true,
    }
}

fn resources(effect: Effect, patterns: &[&str]) -> Rule {
    let resources = patterns.iter().map(|text| UriPattern::new(text)).collect();
    Rule {
        resources,
        ..rule(effect, &[])
    }
}

fn caller(scopes: &[&str]) -> Caller {
    Caller {
        kind: CallerKind::Key,
        auth: "corp".to_owned(),
        subject: "ann".to_owned(),
        issuer: None,
        client: None,
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        roles: BTreeSet::new(),
        claims: JsonObject::new(),
        certificate: None,
        until: None,
    }
}

fn item<'a>(name: Name<'a>, member: &'a str) -> Item<'a> {
    Item {
        name,
        member,
        bundle: None,
        other_name: None,
    }
}

fn tool(name: &str) -> Item<'_> {
    item(Name::Tool(name, Hints::of(None)), "bank")
}

fn allowed(rules: &Rules, item: &Item<'_>) -> Holds {
    rules.decide(None, item, Arguments::Unknown).allowed
}

use Effect::{Allow, Deny};
use Holds::{Maybe, No, Yes};

#[test]
fn the_first_rule_that_holds_decides() {
    let rules = Rules(vec![
        rule(Allow, &["pay_small"]),
        rule(Deny, &["pay_*", "secret"]),
        rule(Allow, &["*"]),
    ]);
    for (name, expected) in [
        ("pay_small", Yes),
        ("pay_large", No),
        ("secret", No),
        ("greet", Yes),
    ] {
        assert_eq!(allowed(&rules, &tool(name)), expected, "{name}");
    }
    let decision = rules.decide(None, &tool("secret"), Arguments::Unknown);
    assert_eq!(decision.rule.expect("a rule").name, "pay_* secret");
}

#[test]
fn what_no_rule_of_its_kind_allows_is_denied() {
    let prompt = item(Name::Prompt("draft"), "bank");
    let only_tools = Rules(vec![rule(Allow, &["a"])]);
    assert_eq!(allowed(&only_tools, &tool("b")), No);
    assert_eq!(allowed(&only_tools, &prompt), Yes);
    assert_eq!(allowed(&Rules::default(), &tool("b")), Yes);
}

#[test]
fn scopes_members_and_hints_are_conditions() {
    let scoped = Rule {
        scopes: BTreeSet::from(["pay".to_owned(), "mcp".to_owned()]),
        ..rule(Allow, &["a"])
    };
    let scoped = Rules(vec![scoped]);
    for (scopes, expected) in [
        (&["mcp"][..], No),
        (&["mcp", "pay"], Yes),
        (&["mcp", "pay", "x"], Yes),
    ] {
        let decision = scoped.decide(Some(&caller(scopes)), &tool("a"), Arguments::Unknown);
        assert_eq!(decision.allowed, expected, "{scopes:?}");
    }
    assert_eq!(allowed(&scoped, &tool("a")), No);

    let of_members = Rule {
        members: vec!["bank".to_owned(), "ops".to_owned()],
        ..rule(Allow, &["*"])
    };
    let of_members = Rules(vec![of_members]);
    let others = Item {
        bundle: Some("ops"),
        ..item(Name::Tool("a", Hints::of(None)), "files")
    };
    assert_eq!(allowed(&of_members, &tool("a")), Yes);
    assert_eq!(allowed(&of_members, &others), Yes);
    let files = item(Name::Tool("a", Hints::of(None)), "files");
    assert_eq!(allowed(&of_members, &files), No);

    let reads = Rule {
        hints: vec![(Hint::ReadOnly, true), (Hint::Destructive, false)],
        ..rule(Allow, &["*"])
    };
    let reads = Rules(vec![reads]);
    for (annotations, expected) in [
        (json!({}), No),
        (json!({ "readOnlyHint": true }), Yes),
        (json!({ "readOnlyHint": true, "destructiveHint": true }), No),
        (json!({ "readOnlyHint": "yes" }), No),
    ] {
        let hints = Hints::of(Some(&annotations));
        let tool = item(Name::Tool("a", hints), "bank");
        assert_eq!(allowed(&reads, &tool), expected, "{annotations}");
    }
}

#[test]
fn steps_obey_rules_that_name_their_member() {
    let step = |listed| item(Name::Step("refund", listed, Hints::of(None)), "bank");
    let of_bank = |rule| Rule {
        members: vec!["bank".to_owned()],
        ..rule
    };
    let by_own = Rules(vec![of_bank(rule(Deny, &["refund"])), rule(Allow, &["*"])]);
    assert_eq!(allowed(&by_own, &step(None)), No);
    let by_listed = Rules(vec![of_bank(rule(Deny, &["bank_*"])), rule(Allow, &["x"])]);
    assert_eq!(allowed(&by_listed, &step(Some("bank_refund"))), No);
    assert_eq!(allowed(&by_listed, &step(None)), Yes);
    let of_all = Rules(vec![rule(Deny, &["*"])]);
    assert_eq!(allowed(&of_all, &step(None)), Yes);
    let when = When::new("${{ tool.name == 'bank_refund' }}", true, None);
    let by_when = Rules(vec![of_bank(Rule {
        when: Some(when.expect("a condition")),
        ..rule(Deny, &["*"])
    })]);
    assert_eq!(allowed(&by_when, &step(Some("bank_refund"))), No);
    assert_eq!(allowed(&by_when, &step(None)), Yes);
}

#[test]
fn rules_without_members_do_not_concern_steps() {
    let of_all = rule(Deny, &["refund"]);
    let of_bank = Rule {
        members: vec!["bank".to_owned()],
        ..of_all.clone()
    };
    let step = item(Name::Step("refund", None, Hints::of(None)), "bank");
    assert!(!of_all.may_apply_to(&step) && of_bank.may_apply_to(&step));
    assert!(of_all.may_apply_to(&tool("refund")));
}

#[test]
fn a_uri_is_compared_after_it_is_decoded() {
    let rules = Rules(vec![
        resources(Deny, &["docs://a/secret*"]),
        resources(Allow, &["docs://a/*"]),
    ]);
    let of = |uri: &Uri| allowed(&rules, &item(Name::Resource(uri), "files"));
    for (uri, expected) in [
        ("docs://a/b", Yes),
        ("docs://a/secrets", No),
        ("docs://a/%73ecrets", No),
        ("docs://A/b", No),
        ("docs://b/b", No),
    ] {
        assert_eq!(of(&Uri::listed(uri)), expected, "{uri}");
    }
    for (template, expected) in [
        ("docs://a/{id}", Yes),
        ("docs://{+path}", Maybe),
        ("docs://a/secrets/{id}", No),
        ("files://{id}", No),
    ] {
        assert_eq!(of(&Uri::of_template(template)), expected, "{template}");
    }
}

#[test]
fn a_rule_covers_what_it_names() {
    let all = rule(Deny, &["*"]);
    assert!(all.covers(&rule(Allow, &["a", "b*"])));
    assert!(!all.covers(&resources(Allow, &["docs://*"])));
    assert!(!rule(Deny, &["a*"]).covers(&rule(Allow, &["a", "b"])));
    assert!(resources(Deny, &["docs://*"]).covers(&resources(Allow, &["docs://a*"])));
}

#[test]
fn a_rule_shadows_those_about_fewer_items_and_callers() {
    let on = |effect, members: &[&str]| Rule {
        members: members.iter().map(|name| (*name).to_owned()).collect(),
        ..rule(effect, &["*"])
    };
    let hints = |hints: &[(Hint, bool)]| Rule {
        hints: hints.to_vec(),
        ..rule(Allow, &["*"])
    };
    let scopes = |scopes: &[&str]| Rule {
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        ..rule(Allow, &["*"])
    };
    let (reads, closed) = ((Hint::ReadOnly, true), (Hint::OpenWorld, false));
    let both = ["a", "b"];
    for (case, first, later, expected) in [
        ("equal members", on(Allow, &both), on(Deny, &["b"]), true),
        ("more members", on(Allow, &["a"]), on(Deny, &both), false),
        ("all members", on(Allow, &["a"]), on(Deny, &[]), false),
        // Only rules with members are about the calls of virtual tools.
        ("a member", on(Allow, &[]), on(Deny, &["a"]), false),
        ("more hints", hints(&[reads]), hints(&[closed, reads]), true),
        ("other hints", hints(&[reads]), hints(&[closed]), false),
        ("more scopes", scopes(&["a"]), scopes(&both), true),
        ("fewer scopes", scopes(&both), scopes(&["a"]), false),
    ] {
        assert_eq!(first.shadows(&later), expected, "{case}");
    }
}

#[test]
fn a_rule_shadows_those_with_its_arguments_and_condition() {
    let with = |effect, text: &str| Rule {
        when: Some(When::new(text, true, None).expect("a condition")),
        ..rule(effect, &["*"])
    };
    let small = |effect| with_arguments(rule(effect, &["*"]), "a", &json!({ "maximum": 1 }));
    let key = |effect| with(effect, "${{ caller.kind == 'key' }}");
    let jwt = with(Allow, "${{ caller.kind == 'jwt' }}");
    for (case, first, later, expected) in [
        ("all", rule(Deny, &["*"]), small(Allow), true),
        ("a part", small(Allow), rule(Allow, &["*"]), false),
        ("equal arguments", small(Allow), small(Allow), true),
        ("one of several values", small(Deny), small(Allow), true),
        ("all of several values", small(Allow), small(Deny), false),
        ("an equal condition", key(Deny), key(Allow), true),
        ("another condition", key(Allow), jwt, false),
        ("a condition without a value", key(Allow), key(Deny), false),
    ] {
        assert_eq!(first.shadows(&later), expected, "{case}");
    }
}

fn with_arguments(rule: Rule, path: &str, schema: &Value) -> Rule {
    let schema = schema.as_object().expect("an object");
    let argument = Argument::new(path, schema).expect("an argument");
    Rule {
        arguments: vec![argument],
        message: Some("Ask a person.".to_owned()),
        ..rule
    }
}

/// The arguments of a call that has one.
fn argument(name: &str, value: impl Into<Value>) -> JsonObject {
    JsonObject::from_iter([(name.to_owned(), value.into())])
}

#[test]
fn a_tool_is_listed_if_some_arguments_could_be_allowed() {
    let small = with_arguments(rule(Allow, &["pay"]), "amount", &json!({ "maximum": 100 }));
    let large = with_arguments(rule(Deny, &["pay"]), "amount", &json!({ "minimum": 50 }));
    for (rules, listed, of_five, of_sixty, of_more) in [
        (vec![small.clone()], Maybe, Yes, Yes, No),
        (vec![large.clone(), small.clone()], Maybe, Yes, No, No),
        (vec![large.clone(), rule(Allow, &["*"])], Yes, Yes, No, No),
        (vec![rule(Deny, &["pay"]), small], No, No, No, No),
    ] {
        let rules = Rules(rules);
        assert_eq!(allowed(&rules, &tool("pay")), listed, "{rules:?}");
        for (amount, expected) in [(5, of_five), (60, of_sixty), (101, of_more)] {
            let arguments = &argument("amount", amount);
            let decision = rules.decide(None, &tool("pay"), Arguments::Known(arguments));
            assert_eq!(decision.allowed, expected, "{amount}: {rules:?}");
            let denial = rules.deny(None, &tool("pay"), arguments);
            assert_eq!(denial.is_none(), expected == Yes);
        }
    }
}

#[test]
fn a_verdict_for_all_arguments_may_be_open() {
    let small = with_arguments(rule(Allow, &["pay"]), "amount", &json!({ "maximum": 100 }));
    let large = with_arguments(rule(Deny, &["pay"]), "amount", &json!({ "minimum": 50 }));
    let (all, none) = (rule(Allow, &["*"]), rule(Deny, &["*"]));
    for (rules, expected) in [
        (vec![], Some(true)),
        (vec![all.clone()], Some(true)),
        (vec![small.clone()], None),
        (vec![large.clone()], Some(false)),
        (vec![small.clone(), all.clone()], Some(true)),
        (vec![large.clone(), all], None),
        (vec![small, none.clone()], None),
        (vec![large, none], Some(false)),
    ] {
        let rules = Rules(rules);
        assert_eq!(rules.decide_all(None, &tool("pay")), expected, "{rules:?}");
    }
}

#[test]
fn a_denial_names_the_argument_and_what_is_allowed() {
    let small = with_arguments(rule(Allow, &["pay"]), "amount", &json!({ "maximum": 100 }));
    let large = with_arguments(rule(Deny, &["pay"]), "amount", &json!({ "minimum": 50 }));
    let arguments = &argument("amount", 250);
    for (rules, expected) in [
        (
            vec![rule(Allow, &["x"]), small],
            "Not allowed: pay with amount = 250. Allowed: amount: number of at most 100. Ask a person.",
        ),
        (
            vec![large, rule(Allow, &["*"])],
            "Not allowed: pay with amount = 250. Denied: amount: number of at least 50. Ask a person.",
        ),
    ] {
        let rules = Rules(rules);
        let denial = rules.deny(None, &tool("pay"), arguments).expect("a denial");
        assert_eq!(denial.text("pay", arguments), expected);
        assert_eq!(denial.argument().as_deref(), Some("amount"));
    }
}

#[test]
fn what_a_call_may_do_is_listed() {
    let small = json!({ "maximum": 50 });
    let large = json!({ "minimum": 50 });
    let pool = [
        rule(Allow, &["pay"]),
        rule(Deny, &["p*"]),
        rule(Allow, &["x"]),
        with_arguments(rule(Allow, &["*"]), "amount", &small),
        with_arguments(rule(Allow, &["pay"]), "amount?", &large),
        with_arguments(rule(Deny, &["pay"]), "amount?", &small),
        with_arguments(rule(Deny, &["*"]), "amount", &large),
        with_condition(rule(Allow, &["pay"]), "arguments.amount > 50"),
        with_condition(rule(Deny, &["pay"]), "arguments.amount > 50"),
        with_condition(
            rule(Deny, &["*"]),
            "arguments.amount < 50 && caller.client == 'x'",
        ),
    ];
    let calls = [
        json!({}),
        json!({ "amount": 5 }),
        json!({ "amount": 50 }),
        json!({ "amount": 500 }),
        json!({ "amount": "5" }),
    ];
    let count = pool.len();
    for number in 0..count.pow(3) {
        let places = [
            number % count,
            number / count % count,
            number / count.pow(2),
        ];
        let rules = Rules(places.map(|at| pool[at].clone()).to_vec());
        let listed = allowed(&rules, &tool("pay"));
        let of_calls = calls.each_ref().map(|call| {
            let arguments = Arguments::Known(call.as_object().expect("an object"));
            rules.decide(None, &tool("pay"), arguments).allowed
        });
        assert!(!of_calls.contains(&Maybe), "{rules:?}");
        assert!(listed != No || !of_calls.contains(&Yes), "{rules:?}");
    }
}

fn condition(text: &str) -> Result<When, Vec<mcp_servlet_expression::Mistake>> {
    let auth = AuthOptions {
        name: "corp".to_owned(),
        claims: BTreeSet::from(["tenant".to_owned()]),
        ..AuthOptions::default()
    };
    When::new(&format!("${{{{ {text} }}}}"), true, Some(&auth))
}

fn with_condition(rule: Rule, text: &str) -> Rule {
    let when = condition(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    Rule {
        when: Some(when),
        ..rule
    }
}

#[test]
fn a_condition_reads_the_caller_the_tool_and_the_arguments() {
    let ann = Caller {
        roles: BTreeSet::from(["admin".to_owned()]),
        claims: JsonObject::from_iter([("tenant".to_owned(), json!("acme"))]),
        ..caller(&["pay"])
    };
    let arguments = &argument("path", "/acme/x");
    for (text, listed, called) in [
        (
            "'admin' in caller.roles && 'pay' in caller.scopes",
            Yes,
            Yes,
        ),
        ("caller.kind == 'key' && caller.subject == 'ann'", Yes, Yes),
        ("caller.kind == 'nobody'", No, No),
        (
            "tool.member == 'bank' && tool.annotations.destructiveHint",
            Yes,
            Yes,
        ),
        (
            "tool.name.startsWith('p') && tool.annotations.readOnlyHint",
            No,
            No,
        ),
        (
            "arguments.path.startsWith('/' + caller.claims.tenant + '/')",
            Maybe,
            Yes,
        ),
        (
            "arguments.path.startsWith('/' + caller.subject + '/')",
            Maybe,
            No,
        ),
        ("'admin' in caller.roles || arguments.path == ''", Yes, Yes),
        // Without a value, nothing is allowed.
        ("caller.issuer == 'x'", No, No),
        ("arguments.amount < 5", Maybe, No),
        ("!(arguments.amount < 5)", Maybe, No),
        ("has(arguments.amount)", Maybe, No),
        ("!has(arguments.amount)", Maybe, Yes),
    ] {
        let rules = Rules(vec![with_condition(rule(Allow, &["pay"]), text)]);
        let decide = |arguments| rules.decide(Some(&ann), &tool("pay"), arguments).allowed;
        assert_eq!(decide(Arguments::Unknown), listed, "{text}");
        assert_eq!(decide(Arguments::Known(arguments)), called, "{text}");
    }
}

#[test]
fn a_deny_whose_condition_has_no_value_holds() {
    let of = |text| {
        Rules(vec![
            with_condition(rule(Deny, &["pay"]), text),
            rule(Allow, &["*"]),
        ])
    };
    let (by_caller, by_argument) = (of("caller.issuer == 'x'"), of("arguments.amount > 5"));
    assert_eq!(allowed(&by_caller, &tool("pay")), No);
    assert_eq!(allowed(&by_caller, &tool("greet")), Yes);
    assert_eq!(allowed(&by_argument, &tool("pay")), Yes);
    for (arguments, expected) in [
        (json!({}), No),
        (json!({ "amount": "5" }), No),
        (json!({ "amount": 6 }), No),
        (json!({ "amount": 5 }), Yes),
    ] {
        let known = Arguments::Known(arguments.as_object().expect("an object"));
        let decision = by_argument.decide(None, &tool("pay"), known);
        assert_eq!(decision.allowed, expected, "{arguments}");
    }
}

#[test]
fn a_condition_that_takes_too_long_denies() {
    let text = "arguments.items.all(a, arguments.items.all(b, a != b || a == b))";
    let rules = Rules(vec![with_condition(rule(Allow, &["pay"]), text)]);
    for (count, expected) in [(10, Yes), (10_000, No)] {
        let items: Vec<_> = (0..count).collect();
        let arguments = json!({ "items": items });
        let known = Arguments::Known(arguments.as_object().expect("an object"));
        let decision = rules.decide(None, &tool("pay"), known);
        assert_eq!(decision.allowed, expected, "{count}");
    }
}

#[test]
fn mistakes_in_conditions_are_explained() {
    for (text, expected) in [
        (
            "caller.scope == 'x'",
            "`caller` has no `scope`; did you mean `scopes`?",
        ),
        (
            "caller.email == 'x'",
            "`caller` has no `email`; it has `kind`, `subject`, `issuer`, `client`, `scopes`, `roles`, `claims`, `certificate`",
        ),
        (
            "caller.claims.tenat == 'x'",
            "claim `tenat` is not in `claims` of `[auth.corp]`; did you mean `tenant`?",
        ),
        (
            "tool.annotations.readOnly",
            "there is no hint `readOnly`; there are `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`",
        ),
        (
            "request.name == 'x'",
            "there is no `request` here; `when` can read `caller`, `tool` and `arguments`",
        ),
        (
            "'pay' + 'x' == 'x' && 'text'",
            "`when` must be a boolean, but this is of type `string`",
        ),
    ] {
        let found = condition(text).expect_err(text);
        assert_eq!(found[0].message, expected, "{text}");
    }
}

#[test]
fn an_explanation_has_each_rule_that_was_checked() {
    let rules = Rules(vec![
        rule(Allow, &["greet"]),
        Rule {
            members: vec!["files".to_owned()],
            ..rule(Allow, &["*"])
        },
        Rule {
            hints: vec![(Hint::ReadOnly, true)],
            ..rule(Allow, &["*"])
        },
        Rule {
            scopes: BTreeSet::from(["admin".to_owned()]),
            ..rule(Allow, &["*"])
        },
        with_arguments(rule(Allow, &["pay"]), "amount", &json!({ "maximum": 100 })),
        with_condition(rule(Allow, &["*"]), "caller.subject == 'bob'"),
        with_condition(rule(Allow, &["*"]), "arguments.to == 'bob'"),
        rule(Deny, &["*"]),
        rule(Allow, &["*"]),
    ]);
    let arguments = &argument("amount", 250);
    let explain = |arguments| {
        let answers = rules.explain(Some(&caller(&[])), &tool("pay"), arguments);
        answers
            .into_iter()
            .map(|one| (one.holds, one.reason))
            .collect::<Vec<_>>()
    };
    let mut expected = [
        "it does not name this tool",
        "it is only for `files`",
        "`readOnlyHint` is false",
        "the caller does not have the scope `admin`",
        "the call is with amount = 250; expected amount: number of at most 100",
        "`when` is false",
        "cannot evaluate `when`: a value that the expression reads is absent",
    ]
    .map(|reason| (No, reason.to_owned()))
    .to_vec();
    expected.push((Yes, String::new()));
    assert_eq!(explain(Arguments::Known(arguments)), expected);
    expected.truncate(4);
    expected.push((Maybe, "it depends on the argument `amount`".to_owned()));
    assert_eq!(explain(Arguments::Unknown), expected);
}

#[test]
fn a_denied_name_holds_for_an_item_that_has_it_otherwise() {
    let item = Item {
        other_name: Some("b_x"),
        ..tool("x")
    };
    let rules = |first: &str| {
        Rules(vec![
            rule(Effect::Deny, &[first]),
            rule(Effect::Allow, &["*"]),
        ])
    };
    assert_eq!(allowed(&rules("b_x"), &item), No);
    assert_eq!(allowed(&rules("b_*"), &item), No);
    assert_eq!(allowed(&rules("x"), &item), No);
    assert_eq!(allowed(&rules("c_x"), &item), Yes);
    // What is allowed is decided by the present name alone.
    let only = Rules(vec![rule(Effect::Allow, &["b_x"])]);
    assert_eq!(allowed(&only, &item), No);
}
