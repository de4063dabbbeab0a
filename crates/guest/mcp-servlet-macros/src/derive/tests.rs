//! Whole expansions of `#[derive(Schema)]`. Accept new ones with `INSTA_UPDATE=always`.

/// Compares the expansion with the snapshot of this name.
fn assert_expansion(name: &str, item: &str) {
    let expansion = super::expand(item.parse().unwrap());
    let text = prettyplease::unparse(&syn::parse2(expansion).unwrap());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, text) });
}

#[test]
fn expands_a_struct() {
    assert_expansion(
        "struct",
        r##"
        /// Where to look,
        /// and for what.
        #[derive(Deserialize, Schema)]
        #[serde(rename_all = "camelCase")]
        pub struct Search<'a, T = String>
        where
            T: Default,
        {
            /// words to look for
            #[schema(example = "atlas")]
            query_text: T,
            #[serde(default = "ten", alias = "limit")]
            max_results: u8,
            #[serde(skip_serializing_if = "Option::is_none")]
            next: Option<&'a str>,
            #[serde(flatten)]
            more: Option<More>,
            #[serde(skip)]
            cache: Vec<Item>,
            #[serde(rename = "when", with = "date")]
            #[schema(json = r#"{"type":"string","format":"date"}"#)]
            date: Date,
        }
        "##,
    );
}

#[test]
fn expands_an_enum_of_units() {
    assert_expansion(
        "unit-enum",
        r#"
        /// The order of the results.
        #[serde(rename_all = "snake_case")]
        enum SortBy {
            /// by name, from A to Z
            Name,
            /// the cheapest first
            #[serde(rename = "price")]
            LowestPrice,
            #[serde(skip)]
            Internal,
            #[serde(other)]
            Unsorted,
        }
        "#,
    );
}

#[test]
fn expands_an_internally_tagged_enum() {
    assert_expansion(
        "internally-tagged-enum",
        r#"
        /// How the order arrives.
        #[serde(tag = "method", rename_all_fields = "camelCase", deny_unknown_fields)]
        enum Delivery {
            /// Fetched in a shop.
            Pickup { shop_number: u8 },
            Parcel(Address),
            None,
        }
        "#,
    );
}

#[test]
fn reports_all_mistakes_and_expands_to_a_stub() {
    assert_expansion(
        "mistakes",
        r#"
        struct Tree<T> {
            children: Vec<Tree<T>>,
            #[serde(deserialize_with = "hex")]
            color: u32,
        }
        "#,
    );
}
