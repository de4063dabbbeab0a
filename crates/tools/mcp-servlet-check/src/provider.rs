//! Rules of model providers and clients for tools: one table, in which each rule has its source.
//!
//! Providers only see input schemas, so output schemas are not checked.

mod find;

use mcp_servlet_host::FeatureKind;
use mcp_servlet_schema::Provider;
use serde_json::Value;

use super::{
    finding::{Finding, Level},
    findings::Findings,
    lists::{Item, Lists},
};

/// A rule of one provider.
struct Rule {
    provider: Provider,
    /// The name in findings.
    name: &'static str,
    level: Level,
    /// What the rule finds, for the guide.
    what: &'static str,
    source: &'static str,
    find: fn(&Subject<'_>) -> Vec<Problem>,
}

/// The tool that is checked.
struct Subject<'a> {
    /// The name of the servlet, which is probably also the name of the server.
    servlet: &'a str,
    tool: &'a Item,
    schema: &'a Value,
    /// How many tools precede it.
    index: usize,
    /// How many tools there are.
    count: usize,
}

/// A problem of a tool.
struct Problem {
    /// A JSON pointer into the tool.
    pointer: String,
    text: String,
    help: &'static str,
}

use Level::{Error, Note, Warning};
use Provider::{Anthropic, Cursor, Gemini, OpenAi};

/// The rules, in the order of the guide.
const RULES: [Rule; 23] = [
    rule(
        Anthropic,
        "root-combinator",
        Error,
        "`anyOf`, `oneOf` or `allOf` at the root of the schema: the whole request fails",
        "https://github.com/anthropics/claude-code/issues/40075",
        find::root_union,
    ),
    rule(
        Anthropic,
        "property-name",
        Error,
        "property names other than `^[a-zA-Z0-9_.-]{1,64}$`",
        "https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes",
        find::property_name,
    ),
    rule(
        Anthropic,
        "integer-bound",
        Error,
        "bounds of numbers beyond 2^53: `int too big to convert`",
        "https://github.com/RevenueCat/ai-toolkit/issues/26",
        find::integer_bound,
    ),
    rule(
        Anthropic,
        "schema-reference",
        Warning,
        "`$ref` anywhere",
        "https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes",
        find::reference,
    ),
    rule(
        Anthropic,
        "description-length",
        Warning,
        "descriptions over 2,048 characters, which Claude Code cuts off",
        "https://github.com/anthropics/claude-code/issues/41593",
        find::description_over_2048,
    ),
    rule(
        Anthropic,
        "tool-name",
        Warning,
        "tool names other than `^[a-zA-Z0-9_-]{1,64}$`",
        "https://github.com/docker/mcp-gateway/issues/228",
        find::tool_name,
    ),
    rule(
        Anthropic,
        "tool-name-length",
        Warning,
        "names over 128 characters together with `mcp__` and the name of the server: Claude Code leaves the tool out (early versions: over 64)",
        "https://github.com/anthropics/claude-code/issues/19882",
        find::claude_name,
    ),
    rule(
        OpenAi,
        "tool-count",
        Warning,
        "more than 128 tools: the whole request fails",
        "https://github.com/zed-industries/zed/issues/32946",
        find::over_128_tools,
    ),
    rule(
        OpenAi,
        "root-combinator",
        Error,
        "`anyOf`, `oneOf`, `allOf`, `enum` or `not` at the root of the schema",
        "https://github.com/langchain-ai/langchainjs/issues/9804",
        find::root_combinator,
    ),
    rule(
        OpenAi,
        "root-condition",
        Warning,
        "`if`, `then` or `else` at the root of the schema",
        "https://platform.openai.com/docs/guides/structured-outputs",
        find::root_condition,
    ),
    rule(
        OpenAi,
        "schema-items",
        Error,
        "arrays without `items`, including tuples that have `prefixItems` only",
        "https://github.com/AnswerDotAI/fastcore/issues/798",
        find::items,
    ),
    rule(
        OpenAi,
        "description-length",
        Warning,
        "descriptions of tools over 1,024 characters: some models refuse the request",
        "https://github.com/modelcontextprotocol/servers/issues/799",
        find::description_over_1024,
    ),
    rule(
        OpenAi,
        "tool-name",
        Warning,
        "tool names other than `^[a-zA-Z0-9_-]{1,64}$`",
        "https://github.com/docker/mcp-gateway/issues/228",
        find::tool_name,
    ),
    rule(
        OpenAi,
        "strict-object",
        Note,
        "objects that strict mode refuses: without `additionalProperties: false`, or with optional properties",
        "https://platform.openai.com/docs/guides/structured-outputs",
        find::strict_object,
    ),
    rule(
        Gemini,
        "type-list",
        Warning,
        "a list of types: `Proto field is not repeating`",
        "https://github.com/zed-industries/zed/issues/44875",
        find::type_list,
    ),
    rule(
        Gemini,
        "enum-values",
        Warning,
        "enums that are empty, or of other values than strings",
        "https://github.com/google-gemini/gemini-cli/issues/2031",
        find::enum_values,
    ),
    rule(
        Gemini,
        "schema-items",
        Warning,
        "arrays without `items`, including tuples that have `prefixItems` only",
        "https://github.com/NousResearch/hermes-agent/issues/71804",
        find::items,
    ),
    rule(
        Gemini,
        "schema-reference",
        Warning,
        "`$ref` anywhere",
        "https://github.com/google-gemini/gemini-cli/issues/13326",
        find::reference,
    ),
    rule(
        Gemini,
        "gemini-name",
        Warning,
        "tool names that do not start with a letter or `_`",
        "https://github.com/Finerestaurant/kicad-mcp-python/issues/2",
        find::gemini_name,
    ),
    rule(
        Gemini,
        "gemini-keyword",
        Note,
        "keywords that Gemini's `parameters` does not support, such as `examples`, `additionalProperties` and `x-…`; many clients drop them",
        "https://github.com/promptfoo/promptfoo/issues/6902",
        find::gemini_keyword,
    ),
    rule(
        Gemini,
        "gemini-format",
        Note,
        "formats of strings other than `enum` and `date-time`",
        "https://github.com/CherryHQ/cherry-studio/pull/4153",
        find::gemini_format,
    ),
    rule(
        Cursor,
        "tool-name-length",
        Warning,
        "server and tool names of over 60 characters together: the tool is left out",
        "https://github.com/ComposioHQ/composio/issues/2788",
        find::cursor_name,
    ),
    rule(
        Cursor,
        "tool-count",
        Warning,
        "more than 40 tools: only the first 40 are sent",
        "https://github.com/anyproto/anytype-mcp/issues/5",
        find::tool_count,
    ),
];

const fn rule(
    provider: Provider,
    name: &'static str,
    level: Level,
    what: &'static str,
    source: &'static str,
    find: fn(&Subject<'_>) -> Vec<Problem>,
) -> Rule {
    Rule {
        provider,
        name,
        level,
        what,
        source,
        find,
    }
}

/// Checks each tool against the rules of each provider.
pub(super) fn check_providers(findings: &mut Findings, servlet: &str, lists: &Lists) {
    let count = lists.items_of(FeatureKind::Tool).count();
    for (index, tool) in lists.items_of(FeatureKind::Tool).enumerate() {
        // Another rule reports items that are not tools.
        let Some(schema @ Value::Object(_)) = tool.json.get("inputSchema") else {
            continue;
        };
        let subject = Subject {
            servlet,
            tool,
            schema,
            index,
            count,
        };
        for rule in &RULES {
            for Problem {
                pointer,
                text,
                help,
            } in (rule.find)(&subject)
            {
                let finding = Finding::new(rule.name, text)
                    .at(tool.location(pointer))
                    .help(help);
                findings.add(finding.refused_by(rule.provider, rule.level));
            }
        }
    }
}

/// The rules as a Markdown table.
pub fn rules_table() -> String {
    let head = "| provider | rule | level | finds | source |\n| --- | --- | --- | --- | --- |\n";
    let row = |rule: &Rule| {
        let Rule {
            provider,
            name,
            what,
            source,
            ..
        } = rule;
        let level = format!("{:?}", rule.level).to_lowercase();
        format!("| {provider} | `{name}` | {level} | {what} | <{source}> |\n")
    };
    let rows = RULES.iter().map(row);
    std::iter::once(head.to_owned()).chain(rows).collect()
}
