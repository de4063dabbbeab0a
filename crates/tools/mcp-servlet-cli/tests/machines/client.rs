//! What the clients of these tests do, also under load: a failure is a value.

use serde_json::{Value, json};
use wire::{
    Answer, Http,
    message::{HANDSHAKE, able, initialize, initialized, stateless},
};

/// A client of one address, which keeps its connections open.
pub(crate) fn client(address: &str) -> Http {
    Http::keeping_connections(format!("http://{address}/mcp"))
}

/// A response whose body has arrived, and which has this status.
fn expect<E: ToString>(answer: Result<Answer, E>, status: u16) -> Result<Answer, String> {
    let answer = answer.map_err(|error| error.to_string())?;
    answer.try_text().map_err(|error| error.to_string())?;
    if answer.status() == status {
        Ok(answer)
    } else {
        Err(format!("{answer:?}"))
    }
}

/// The answer to a request since 2026-07-28 of a client with these capabilities.
pub(crate) fn ask(
    client: &Http,
    method: &str,
    params: Value,
    capabilities: Value,
) -> Result<Value, String> {
    let request = able(stateless(method, params), capabilities);
    Ok(expect(client.try_post(&request), 200)?.message())
}

/// Opens a session of a client with elicitation.
pub(crate) fn open(client: &Http) -> Result<Http, String> {
    let elicits = able(initialize(HANDSHAKE), json!({ "elicitation": {} }));
    let opened = expect(client.try_post(&elicits), 200)?;
    let session = client.in_session(&opened.session());
    expect(session.try_post(&initialized()), 202)?;
    Ok(session)
}

/// Calls `greet`, in a session or without one.
pub(crate) fn greet(client: &Http) -> Result<(), String> {
    let called = expect(client.try_ask("tools/call", greeting()), 200)?;
    match called.message()["result"]["content"][0]["text"].as_str() {
        Some("Hello, Ada!") => Ok(()),
        _ => Err(format!("{called:?}")),
    }
}

pub(crate) fn greeting() -> Value {
    json!({ "name": "greet", "arguments": { "name": "Ada" } })
}
