//! Schemas of tools that clients or hosts do not accept.

mod part;
pub(super) mod walk;
mod whole;

use mcp_servlet_host::{FeatureKind, Tool};
use mcp_servlet_schema::{Problem, Schemas, expected};
use serde_json::Value;

use super::{
    finding::{Finding, Level},
    findings::Findings,
    lists::{Item, Lists},
    target::Target,
};
use walk::{Role, parts};

/// A schema of a tool.
struct SchemaSubject<'a> {
    tool: &'a Item,
    member: &'static str,
    schema: &'a Value,
}

/// Checks both schemas of every tool.
pub(super) fn check_schemas(findings: &mut Findings, lists: &Lists) {
    for tool in lists.items_of(FeatureKind::Tool) {
        check_tool(findings, tool);
        for member in [INPUT, "outputSchema"] {
            let Some(schema @ Value::Object(_)) = tool.json.get(member) else {
                continue;
            };
            let subject = SchemaSubject {
                tool,
                member,
                schema,
            };
            whole::check_whole(findings, &subject);
            for part in parts(schema) {
                part::check_part(findings, &subject, &part);
            }
        }
    }
}

const INPUT: &str = "inputSchema";

/// A member of a tool, the name of its type, and a test for that type.
type Member = (&'static str, &'static str, fn(&Value) -> bool);

/// Optional members.
const MEMBERS: [Member; 6] = [
    ("title", "a string", Value::is_string),
    ("description", "a string", Value::is_string),
    ("outputSchema", "an object", Value::is_object),
    ("annotations", "an object", Value::is_object),
    ("icons", "an array", Value::is_array),
    ("_meta", "an object", Value::is_object),
];

/// Without these members, no host accepts the item as a tool. Clients refuse a schema that is not valid.
fn check_tool(findings: &mut Findings, item: &Item) {
    let tool = match Tool::new(item.json.clone()) {
        Ok(tool) => tool,
        Err(Problem { at, message }) => {
            let finding = Finding::new("tool", format!("invalid tool: {message}"));
            let help = "a tool has a `name` and an `inputSchema`";
            findings.add(finding.at(item.location(&at)).help(help).error());
            return;
        }
    };
    for (member, what, is_right) in MEMBERS {
        let value = item.json.get(member).filter(|value| !value.is_null());
        let Some(value) = value.filter(|value| !is_right(value)) else {
            continue;
        };
        let finding = Finding::new("tool", expected(what, Some(value)));
        let help = "hyper-mcp then lists no tool of any plugin";
        let finding = finding
            .at(item.location(format!("/{member}")))
            .help(help)
            .warning();
        findings.add(finding.matters(Level::Error, &[Target::HyperMcp]));
    }
    if let Err(Problem { at, message }) = Schemas::of(tool.json()) {
        let finding = Finding::new("schema", format!("invalid JSON Schema: {message}"));
        findings.add(finding.at(item.location(&at)).error());
    }
}

impl SchemaSubject<'_> {
    fn is_input(&self) -> bool {
        self.member == INPUT
    }

    fn finding(&self, rule: &'static str, pointer: &str, problem: impl Into<String>) -> Finding {
        self.at(pointer, Finding::new(rule, problem))
    }

    fn at(&self, pointer: &str, finding: Finding) -> Finding {
        finding.at(self.tool.location(format!("/{}{pointer}", self.member)))
    }

    fn add(&self, findings: &mut Findings, mut finding: Finding) {
        if !self.is_input() {
            // mcp.run shows no output schema.
            finding.hosts.remove(&Target::McpRun);
        }
        findings.add(finding);
    }

    /// mcp.run does not publish a tool with such an argument. It does not check nested schemas.
    fn refused_by_mcp_run(&self, role: Role<'_>, finding: Finding) -> Finding {
        match role {
            Role::Root | Role::Argument(_) if self.is_input() => {
                finding.matters(Level::Error, &[Target::McpRun])
            }
            _ => finding,
        }
    }
}
