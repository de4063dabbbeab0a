//! Parallel calls over a pipe, with pings between them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::{Value, json};

use crate::stdio::{ANSWER_TIMEOUT, Answer, Outcome, Stdio};

/// Calls of one tool.
#[derive(Clone)]
pub(crate) struct Load<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Value,
    pub(crate) calls: usize,
    /// How many calls run at the same time.
    pub(crate) in_flight: usize,
    /// The interval between pings. None sends none.
    pub(crate) ping_every: Option<Duration>,
}

/// The measured times, in seconds.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) calls: Vec<f64>,
    pub(crate) pings: Vec<f64>,
    pub(crate) whole: f64,
}

impl Load<'_> {
    /// Makes all calls. An error result is an error here.
    pub(crate) fn run(&self, server: &mut Stdio) -> anyhow::Result<Taken> {
        let mut taken = Taken::default();
        let mut calls = HashMap::new();
        let mut pings = HashMap::new();
        let start = Instant::now();
        let mut next_ping = self.ping_every.map(|every| start + every);
        let mut sent = 0;
        while taken.calls.len() < self.calls {
            while sent < self.calls && calls.len() < self.in_flight {
                let now = Instant::now();
                let params = json!({ "name": self.tool, "arguments": self.arguments });
                calls.insert(server.send_request("tools/call", &params)?, now);
                sent += 1;
            }
            if let (Some(due), Some(every)) = (next_ping, self.ping_every) {
                let now = Instant::now();
                if now >= due {
                    pings.insert(server.send_request("ping", &json!({}))?, now);
                    next_ping = Some(now + every);
                }
            }
            let patience = next_ping.map_or(ANSWER_TIMEOUT, |due| {
                due.saturating_duration_since(Instant::now())
            });
            for answer in server.receive(patience)? {
                let took = |sent: Instant| answer.at.duration_since(sent).as_secs_f64();
                if let Some(sent) = pings.remove(&answer.id) {
                    taken.pings.push(took(sent));
                } else if let Some(sent) = calls.remove(&answer.id) {
                    succeeded(&answer)?;
                    taken.calls.push(took(sent));
                }
            }
        }
        taken.whole = start.elapsed().as_secs_f64();
        // A ping without a response has taken at least this long so far.
        let still = pings.into_values().map(|sent| sent.elapsed().as_secs_f64());
        taken.pings.extend(still);
        Ok(taken)
    }
}

fn succeeded(answer: &Answer) -> anyhow::Result<()> {
    match &answer.outcome {
        Outcome::Result(result) if result["isError"] != true => Ok(()),
        Outcome::Result(failure) | Outcome::Error(failure) => bail!("a call failed: {failure}"),
    }
}
