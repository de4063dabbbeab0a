//! A whole expansion. Accept a new one with `INSTA_UPDATE=always`.

use proc_macro2::TokenStream;

#[test]
fn expands_a_prompt() {
    let parse = |text: &str| text.parse::<TokenStream>().unwrap();
    let item = r"
        /// Asks for a review.
        fn review(
            /// the code to review
            code: String,
            #[arg(default = 2, min = 1)] level: u8,
        ) -> Vec<PromptMessage> {
            messages(code, level)
        }
    ";
    let expansion = super::expand(parse(r#"title = "Review""#), parse(item));
    let text = prettyplease::unparse(&syn::parse2(expansion).unwrap());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!("prompt", text) });
}
