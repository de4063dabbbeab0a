//! Matches URIs against templates that are parsed as the macro parses them.

use super::{Operator, Part, Template, decoded, order, values};
use crate::arguments::Field;
use crate::describe::exported::Kind as _;
use crate::describe::exported::kind;
use crate::describe::resource::ResourceEntry;
use Operator::{Continuation, Fragment, Label, Parameter, Path, Query, Reserved, Simple};
use Part::{Text, Variables};

const fn field(name: &'static str, required: bool) -> Field {
    Field {
        name,
        required,
        text: true,
    }
}

const REQUIRED: &[Field] = &[field("a", true), field("b", true)];
const OPTIONAL: &[Field] = &[field("a", false), field("b", false)];

const fn template(parts: &'static [Part], fields: &'static [Field]) -> Template {
    Template::new(parts, fields)
}

/// The values of `a` and `b` in a URI.
fn both(parts: &'static [Part], fields: &'static [Field], uri: &str) -> Option<[String; 2]> {
    let values = values(&template(parts, fields), uri)?;
    let [a, b] = &*values else {
        panic!("two fields, not {values:?}");
    };
    Some([a, b].map(|value| value.unwrap_or("-").to_owned()))
}

fn matches(parts: &'static [Part], uri: &str) -> String {
    both(parts, OPTIONAL, uri).map_or("no".to_owned(), |values| values.join(" "))
}

#[test]
fn parses_every_operator() {
    for (parts, uri, expected) in [
        (&[Text("x:"), Variables(Simple, &[0])][..], "x:1", "1 -"),
        (&[Text("x:"), Variables(Simple, &[0, 1])], "x:1,2", "1 2"),
        (&[Text("x:"), Variables(Simple, &[0, 1])], "x:1", "1 -"),
        (
            &[Text("x:"), Variables(Simple, &[0]), Text("/y")],
            "x:1/y",
            "1 -",
        ),
        (
            &[Text("x:"), Variables(Simple, &[0]), Text(".md")],
            "x:a.md.md",
            "a.md -",
        ),
        (
            &[Text("x:"), Variables(Reserved, &[0])],
            "x:1/2?3#4",
            "1/2?3#4 -",
        ),
        (
            &[Text("x:"), Variables(Reserved, &[0]), Variables(Path, &[1])],
            "x:1/2/3",
            "1/2 3",
        ),
        (&[Text("x:"), Variables(Path, &[0, 1])], "x:/1/2", "1 2"),
        (&[Text("x:"), Variables(Label, &[0])], "x:.1", "1 -"),
        (&[Text("x:"), Variables(Fragment, &[0])], "x:#1/2", "1/2 -"),
        (
            &[Text("x:"), Variables(Parameter, &[0, 1])],
            "x:;b=2;a",
            " 2",
        ),
        (
            &[Text("x:"), Variables(Query, &[0, 1])],
            "x:?b=2&a=1",
            "1 2",
        ),
        (
            &[Text("x:"), Variables(Query, &[0, 1])],
            "x:?b=a=1",
            "- a=1",
        ),
        (&[Text("x:"), Variables(Query, &[0, 1])], "x:", "- -"),
        (&[Text("x:"), Variables(Simple, &[0])], "y:1", "no"),
        (&[Text("x:"), Variables(Simple, &[0])], "x:1/2", "no"),
        (&[Text("x:"), Variables(Query, &[0])], "x:?c=1", "no"),
        (&[Text("x:"), Variables(Query, &[0])], "x:?a=1&a=2", "no"),
        (&[Text("x:"), Variables(Path, &[0])], "x:/", "no"),
    ] {
        assert_eq!(matches(parts, uri), expected, "{parts:?} {uri}");
    }
}

/// The expansions of the RFC, as far as a URI shows the values.
#[test]
fn parses_the_examples_of_rfc_6570() {
    const HELLO: &str = "Hello World! -";
    const NUMBERS: &str = "1024 768";
    const ONE: &[usize] = &[0];
    const BOTH: &[usize] = &[0, 1];
    for (parts, uri, expected) in [
        (&[Variables(Simple, ONE)][..], "value", "value -"),
        (&[Variables(Simple, ONE)], "Hello%20World%21", HELLO),
        (&[Variables(Reserved, ONE)], "Hello%20World!", HELLO),
        (
            &[Variables(Reserved, ONE), Text("/here")],
            "/foo/bar/here",
            "/foo/bar -",
        ),
        (
            &[Text("here?ref="), Variables(Reserved, ONE)],
            "here?ref=/foo/bar",
            "/foo/bar -",
        ),
        (
            &[Text("X"), Variables(Fragment, ONE)],
            "X#Hello%20World!",
            HELLO,
        ),
        (
            &[Text("map?"), Variables(Simple, BOTH)],
            "map?1024,768",
            NUMBERS,
        ),
        (&[Text("X"), Variables(Label, ONE)], "X.value", "value -"),
        (&[Variables(Path, ONE)], "/value", "value -"),
        (
            &[Variables(Path, BOTH), Text("/here")],
            "/value/1024/here",
            "value 1024",
        ),
        (&[Variables(Parameter, BOTH)], ";a=1024;b=768", NUMBERS),
        (&[Variables(Parameter, BOTH)], ";a=1024;b", "1024 "),
        (&[Variables(Query, BOTH)], "?a=1024&b=768", NUMBERS),
        (&[Variables(Query, BOTH)], "?a=1024&b=", "1024 "),
        (
            &[Text("?fixed=yes"), Variables(Continuation, ONE)],
            "?fixed=yes&a=1024",
            "1024 -",
        ),
        (&[Variables(Continuation, BOTH)], "&a=1024&b=768", NUMBERS),
    ] {
        let encoded = both(parts, OPTIONAL, uri).expect(uri);
        let values = encoded.map(|value| decoded(&value).expect(uri));
        assert_eq!(values.join(" "), expected, "{uri}");
    }
}

#[test]
fn only_optional_variables_can_be_absent() {
    const PARTS: &[Part] = &[Text("x:"), Variables(Query, &[0, 1])];
    const LIST: &[Part] = &[Text("x:"), Variables(Path, &[0, 1])];
    assert_eq!(both(PARTS, REQUIRED, "x:?a=1"), None);
    assert!(both(PARTS, REQUIRED, "x:?a=1&b=").is_some());
    assert_eq!(both(LIST, REQUIRED, "x:/1"), None);
}

#[test]
fn escapes_are_decoded() {
    assert_eq!(decoded("a%20b").as_deref(), Some("a b"));
    assert_eq!(decoded("%C3%A9%c3%a9+").as_deref(), Some("éé+"));
    for wrong in ["%", "%2", "%zz", "%ff", "a%2"] {
        assert_eq!(decoded(wrong), None, "{wrong}");
    }
}

/// Entries with these templates, or fixed URIs, sorted.
fn sorted<const N: usize>(templates: [Option<Template>; N]) -> [String; N] {
    let entries = templates.map(|template| ResourceEntry {
        template,
        ..kind::resource::PLACEHOLDER.entry
    });
    ResourceEntry::in_order(entries).map(|entry| format!("{:?}", entry.template))
}

#[test]
fn the_more_specific_template_comes_first() {
    const ANY: Template = template(&[Text("x:"), Variables(Reserved, &[0])], OPTIONAL);
    const ONE: Template = template(&[Text("x:"), Variables(Simple, &[0])], OPTIONAL);
    const BELOW: Template = template(&[Text("x:"), Variables(Simple, &[0]), Text("/y")], OPTIONAL);
    const TEXT: Template = template(&[Text("x:y"), Variables(Simple, &[0])], OPTIONAL);
    let expected = [None, Some(TEXT), Some(BELOW), Some(ONE), Some(ANY)];
    for templates in [
        [Some(ANY), Some(ONE), Some(BELOW), Some(TEXT), None],
        [Some(TEXT), None, Some(BELOW), Some(ONE), Some(ANY)],
        [Some(ONE), Some(ANY), None, Some(TEXT), Some(BELOW)],
    ] {
        let expected = expected.map(|template| format!("{template:?}"));
        assert_eq!(sorted(templates), expected);
    }
}

#[test]
fn two_templates_of_one_shape_are_alike() {
    const A: Template = template(&[Text("x:"), Variables(Simple, &[0])], OPTIONAL);
    const B: Template = template(&[Text("x:"), Variables(Simple, &[1])], OPTIONAL);
    const C: Template = template(&[Text("y:"), Variables(Simple, &[1])], OPTIONAL);
    assert!(order::are_alike(&A, &B));
    assert!(!order::are_alike(&A, &C));
}
