//! What rules decide.

use serde_json::json;

use super::*;
use crate::{Caller, CallerKind};

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
        until: None,
    }
}

fn item<'a>(name: Name<'a>, member: &'a str) -> Item<'a> {
    Item {
        name,
        member,
        bundle: None,
    }
}

fn tool(name: &str) -> Item<'_> {
    item(Name::Tool(name, Hints::of(None)), "bank")
}

fn allowed(rules: &Rules, item: &Item<'_>) -> Holds {
    rules.decide(None, item).allowed
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
    let decision = rules.decide(None, &tool("secret"));
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
        let decision = scoped.decide(Some(&caller(scopes)), &tool("a"));
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
}

#[test]
fn a_uri_must_be_allowed_in_each_of_its_forms() {
    let rules = Rules(vec![
        resources(Deny, &["docs://a/secret*"]),
        resources(Allow, &["docs://a/*"]),
    ]);
    let of = |uri: &Uri| allowed(&rules, &item(Name::Resource(uri), "files"));
    for (uri, expected) in [
        ("docs://a/b", Yes),
        ("docs://a/secrets", No),
        ("docs://a/%73ecrets", No),
        ("docs://A/secrets", No),
        ("docs://A/b", No),
        ("docs://a/x/../b", No),
        ("docs://b/b", No),
    ] {
        assert_eq!(of(&Uri::new(uri)), expected, "{uri}");
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
