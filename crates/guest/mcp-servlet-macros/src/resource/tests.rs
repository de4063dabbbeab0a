//! Whole expansions, and every mistake of a template. Accept new ones with `INSTA_UPDATE=always`.

use proc_macro2::TokenStream;

use super::Kind;
use super::template::Template;

/// Compares the expansion with the snapshot of this name.
fn assert_expansion(name: &str, kind: Kind, attribute: &str, item: &str) {
    let parse = |text: &str| text.parse::<TokenStream>().unwrap();
    let expansion = super::expand(kind, parse(attribute), parse(item));
    let text = prettyplease::unparse(&syn::parse2(expansion).unwrap());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, text) });
}

#[test]
fn expands_a_resource() {
    assert_expansion(
        "resource",
        Kind::Fixed,
        r#"uri = "docs://readme", mime_type = "text/markdown", priority = 0.5"#,
        r#"
        /// How to use it.
        fn readme() -> &'static str {
            include_str!("README.md")
        }
        "#,
    );
}

#[test]
fn expands_a_template() {
    assert_expansion(
        "resource-template",
        Kind::Template,
        r#"uri_template = "users://{id}/profile{?format}""#,
        r#"
        /// A user.
        fn profile(
            context: &Context,
            /// number of the user
            id: u64,
            #[arg(rename = "format")] form: Option<String>,
        ) -> Option<String> {
            context.find(id, form)
        }
        "#,
    );
}

#[test]
fn expands_a_template_with_mistakes_to_a_stub() {
    assert_expansion(
        "mistakes",
        Kind::Template,
        r#"uri_template = "users://{id}", size = 1"#,
        "fn profile(other: u64) -> impl Into<String> { other.to_string() }",
    );
}

#[test]
fn accepts_templates_that_can_be_parsed_from_a_uri() {
    for template in [
        "x://{a}",
        "x:{a}",
        "x://{a}/{b}",
        "x://{a}:{b}",
        "x://{a,b}",
        "x://{a}{/b,c}{?d,e}{&f}{#g}",
        "x://{a}.json",
        "x://{a}.json/{b}",
        "x://{+a}",
        "x://{+a}/{b}",
        "x://{+a}{?b}",
        "x://y{.a}",
        "x://y{;a,b}/z",
        "x://y{?a}&b={c}",
        "x://%C3%A9/{a}",
    ] {
        let parsed = Template::parse(template);
        assert!(parsed.is_ok(), "{template}: {:?}", parsed.err());
    }
}

#[test]
fn explains_templates_that_cannot_be_parsed_from_a_uri() {
    for (template, problem) in [
        ("x://{a", "`{a` is not closed"),
        ("x://a}", "unmatched `}`"),
        ("x://{}", "`{}` has an invalid name"),
        ("x://{a b}", "`{a b}` has an invalid name"),
        ("x://{a,}", "`{a,}` has an invalid name"),
        ("x://{!a}", "`{!a}` has an invalid name"),
        ("x://{a*}", "unsupported expression `{a*}`"),
        ("x://{a:3}", "unsupported expression `{a:3}`"),
        ("x://{a}/{a}", "duplicate variable `a` in the template"),
        ("x://a", "the template has no variable"),
        ("{a}", "a URI begins with a scheme"),
        ("/{a}", "a URI begins with a scheme"),
        ("x://é{a}", "a URI cannot have `é` here"),
        ("x:// {a}", "a URI cannot have ` ` here"),
        ("x://%4/{a}", "a URI cannot have `%` here"),
        (
            "x://{a}{b}",
            "ambiguous template: a URI does not show where `a` ends",
        ),
        (
            "x://{a}-{b}",
            "ambiguous template: a URI does not show where `a` ends: it may contain `-`",
        ),
        (
            "x://{a}{.b}",
            "ambiguous template: a URI does not show where `a` ends",
        ),
        (
            "x://{+a}:{b}",
            "ambiguous template: a URI does not show where `a` ends: it may contain `:`",
        ),
        (
            "x://{.a,b}",
            "ambiguous template: a URI does not show where one of `a`, `b` ends",
        ),
        (
            "x://{+a,b}",
            "ambiguous template: a URI does not show where one of `a`, `b` ends",
        ),
        (
            "x://{+a}/{#b}",
            "`b` and an expression before it can both match everything",
        ),
        (
            "x://{?a}/{b}",
            "ambiguous template: a URI does not show where `a` ends",
        ),
        (
            "x://{;a}b",
            "ambiguous template: a URI does not show where `a` ends",
        ),
    ] {
        let Err(message) = Template::parse(template) else {
            panic!("{template} is a template");
        };
        assert!(message.starts_with(problem), "{template}: {message}");
        assert!(message.contains("\nhelp: "), "{template}: {message}");
    }
}
