//! Whole expansions of `#[tool]`. Accept new ones with `INSTA_UPDATE=always`.

use proc_macro2::TokenStream;

/// Compares the expansion with the snapshot of this name.
fn assert_expansion(name: &str, attribute: &str, item: &str) {
    let parse = |text: &str| text.parse::<TokenStream>().unwrap();
    let expansion = super::expand(parse(attribute), parse(item));
    let text = prettyplease::unparse(&syn::parse2(expansion).unwrap());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, text) });
}

#[test]
fn expands_one_argument() {
    assert_expansion(
        "one-argument",
        "",
        r#"
        /// A very simple tool to provide a greeting.
        fn greet(
            /// the name of the person to greet
            name: String,
        ) -> String {
            format!("Hello, {name}!")
        }
        "#,
    );
}

#[test]
fn expands_every_option() {
    assert_expansion(
        "every-option",
        r#"
        name = "find-all", title = "Find", read_only, open_world = false, task = "optional",
        icons = [StaticIcon::new("https://example.com/find.png")],
        meta = [Meta::integer("example.com/cost", 2)],
        ui = ToolUi::page("ui://find/list.html"),
        "#,
        r#"
        /// Finds things.
        ///
        /// All of them.
        #[cfg(feature = "find")]
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn find(
            context: &Context,
            /// what to look for
            #[arg(rename = "query", example = "atlas")]
            text: String,
            #[arg(default_str = "any")] kind: String,
            #[arg(default)] tags: Vec<String>,
            #[arg(default = 10, min = 1, max = 100)]
            mut limit: u8,
            r#type: Option<Kind>,
        ) -> Result<Json<Found>, ToolError>
        where
            u8: Copy,
        {
            context.find(text, kind, tags, limit, r#type)
        }
        "#,
    );
}

#[test]
fn expands_flattened_arguments() {
    assert_expansion(
        "flattened-arguments",
        "",
        "fn search(#[arg(flatten)] args: Search, ctx: &Context) -> Vec<Content> { ctx.search(args) }",
    );
}

#[test]
fn expands_a_text_in_parts() {
    assert_expansion(
        "parts",
        "parts = 5_000",
        "fn read(path: String, ctx: &Context) -> Result<String, io::Error> { ctx.read(path) }",
    );
}

#[test]
fn expands_a_schema_written_by_hand() {
    assert_expansion(
        "input-schema",
        r#"input_schema = include_str!("schema.json"), crate = ::renamed"#,
        "fn evaluate(arguments: RawJson) {}",
    );
}

#[test]
fn reports_all_mistakes_and_expands_to_a_stub() {
    assert_expansion(
        "mistakes",
        r#"read_only = 1, task = "always""#,
        r"
        /// Repeats a word.
        #[cfg(all())]
        async fn repeat(
            /// the word
            word: String,
            #[arg(minimum = 1)]
            times: u8,
        ) -> String {
            word.repeat(times.into())
        }
        ",
    );
}

#[test]
fn makes_no_type_for_a_method() {
    let expansion = super::expand(
        TokenStream::new(),
        "fn greet(&self, #[arg(min = 1)] times: u8) {}"
            .parse()
            .unwrap(),
    );
    let text = expansion.to_string();
    assert!(
        text.starts_with("fn greet (& self , times : u8) { }"),
        "{text}"
    );
    assert!(
        !text.contains("struct"),
        "an `impl` cannot contain the marker type: {text}"
    );
    assert!(text.contains("tool `greet` cannot be a method"), "{text}");
}
