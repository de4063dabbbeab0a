//! Elicitation requests of one process that are answered through the load balancer.

use std::{sync::mpsc, thread};

use puppet::PATIENCE;
use serde_json::{Value, json};
use wire::{Http, message::response};

use super::{
    ENDPOINT, KEYS,
    client::{ask, client, greet, open},
    processes::{Balancer, by_turns},
    three,
};

/// How many clients answer a question.
const QUESTIONS: usize = 30;

/// Asks twice, and keeps a number from the first question to the second.
fn order() -> Value {
    json!({ "name": "order", "arguments": {} })
}

/// The call again, with an answer to the question.
fn answer_to(asked: &Value) -> Result<Value, String> {
    let result = &asked["result"];
    let Some(question) = result["inputRequests"]
        .as_object()
        .and_then(|all| all.keys().next())
    else {
        return Err(asked.to_string());
    };
    let accepted = json!({ "action": "accept", "content": { "yes": true } });
    let mut answer = order();
    answer["inputResponses"] = json!({ question: accepted });
    if result["requestState"].is_string() {
        answer["requestState"] = result["requestState"].clone();
    }
    Ok(answer)
}

/// The answer to a call since 2026-07-28.
fn send(client: &Http, params: Value) -> Result<Value, String> {
    ask(client, "tools/call", params, json!({ "elicitation": {} }))
}

/// Questions since 2026-07-28 of one process, and their answers at the next ones.
pub(crate) fn ask_and_answer(clients: &[&Http]) -> Result<(), String> {
    let mut clients = clients.iter().cycle();
    let mut send = |params: Value| send(clients.next().expect("a client"), params);
    let first = send(order())?;
    let second = send(answer_to(&first)?)?;
    let done = send(answer_to(&second)?)?;
    match done["result"]["content"][0]["text"].as_str() {
        Some("order 41: true and true") => Ok(()),
        _ => Err(done.to_string()),
    }
}

#[test]
fn an_answer_gets_to_any_process_with_the_same_keys() {
    let servers = three(&format!("{ENDPOINT}{KEYS}"));
    let [first, second] = [0, 1].map(|at| client(&servers[at].address));
    ask_and_answer(&[&first, &second]).expect("a result");
    let balancer = Balancer::start(&servers, by_turns);
    let client = client(&balancer.address);
    for _ in 0..QUESTIONS {
        ask_and_answer(&[&client]).expect("a result");
    }
}

#[test]
fn an_answer_is_unknown_to_a_process_with_other_keys() {
    let servers = three(ENDPOINT);
    let [first, second] = [0, 1].map(|at| client(&servers[at].address));
    let asked = send(&first, order()).expect("a question");
    let answer = answer_to(&asked).expect("a question");
    let asked = send(&first, answer).expect("a question");
    let answer = answer_to(&asked).expect("a question");
    let refused = send(&second, answer.clone()).expect("an answer");
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let done = send(&first, answer).expect("an answer");
    assert!(done["result"]["content"][0]["text"].is_string(), "{done}");
}

fn call() -> Value {
    json!({ "name": "confirm_delete", "arguments": { "filename": "a.txt" } })
}

fn accepted() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

fn is_done(answer: &Value) -> Result<(), String> {
    match answer["result"]["content"][0]["text"].as_str() {
        Some("deleted: true") => Ok(()),
        _ => Err(answer.to_string()),
    }
}

/// The question of a call in a session, and the messages after it.
fn asked_in(session: &Http) -> (Value, impl Iterator<Item = Value> + use<>) {
    let called = session.ask("tools/call", call());
    assert_eq!(called.status(), 200);
    let mut messages = called.into_events();
    let question = messages.next().expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (response(&question, accepted()), messages)
}

#[test]
fn an_answer_of_a_session_gets_to_its_process_by_the_hash_of_its_id() {
    let servers = three(&format!("{ENDPOINT}session.store = \"sealed\"\n{KEYS}"));
    let balancer = Balancer::start(&servers, |config| config);
    let client = client(&balancer.address);
    for _ in 0..QUESTIONS {
        let session = open(&client).expect("a session");
        let (answer, mut messages) = asked_in(&session);
        assert_eq!(session.post(&answer).status(), 202);
        is_done(&messages.next().expect("a message")).expect("a result");
    }
    // Each process has served some of them.
    let sessions = servers
        .iter()
        .map(|server| server.metric("servlet_sessions{endpoint=\"main\"}"));
    let sessions: Vec<_> = sessions.collect();
    assert!(sessions.iter().all(|count| *count > 0), "{sessions:?}");
}

#[test]
fn an_answer_of_a_session_does_nothing_at_another_process() {
    let servers = three(&format!("{ENDPOINT}session.store = \"sealed\"\n{KEYS}"));
    let [first, second] = [0, 1].map(|at| client(&servers[at].address));
    let session = open(&first).expect("a session");
    let elsewhere = second.in_session(session.session());
    let (answer, mut messages) = asked_in(&session);
    let (sender, next) = mpsc::channel();
    thread::spawn(move || sender.send(messages.next()));
    elsewhere.post(&answer);
    for client in [&elsewhere, &session] {
        greet(client).expect("a greeting");
    }
    assert_eq!(next.try_recv(), Err(mpsc::TryRecvError::Empty));
    session.post(&answer);
    let done = next.recv_timeout(PATIENCE).expect("an end");
    is_done(&done.expect("a message")).expect("a result");
}
