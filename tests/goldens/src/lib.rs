//! The unchanged output of `xtp-codegen` for each golden schema. Building this crate proves that it compiles.

#![deny(warnings)]

/// Declares a module for each golden, and lists their files.
macro_rules! goldens {
    ($list:ident: $($(#[$attribute:meta])* $module:ident = $path:literal,)*) => {
        $(
            $(#[$attribute])*
            #[rustfmt::skip]
            #[path = $path]
            pub mod $module;
        )*

        /// The files of the goldens, in order.
        pub const $list: &[&str] = &[$($path),*];
    };
}

// These clients have no lint allowed, except one that is about descriptions of the server.
goldens! { CLIENTS:
    #[deny(clippy::pedantic)]
    client_forecast = "../../../crates/xtp/xtp-codegen/tests/client/forecast/generated.rs",
    #[deny(clippy::pedantic)]
    client_lost = "../../../crates/xtp/xtp-codegen/tests/client/lost/generated.rs",
    #[deny(clippy::pedantic)]
    #[allow(clippy::doc_lazy_continuation, reason = "a description has a list")]
    client_names = "../../../crates/xtp/xtp-codegen/tests/client/names/generated.rs",
    #[deny(clippy::pedantic)]
    client_types = "../../../crates/xtp/xtp-codegen/tests/client/types/generated.rs",
    #[deny(clippy::pedantic)]
    client_weather = "../../../crates/xtp/xtp-codegen/tests/client/weather/generated.rs",
}

goldens! { GOLDENS:
    aliases = "../../../crates/xtp/xtp-codegen/tests/golden/aliases/expected.rs",
    any_json = "../../../crates/xtp/xtp-codegen/tests/golden/any-json/expected.rs",
    bytes = "../../../crates/xtp/xtp-codegen/tests/golden/bytes/expected.rs",
    catch_all = "../../../crates/xtp/xtp-codegen/tests/golden/catch-all/expected.rs",
    collisions = "../../../crates/xtp/xtp-codegen/tests/golden/collisions/expected.rs",
    dates_chrono = "../../../crates/xtp/xtp-codegen/tests/golden/dates-chrono/expected.rs",
    dates_jiff = "../../../crates/xtp/xtp-codegen/tests/golden/dates-jiff/expected.rs",
    dates_time = "../../../crates/xtp/xtp-codegen/tests/golden/dates-time/expected.rs",
    decoded_bytes = "../../../crates/xtp/xtp-codegen/tests/golden/decoded-bytes/expected.rs",
    descriptions = "../../../crates/xtp/xtp-codegen/tests/golden/descriptions/expected.rs",
    empty = "../../../crates/xtp/xtp-codegen/tests/golden/empty/expected.rs",
    enum_conversions = "../../../crates/xtp/xtp-codegen/tests/golden/enum-conversions/expected.rs",
    extra = "../../../crates/xtp/xtp-codegen/tests/golden/extra/expected.rs",
    free_form = "../../../crates/xtp/xtp-codegen/tests/golden/free-form/expected.rs",
    functions = "../../../crates/xtp/xtp-codegen/tests/golden/functions/expected.rs",
    guide = "../../../crates/xtp/xtp-codegen/tests/golden/guide/expected.rs",
    inline = "../../../crates/xtp/xtp-codegen/tests/golden/inline/expected.rs",
    json_input = "../../../crates/xtp/xtp-codegen/tests/golden/json-input/expected.rs",
    keep_null = "../../../crates/xtp/xtp-codegen/tests/golden/keep-null/expected.rs",
    lists_and_maps = "../../../crates/xtp/xtp-codegen/tests/golden/lists-and-maps/expected.rs",
    merge_keys = "../../../crates/xtp/xtp-codegen/tests/golden/merge-keys/expected.rs",
    names = "../../../crates/xtp/xtp-codegen/tests/golden/names/expected.rs",
    one_of_declared = "../../../crates/xtp/xtp-codegen/tests/golden/one-of-declared/expected.rs",
    one_of = "../../../crates/xtp/xtp-codegen/tests/golden/one-of/expected.rs",
    one_tool = "../../../crates/xtp/xtp-codegen/tests/golden/one-tool/expected.rs",
    optionality = "../../../crates/xtp/xtp-codegen/tests/golden/optionality/expected.rs",
    plugin_names = "../../../crates/xtp/xtp-codegen/tests/golden/plugin-names/expected.rs",
    plugin_open = "../../../crates/xtp/xtp-codegen/tests/golden/plugin-open/expected.rs",
    plugin = "../../../crates/xtp/xtp-codegen/tests/golden/plugin/expected.rs",
    recursion = "../../../crates/xtp/xtp-codegen/tests/golden/recursion/expected.rs",
    scalars = "../../../crates/xtp/xtp-codegen/tests/golden/scalars/expected.rs",
    several_tools = "../../../crates/xtp/xtp-codegen/tests/golden/several-tools/expected.rs",
    shadowed_names = "../../../crates/xtp/xtp-codegen/tests/golden/shadowed-names/expected.rs",
    unlisted = "../../../crates/xtp/xtp-codegen/tests/golden/unlisted/expected.rs",
    version_0 = "../../../crates/xtp/xtp-codegen/tests/golden/version-0/expected.rs",
    word_splitting = "../../../crates/xtp/xtp-codegen/tests/golden/word-splitting/expected.rs",
}
