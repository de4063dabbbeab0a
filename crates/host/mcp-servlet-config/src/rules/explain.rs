//! Why the rules of an endpoint allow or deny a call.

use http::StatusCode;
use mcp_servlet_access::{
    Caller, Truth,
    rules::{Answer, Arguments, Effect, Holds, Item, Rules},
};
use mcp_servlet_call::JsonObject;
use mcp_servlet_host::{Host, Tool};
use mcp_servlet_schema::{did_you_mean, similar};
use serde::Serialize;

use crate::{Config, Served};
use mcp_servlet_server::{
    Configuration as _, Endpoint, EndpointTransport,
    rule_items::{StepItem, item_of_tool, items_of_steps},
};

/// An endpoint of a configuration, and what it serves.
#[derive(Debug)]
pub struct ServedEndpoint<'c> {
    config: &'c Config,
    endpoint: &'c Endpoint,
    host: Host,
}

/// Why a call is allowed or denied.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// Whether the caller sees the tool.
    pub listed: bool,
    /// Whether the call is allowed. None if that depends on what a virtual tool sends.
    pub allowed: Option<bool>,
    /// Why the server refuses the call before it checks the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The conditions that reject a client before it has a session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reject: Vec<ExplainedReject>,
    /// The tool that decides about each session, as `servlet:tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_session: Option<String>,
    /// The rules that decide whether the tool is listed.
    pub list: Vec<ExplainedRule>,
    /// The rules that decide about the call.
    pub call: Vec<ExplainedRule>,
    /// What a virtual tool calls and reads, and the rules for that. The arguments are unknown here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ExplainedStep>,
}

/// A call of a virtual tool.
#[derive(Debug, Serialize)]
pub struct ExplainedStep {
    /// The member and its tool, or the resource.
    pub handler: String,
    /// Whether it is allowed. None if that depends on what it sends.
    pub allowed: Option<bool>,
    /// The rules for this call.
    pub rules: Vec<ExplainedRule>,
}

/// A condition that rejects clients.
#[derive(Debug, Serialize)]
pub struct ExplainedReject {
    /// Its line in the file.
    pub line: usize,
    /// The status of the response.
    pub status: u16,
    /// `yes`, `no`, or `maybe` if it depends on the client, its headers or its session.
    pub holds: &'static str,
}

/// A rule that the server checked.
#[derive(Debug, Serialize)]
pub struct ExplainedRule {
    /// Its line in the file.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// `allow` or `deny`.
    pub effect: &'static str,
    /// `yes`, `no`, or `maybe` if it depends on what is not known.
    pub holds: &'static str,
    /// Why it does not hold, or what it depends on.
    pub reason: String,
}

impl Config {
    /// The endpoint with this name, or the only one. `Err` is what is wrong with the name.
    ///
    /// # Errors
    /// There is no such endpoint, or there are several.
    pub fn served_endpoint(
        &self,
        served: Served<'_>,
        name: Option<&str>,
    ) -> Result<ServedEndpoint<'_>, String> {
        let names = || self.settings.endpoints.iter().map(|one| &*one.name);
        let endpoint = match (name, self.settings.endpoints.as_slice()) {
            (Some(name), all) => all.iter().find(|one| one.name == name).ok_or_else(|| {
                let hint = did_you_mean(similar(name, names()));
                format!("there is no endpoint `{name}`{hint}")
            })?,
            (None, [only]) => only,
            (None, []) => {
                return Err("the configuration has no endpoints, so it has no rules".to_owned());
            }
            (None, _) => {
                let names: Vec<_> = names().collect();
                return Err(format!(
                    "choose one of the endpoints `{}` with `--endpoint`",
                    names.join("`, `")
                ));
            }
        };
        let host = self.host_of(endpoint, served.loaded, served.remotes.unwrap_or_default());
        Ok(ServedEndpoint {
            config: self,
            endpoint,
            host,
        })
    }
}

impl ServedEndpoint<'_> {
    /// Whether its clients need credentials.
    pub fn has_auth(&self) -> bool {
        match &self.endpoint.transport {
            EndpointTransport::Http { options, .. } => options.auth.is_some(),
            EndpointTransport::Stdio => false,
        }
    }

    /// A tool.
    ///
    /// # Errors
    /// There is none with this name.
    pub fn tool(&self, name: &str) -> Result<&Tool, String> {
        self.host.tool(name).ok_or_else(|| {
            let hint = did_you_mean(similar(name, self.host.tools().map(Tool::name)));
            let endpoint = &self.endpoint.name;
            let mut members = self.host.members();
            let has_remotes = members.any(|member| member.as_remote().is_some());
            let more = if has_remotes || self.config.settings.remotes.is_empty() {
                ""
            } else {
                "; `--connect` finds tools of remotes"
            };
            format!("endpoint `{endpoint}` has no tool `{name}`{hint}{more}")
        })
    }

    /// How the rules decide about a call. `caller` is `None` for a caller without credentials. Returns `None` if the endpoint does not
    /// have the tool.
    pub fn explain(
        &self,
        caller: Option<&Caller>,
        tool: &Tool,
        arguments: &JsonObject,
    ) -> Option<Explanation> {
        let rules = &self.endpoint.options.rules;
        let item = item_of_tool(&self.host, tool)?;
        let steps = items_of_steps(&self.host, tool.name());
        let (arguments, refused) = match self.host.accepted_arguments(tool.name(), arguments) {
            Ok(arguments) => (arguments, self.missing_scope(caller, tool)),
            Err(text) => (arguments.clone(), Some(text)),
        };
        let reject = self.rejects(caller);
        let is_rejected = |one: &&ExplainedReject| one.holds == "yes";
        let rejected = reject
            .iter()
            .find(is_rejected)
            .map(|one| format!("the client gets status {} (line {})", one.status, one.line));
        let refused = rejected.or(refused);
        let on_session = self.endpoint.options.hooks.on_session.as_ref();
        let known = Arguments::Known(&arguments);
        let all = || std::iter::once(&item).chain(steps.iter().map(|step| &step.item));
        let decide = |item: &Item<'_>, arguments| rules.decide(caller, item, arguments).allowed;
        let listed = all().all(|item| decide(item, Arguments::Unknown) != Holds::No);
        let is_own_allowed = decide(&item, known) == Holds::Yes;
        let steps: Vec<_> = steps
            .iter()
            .map(|step| self.explain_step(rules, caller, step))
            .collect();
        Some(Explanation {
            listed,
            allowed: if refused.is_some() || !listed || !is_own_allowed {
                Some(false)
            } else {
                // A tool with a denied step is not listed.
                let mut steps = steps.iter();
                steps.all(|step| step.allowed == Some(true)).then_some(true)
            },
            refused,
            reject,
            on_session: on_session.map(|one| format!("{}:{}", one.servlet, one.tool)),
            list: self.rules_for(rules, caller, &item, Arguments::Unknown),
            call: self.rules_for(rules, caller, &item, known),
            steps,
        })
    }

    /// How the rules decide about a step, whose arguments are not known here.
    fn explain_step(
        &self,
        rules: &Rules,
        caller: Option<&Caller>,
        step: &StepItem<'_>,
    ) -> ExplainedStep {
        ExplainedStep {
            handler: step.target.to_string(),
            allowed: rules.decide_all(caller, &step.item),
            rules: self.rules_for(rules, caller, &step.item, Arguments::Unknown),
        }
    }

    /// How the conditions about sessions decide, as far as the caller alone decides them.
    fn rejects(&self, caller: Option<&Caller>) -> Vec<ExplainedReject> {
        let lines = self
            .config
            .rejects
            .iter()
            .filter(|(endpoint, _)| *endpoint == self.endpoint.name);
        let conditions = self.endpoint.options.hooks.reject.iter();
        let explained = conditions.zip(lines).map(|(reject, (_, line))| {
            let truth = reject.when.holds_for(caller);
            let status = match truth {
                Truth::Failed(_) => StatusCode::FORBIDDEN,
                _ => reject.status,
            };
            ExplainedReject {
                line: *line,
                status: status.as_u16(),
                holds: match truth {
                    Truth::False => "no",
                    Truth::Unknown => "maybe",
                    Truth::True | Truth::Failed(_) => "yes",
                },
            }
        });
        explained.collect()
    }

    fn rules_for(
        &self,
        rules: &Rules,
        caller: Option<&Caller>,
        item: &Item<'_>,
        arguments: Arguments<'_>,
    ) -> Vec<ExplainedRule> {
        let of_endpoint = self
            .config
            .rules
            .iter()
            .filter(|one| one.endpoint == self.endpoint.name);
        let lines: Vec<_> = of_endpoint.map(|one| one.line).collect();
        let explained = |answer: Answer<'_>| ExplainedRule {
            line: lines.get(answer.number).copied().unwrap_or_default(),
            name: answer.rule.name.clone(),
            effect: match answer.rule.effect {
                Effect::Allow => "allow",
                Effect::Deny => "deny",
            },
            holds: match answer.holds {
                Holds::No => "no",
                Holds::Maybe => "maybe",
                Holds::Yes => "yes",
            },
            reason: answer.reason,
        };
        let answers = rules.explain(caller, item, arguments).into_iter();
        answers.map(explained).collect()
    }

    /// The scopes of the endpoint and of the tool that the caller does not have.
    fn missing_scope(&self, caller: Option<&Caller>, tool: &Tool) -> Option<String> {
        let auth = super::auth(self.endpoint)?;
        let Some(caller) = caller else {
            return Some("the endpoint has `auth`, so its callers are known".to_owned());
        };
        let origins = self.host.origins_of(tool.name()).into_iter();
        let of_tools = origins
            .filter_map(|(member, own)| auth.tools.get(member)?.get(own))
            .flatten();
        let mut needed = auth.scopes.iter().chain(of_tools);
        let missing = needed.find(|scope| !caller.scopes.contains(*scope))?;
        Some(format!("the call needs the scope `{missing}`"))
    }
}
