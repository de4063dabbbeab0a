//! A whole expansion. Accept a new one with `INSTA_UPDATE=always`.

use proc_macro2::TokenStream;

#[test]
fn expands_a_completion() {
    let parse = |text: &str| text.parse::<TokenStream>().unwrap();
    let item = "fn languages(language: String) -> Vec<String> { known(&language) }";
    let expansion = super::expand(parse("of = prompts::review.language"), parse(item));
    let text = prettyplease::unparse(&syn::parse2(expansion).unwrap());
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("completion", text);
    });
}
