//! Whole expansions of `#[test]`.

use proc_macro2::TokenStream;

fn expansion(attribute: &str, item: &str) -> String {
    let parse = |text: &str| text.parse::<TokenStream>().unwrap();
    let expansion = super::expand(parse(attribute), parse(item));
    prettyplease::unparse(&syn::parse2(expansion).unwrap())
}

#[test]
fn expands_to_a_test_around_the_function() {
    let text = expansion(
        "",
        "/// It greets.\n#[should_panic] pub fn greets(client: &Client) -> Result<(), Fault> { client.greet() }",
    );
    let expected = "\
/// It greets.
#[should_panic]
#[::core::prelude::v1::test]
fn greets() -> Result<(), Fault> {
    pub fn greets(client: &Client) -> Result<(), Fault> {
        client.greet()
    }
    ::mcp_servlet::__private::test(&crate::SERVLET, greets)
}
";
    assert_eq!(text, expected);
}

#[test]
fn takes_the_servlet_and_the_crate_by_path() {
    let text = expansion("servlet = shop::SHOP, crate = ::sdk", "fn t(c: &Client) {}");
    assert!(
        text.contains("::sdk::__private::test(&shop::SHOP, t)"),
        "{text}"
    );
}
