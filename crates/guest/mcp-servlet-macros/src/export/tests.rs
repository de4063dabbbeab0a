//! The expansion, and several errors at once. Accept a new one with `INSTA_UPDATE=always`.

use proc_macro2::TokenStream;

fn expansion(declaration: &str) -> String {
    let input = format!("(::mcp_servlet) {declaration}");
    let expansion = super::expand(input.parse::<TokenStream>().unwrap());
    prettyplease::unparse(&syn::parse2(expansion).unwrap())
}

#[test]
fn expands_every_section() {
    let text = expansion(
        "pub(crate) static SERVLET = {
            name: \"n\",
            version: \"1\",
            instructions: \"i\",
            tools: [greet, #[cfg(feature = \"net\")] net::fetch],
            resources: [readme],
            prompts: [review],
            completions: [languages],
            errors: [known],
            config: Settings<u8, u16>,
            hosts: [\"api.example\", config.base_url],
            paths: [\"/data\"],
            calls: [\"weather:*\"],
            reads: [\"docs:*\"],
        };",
    );
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("every-section", text);
    });
}

#[test]
fn reports_all_errors_at_once() {
    let text = expansion(
        "static SERVLET = { tool: [greet], name \"n\", hosts: [config.url], tools: greet, resource_templates: [note], paths: [\"/\"], paths: [] }",
    );
    let messages: Vec<_> = text
        .split("compile_error!")
        .skip(1)
        .map(|error| {
            error
                .split('"')
                .nth(1)
                .unwrap()
                .split("\\n")
                .next()
                .unwrap()
        })
        .collect();
    assert_eq!(
        messages,
        [
            "unknown section `tool` in `export!`",
            "missing `:` after `name`",
            "`tools` in `export!` takes a list",
            "`export!` has no section for resource templates",
            "duplicate section `paths`",
            "`config.url` in `hosts` is the host of a configuration value",
        ]
    );
    // The sections without errors are still there.
    assert!(text.contains("check_path(\"/\")"), "{text}");
}
