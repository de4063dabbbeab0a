//! Callers with tokens that expire, who check each answer.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use super::lasting::{Progress, Worker};
use super::policy::{PEOPLE, Person, Policy, REMOTE_TOOL, Random, TOOLS};
use super::site::{REMOTE, Site};
use crate::http::Client;
use crate::issuer::{AUDIENCE, ISSUER, Issuer, now};
use crate::peer::initialize;

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
    url: String,
    client: Client,
    random: Random,
    person: &'static Person,
    token: Token,
    /// The subject who opened the session of the client. None without a session.
    owner: Option<&'static str>,
}

/// The answer to a request, and when it came.
struct Answer {
    begin: Instant,
    /// Seconds since 1970 before the request, and after its answer.
    times: [f64; 2],
    /// None if the connection broke.
    status: Option<u16>,
    message: Value,
}

/// A worker that is a caller.
pub(super) fn caller<'a>(
    site: &'a Site,
    [issuer, stranger]: [&'a Issuer; 2],
    url: String,
    number: usize,
) -> Worker<'a> {
    Box::new(move |progress| {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 + number as u64);
        let person = random.one_of(&PEOPLE);
        let token = Token::new(issuer, stranger, person, &mut random);
        let mut caller = Caller {
            site,
            issuer,
            stranger,
            client: Client::stateless(&url),
            url,
            random,
            person,
            token,
            owner: None,
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
        self.client = Client::stateless(&self.url);
        self.owner = None;
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
        Ok(())
    }

    fn open(&mut self) -> anyhow::Result<()> {
        self.client = Client::with_session(&self.url);
        let answer = self.send("initialize", &initialize());
        if self.is_let_in(&answer)? {
            let has_session = self.client.has_session();
            ensure!(has_session, "no session: {}", answer.message);
            self.owner = Some(self.person.subject);
        } else {
            self.client = Client::stateless(&self.url);
        }
        Ok(())
    }

    /// Lists or calls tools, and compares the answer with that of the second evaluator.
    fn ask(&mut self) -> anyhow::Result<()> {
        let tool = *self.random.one_of(&TOOLS);
        let is_list = self.random.below(4) == 0;
        let arguments = self.arguments(tool);
        let answer = if is_list {
            self.send("tools/list", &json!({}))
        } else {
            let params = json!({ "name": tool, "arguments": arguments });
            self.send("tools/call", &params)
        };
        if !self.is_let_in(&answer)? {
            return Ok(());
        }
        let policies = self.site.since(answer.begin);
        let agrees = |policy: &Policy| {
            if is_list {
                self.agrees_with_list(policy, &answer.message)
            } else {
                self.agrees_with_call(policy, tool, &arguments, &answer)
            }
        };
        ensure!(
            policies.iter().any(agrees),
            "a wrong decision for {} and {tool} {:.200}: {:.500}\n{policies:#?}",
            self.person.subject,
            arguments.to_string(),
            answer.message.to_string()
        );
        Ok(())
    }

    fn arguments(&mut self, tool: &str) -> Value {
        match tool {
            "greet" => {
                let is_large = self.random.one_in(10);
                let length = if is_large {
                    // HAProxy keeps 16 KiB, and cuts a connection whose longer request is refused before it has all of it.
                    8_192
                } else {
                    self.random.below(10)
                };
                json!({ "name": "a".repeat(length) })
            }
            REMOTE_TOOL => json!({ "microseconds": self.random.below(1000) }),
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
        Answer { begin, message, .. }: &Answer,
    ) -> bool {
        let result = &message["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if !policy.lists(self.person, tool) {
            // A hidden tool does not exist.
            return message["error"]["code"] == -32602;
        }
        if policy.allows(self.person, tool, arguments) {
            let error = &message["error"];
            let data = &error["data"];
            let is_down =
                error["code"] == -32000 && data["remote"] == REMOTE && data["retry"] == true;
            let is_result = result.is_object() && result["isError"] != true;
            is_result || (is_down && self.site.may_be_refused(*begin))
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
        } else if self.owner.is_some_and(is_foreign) {
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

    fn send(&mut self, method: &str, params: &Value) -> Answer {
        self.client.token = Some(self.token.text.clone());
        let (begin, before) = (Instant::now(), now().as_secs_f64());
        let (status, body) = match self.client.send(method, params) {
            Ok(response) => (Some(response.status), response.body),
            Err(error) => (None, error.to_string()),
        };
        Answer {
            begin,
            times: [before, now().as_secs_f64()],
            status,
            message: serde_json::from_str(&body).unwrap_or(Value::String(body)),
        }
    }
}
