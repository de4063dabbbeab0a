//! `[[endpoint.NAME.rules]]`: which tools, prompts and resources callers may use.

use std::{collections::BTreeMap, fmt};

use mcp_servlet_call::JsonObject;
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer,
    de::{
        MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use toml::Spanned;

use crate::table::Table;

/// A rule. The first one that holds decides.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { allow = [\"get_*\"] }"
)]
pub(crate) struct RuleSection {
    /// The name in the log, and in the errors of calls whose arguments are denied. Default: the line of the rule, such as `line 12`.
    pub(crate) name: Option<String>,
    /// What it allows: names of tools, in which `*` stands for any text, or a table of `tools`, `prompts` and `resources`.
    #[schemars(with = "Option<NamesForm>")]
    pub(crate) allow: Option<Spanned<RuleNames>>,
    /// What it denies, in the same form.
    #[schemars(with = "Option<NamesForm>")]
    pub(crate) deny: Option<Spanned<RuleNames>>,
    /// The servlets, remotes and bundles that it is about. Default: all.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) members: Option<Spanned<Vec<Spanned<String>>>>,
    /// Hints that the tools must have. A missing hint of a tool has MCP's default.
    #[schemars(with = "Option<HintsAre>")]
    pub(crate) annotations: Option<Spanned<Table<HintsAre>>>,
    /// Scopes that the caller must have for the rule to hold.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) scopes: Vec<Spanned<String>>,
    /// JSON Schemas of arguments, by their paths, such as `amount`, `to.iban` or `items[].sku`. With `?` at the end of the path,
    /// the rule also holds without the argument.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, JsonObject>")]
    pub(crate) arguments: BTreeMap<Spanned<String>, Spanned<JsonObject>>,
    /// A condition over the caller, the tool and the arguments, in the Common Expression Language, such as
    /// `${{ 'admin' in caller.roles }}`.
    #[schemars(with = "Option<String>")]
    pub(crate) when: Option<Spanned<String>>,
    /// Text that is added to the error if the arguments of a call are denied.
    pub(crate) message: Option<String>,
}

/// The names and patterns of a rule, by kind.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NamesByKind {
    /// Names of tools, as the endpoint lists them.
    #[schemars(with = "Vec<String>")]
    pub(crate) tools: Vec<Spanned<String>>,
    /// Names of prompts, as the endpoint lists them.
    #[schemars(with = "Vec<String>")]
    pub(crate) prompts: Vec<Spanned<String>>,
    /// URIs of resources.
    #[schemars(with = "Vec<String>")]
    pub(crate) resources: Vec<Spanned<String>>,
}

/// The same, or a list of names of tools. serde's untagged enums would lose the spans.
#[derive(Debug)]
pub(crate) struct RuleNames(pub(crate) NamesByKind);

impl<'de> Deserialize<'de> for RuleNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor).map(Self)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = NamesByKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list in brackets, or a table such as { prompts = [\"*\"] }")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, names: A) -> Result<NamesByKind, A::Error> {
        let tools = Vec::deserialize(SeqAccessDeserializer::new(names))?;
        Ok(NamesByKind {
            tools,
            ..NamesByKind::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, kinds: A) -> Result<NamesByKind, A::Error> {
        NamesByKind::deserialize(MapAccessDeserializer::new(kinds))
    }
}

/// Both forms of the names, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it describes what the visitor reads")]
enum NamesForm {
    Tools(Vec<String>),
    ByKind(NamesByKind),
}

/// Hints of a tool.
#[expect(clippy::struct_field_names, reason = "these are MCP's names")]
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    rename_all = "camelCase",
    expecting = "a table such as { readOnlyHint = true }"
)]
pub(crate) struct HintsAre {
    /// Whether the tool changes nothing. MCP's default: false.
    pub(crate) read_only_hint: Option<bool>,
    /// Whether the tool may delete or overwrite something. MCP's default: true, unless the tool changes nothing.
    pub(crate) destructive_hint: Option<bool>,
    /// Whether a second call with the same arguments changes nothing. MCP's default: false.
    pub(crate) idempotent_hint: Option<bool>,
    /// Whether the tool talks to others than its server. MCP's default: true.
    pub(crate) open_world_hint: Option<bool>,
}
