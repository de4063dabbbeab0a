//! Whole expansions of `#[derive(FromText)]`. Accept new ones with `INSTA_UPDATE=always`.

/// Compares the expansion with the snapshot of this name.
fn assert_expansion(name: &str, item: &str) {
    let expansion = super::expand(item.parse().unwrap());
    let text = prettyplease::unparse(&syn::parse2(expansion).unwrap());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, text) });
}

#[test]
fn expands_a_type_with_a_parser() {
    assert_expansion(
        "parser",
        r#"
        /// the IANA name of a zone
        #[derive(FromText)]
        #[text(parse = TimeZone::get, example = "Asia/Tokyo", format = "zone", crate = ::renamed)]
        struct Zone(TimeZone);
        "#,
    );
}

#[test]
fn expands_a_type_with_from_str() {
    assert_expansion("from-str", "pub(crate) struct Address(pub IpAddr);");
}

#[test]
fn reports_all_mistakes() {
    for (item, messages) in [
        ("enum Zone { Utc }", vec!["a tuple struct with one field"]),
        (
            "#[text(example = 1, parses = f)] struct Zone { name: String }",
            vec!["did you mean `parse`?", "a tuple struct with one field"],
        ),
        (
            "#[text(example = 1)] struct Zone(String);",
            vec!["`example` takes a string"],
        ),
        ("struct Zone<T>(T);", vec!["cannot be generic"]),
    ] {
        let text = super::expand(item.parse().unwrap()).to_string();
        for message in messages {
            assert!(text.contains(message), "{item}: {text}");
        }
    }
}
