//! Callers with tokens that expire, who check each answer.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use serde_json::{Value, json};
use ureq::Agent;

use super::policy::{PEOPLE, Person, Policy, Random, TOOLS};
use super::site::Site;
use crate::issuer::{AUDIENCE, ISSUER, Issuer, now};
use crate::soak::lasting::{Progress, Worker};
use crate::stdio::ANSWER_TIMEOUT;

/// The interval between requests of a caller, so that the machine is not fully busy for half an hour.
const REQUEST_INTERVAL: Duration = Duration::from_millis(20);
/// How many requests a session has.
const REQUESTS_PER_SESSION: usize = 50;
/// How long before its end a token must be accepted, and how long after it a request must be refused, in seconds: the `leeway` of the
/// configuration is one second, and the claim has whole seconds.
const EXPIRY_TOLERANCE_SECS: f64 = 2.5;

/// A token, and what is known about it.
struct Token {
    text: String,
    /// In seconds since 1970.
    end: f64,
    is_genuine: bool,
}

impl Token {
    fn new(issuer: &Issuer, stranger: &Issuer, person: &Person, random: &mut Random) -> Self {
        let end = now().as_secs() + 4 + random.below(12) as u64;
        let mut claims = json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": person.subject, "exp": end, "scope": person.scope,
            "roles": person.roles, "jti": random.0,
        });
        if let Some(tenant) = person.tenant {
            claims["tenant"] = tenant.into();
        }
        let kind = random.below(12);
        if kind == 0 {
            claims["aud"] = "https://other.example".into();
        }
        let signer = if kind == 1 { stranger } else { issuer };
        Self {
            text: signer.token(&claims),
            end: end as f64,
            is_genuine: kind > 1,
        }
    }
}

/// One caller after the other.
struct Caller<'a> {
    site: &'a Site,
    issuer: &'a Issuer,
    stranger: &'a Issuer,
    agent: Agent,
    url: String,
    random: Random,
    person: &'static Person,
    token: Token,
    /// The id of a session, and whose it is.
    session: Option<(String, &'static str)>,
}

/// The answer to a request, and when it came.
struct Answer {
    begin: Instant,
    /// Seconds since 1970 before the request, and after its answer.
    times: [f64; 2],
    /// None if the connection broke.
    status: Option<u16>,
    session: Option<String>,
    message: Value,
}

/// A worker that is a caller.
pub(super) fn caller<'a>(
    site: &'a Site,
    [issuer, stranger]: [&'a Issuer; 2],
    url: String,
    number: usize,
) -> Worker<'a> {
    let agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(ANSWER_TIMEOUT))
        .timeout_recv_response(Some(ANSWER_TIMEOUT))
        .timeout_recv_body(Some(ANSWER_TIMEOUT))
        .build()
        .into();
    Box::new(move |progress| {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 + number as u64);
        let person = random.one_of(&PEOPLE);
        let token = Token::new(issuer, stranger, person, &mut random);
        let mut caller = Caller {
            site,
            issuer,
            stranger,
            agent,
            url,
            random,
            person,
            token,
            session: None,
        };
        while !progress.has_ended() {
            caller.visit(progress)?;
        }
        Ok(())
    })
}

impl Caller<'_> {
    /// Some requests, in a session or without.
    fn visit(&mut self, progress: &Progress) -> anyhow::Result<()> {
        if self.random.below(2) == 0 {
            self.open()?;
        }
        for _ in 0..REQUESTS_PER_SESSION {
            let begun = Instant::now();
            if now().as_secs_f64() > self.token.end + 2.0 * EXPIRY_TOLERANCE_SECS {
                // It may be another person, to whom the session does not belong.
                self.person = self.random.one_of(&PEOPLE);
                self.token = Token::new(self.issuer, self.stranger, self.person, &mut self.random);
            }
            self.ask()?;
            progress.count_request();
            if progress.has_ended() {
                break;
            }
            thread::sleep(REQUEST_INTERVAL.saturating_sub(begun.elapsed()));
        }
        self.session = None;
        Ok(())
    }

    fn open(&mut self) -> anyhow::Result<()> {
        let params = crate::peer::initialize();
        let answer = self.send("initialize", params)?;
        if !self.is_let_in(&answer)? {
            return Ok(());
        }
        let Some(id) = answer.session else {
            bail!("no session: {:?} {}", answer.status, answer.message);
        };
        self.session = Some((id, self.person.subject));
        Ok(())
    }

    /// Lists or calls tools, and compares the answer with that of the second evaluator.
    fn ask(&mut self) -> anyhow::Result<()> {
        let tool = *self.random.one_of(&TOOLS);
        let is_list = self.random.below(4) == 0;
        let arguments = self.arguments(tool);
        let answer = if is_list {
            self.send("tools/list", json!({}))?
        } else {
            let params = json!({ "name": tool, "arguments": arguments });
            self.send("tools/call", params)?
        };
        if !self.is_let_in(&answer)? {
            return Ok(());
        }
        let policies = self.site.since(answer.begin);
        let agrees = |policy: &Policy| {
            if is_list {
                self.agrees_with_list(policy, &answer.message)
            } else {
                self.agrees_with_call(policy, tool, &arguments, &answer.message)
            }
        };
        ensure!(
            policies.iter().any(agrees),
            "a wrong decision for {} and {tool} {arguments}: {}\n{policies:#?}",
            self.person.subject,
            answer.message
        );
        Ok(())
    }

    fn arguments(&mut self, tool: &str) -> Value {
        match tool {
            "greet" => json!({ "name": "a".repeat(self.random.below(10)) }),
            "spin" => json!({ "rounds": self.random.below(1000) }),
            _ => {
                let mut arguments = json!({ "amount": self.random.below(100) });
                if let Some(to) = self.random.one_of(&[None, Some("x"), Some("y")]) {
                    arguments["to"] = (*to).into();
                }
                arguments
            }
        }
    }

    fn agrees_with_list(&self, policy: &Policy, message: &Value) -> bool {
        let tools = message["result"]["tools"].as_array().into_iter().flatten();
        let listed: BTreeSet<_> = tools.filter_map(|tool| tool["name"].as_str()).collect();
        let expected = TOOLS
            .iter()
            .copied()
            .filter(|tool| policy.lists(self.person, tool));
        message["result"]["tools"].is_array() && listed == expected.collect()
    }

    fn agrees_with_call(
        &self,
        policy: &Policy,
        tool: &str,
        arguments: &Value,
        message: &Value,
    ) -> bool {
        let result = &message["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if !policy.lists(self.person, tool) {
            // A hidden tool does not exist.
            return message["error"]["code"] == -32602;
        }
        if policy.allows(self.person, tool, arguments) {
            result.is_object() && result["isError"] != true
        } else {
            result["isError"] == true && text.starts_with("Not allowed: ")
        }
    }

    /// Whether a request has got to the rules, which its token and its session decide.
    fn is_let_in(&self, answer: &Answer) -> anyhow::Result<bool> {
        let Answer {
            status, message, ..
        } = answer;
        let is_lost = matches!(status, None | Some(502..=504));
        if is_lost && self.site.may_be_lost(answer.begin) {
            return Ok(false);
        }
        let [begin, end] = answer.times;
        let is_valid = self.token.is_genuine && end < self.token.end - EXPIRY_TOLERANCE_SECS;
        let is_invalid = !self.token.is_genuine || begin > self.token.end + EXPIRY_TOLERANCE_SECS;
        if *status == Some(401) && !is_valid {
            return Ok(false);
        }
        ensure!(
            *status != Some(401) && !is_invalid,
            "a wrong decision about a token of {}, which ends at {}, at {:?}: {status:?} {message}",
            self.person.subject,
            self.token.end,
            answer.times
        );
        let is_foreign = |owner: &str| owner != self.person.subject;
        let expected = if !self.person.has_scope("mcp") {
            403
        } else if self
            .session
            .as_ref()
            .is_some_and(|(_, owner)| is_foreign(owner))
        {
            404
        } else {
            return Ok(true);
        };
        ensure!(
            *status == Some(expected),
            "a wrong decision about {}: {status:?} instead of {expected}, {message}",
            self.person.subject
        );
        Ok(false)
    }

    fn send(&self, method: &str, mut params: Value) -> anyhow::Result<Answer> {
        let mut headers = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let is_stateless = self.session.is_none() && method != "initialize";
        if is_stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers.push(("mcp-protocol-version", "2026-07-28"));
            headers.push(("mcp-method", method));
        } else if method != "initialize" {
            headers.push(("mcp-protocol-version", "2025-06-18"));
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        if let Some(name) = message["params"]["name"].as_str().filter(|_| is_stateless) {
            headers.push(("mcp-name", name));
        }
        if let Some((id, _)) = &self.session {
            headers.push(("mcp-session-id", id));
        }
        let authorization = format!("Bearer {}", self.token.text);
        headers.push(("authorization", &authorization));
        let request = headers
            .iter()
            .fold(self.agent.post(&self.url), |request, (name, value)| {
                request.header(*name, *value)
            });
        let (begin, before) = (Instant::now(), now().as_secs_f64());
        let response = request.send(message.to_string()).and_then(|mut response| {
            let body = response.body_mut().read_to_string()?;
            Ok((response, body))
        });
        let (status, session, body) = match response {
            Ok((response, body)) => {
                let session = response
                    .headers()
                    .get("mcp-session-id")
                    .map(|id| id.to_str().map(str::to_owned))
                    .transpose()?;
                (Some(response.status().as_u16()), session, body)
            }
            Err(error) => (None, None, error.to_string()),
        };
        Ok(Answer {
            begin,
            times: [before, now().as_secs_f64()],
            status,
            session,
            message: serde_json::from_str(&body).unwrap_or(Value::String(body)),
        })
    }
}
