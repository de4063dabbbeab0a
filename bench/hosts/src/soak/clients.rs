//! Clients that make calls and check the answers.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use super::expected::Expected;
use super::lasting::{Progress, Worker};
use crate::http::Client;

pub(super) const CLIENTS: usize = 8;
/// The interval between requests of a client, so that the machine is not fully busy for half an hour.
const REQUEST_INTERVAL: Duration = Duration::from_millis(20);
/// After this many requests a client ends its session, and a new client starts.
const REQUESTS_PER_SESSION: usize = 200;

/// A call, and what it should result in.
pub(super) struct Call<'a> {
    params: Value,
    expected: Expected<'a>,
}

impl<'a> Call<'a> {
    pub(super) fn new(tool: &str, arguments: &Value, expected: Expected<'a>) -> Self {
        let params = json!({ "name": tool, "arguments": arguments });
        Self { params, expected }
    }
}

/// The call of each turn.
pub(super) type Next<'a> = &'a (dyn Fn(usize) -> Call<'a> + Sync);

/// A worker that is one client after the other. Those of half of the workers have no sessions, the others one each.
pub(super) fn client<'a>(url: &'a str, number: usize, next: Next<'a>) -> Worker<'a> {
    Box::new(move |progress| {
        let mut turn = number;
        while !progress.has_ended() {
            let mut client = if number % 4 < 2 {
                Client::stateless(url)
            } else {
                Client::open(url)?
            };
            for _ in 0..REQUESTS_PER_SESSION {
                let start = Instant::now();
                make(&next(turn), &mut client, progress)?;
                turn += 1;
                if progress.has_ended() {
                    break;
                }
                thread::sleep(REQUEST_INTERVAL.saturating_sub(start.elapsed()));
            }
            client.close()?;
        }
        Ok(())
    })
}

fn make(call: &Call<'_>, client: &mut Client, progress: &Progress) -> anyhow::Result<()> {
    let sent = Instant::now();
    let answer = client.request("tools/call", &call.params)?;
    ensure!(
        call.expected.fits(&answer, sent),
        "{:.200} is answered by {:.500}",
        call.params.to_string(),
        answer.to_string()
    );
    progress.count_request();
    Ok(())
}
