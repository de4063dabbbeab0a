//! Tasks, which live in one process.

use serde_json::{Value, json};
use wire::Http;

use super::{
    ENDPOINT, KEYS,
    client::{ask, client},
    processes::{Balancer, by_turns},
    three,
};

const TASKS: usize = 12;

/// The answer to a request of a client with tasks.
fn send(client: &Http, method: &str, params: Value) -> Value {
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    ask(client, method, params, tasks).expect("an answer")
}

/// Starts a task, and returns its id.
fn begin(client: &Http) -> String {
    let call = json!({ "name": "slow_compute", "arguments": { "seconds": 0 } });
    let begun = send(client, "tools/call", call);
    let id = begun["result"]["taskId"].as_str();
    id.unwrap_or_else(|| panic!("no task: {begun}")).to_owned()
}

fn get(client: &Http, id: &str) -> Value {
    send(client, "tasks/get", json!({ "taskId": id }))
}

#[test]
fn a_task_is_unknown_to_another_process() {
    let servers = three(&format!("{ENDPOINT}{KEYS}"));
    let [first, second] = [0, 1].map(|at| client(&servers[at].address));
    let id = begin(&first);
    let unknown = get(&second, &id);
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert_eq!(get(&first, &id)["result"]["taskId"], *id);
}

/// How many tasks are found through a load balancer.
fn found(edit: fn(String) -> String) -> usize {
    let servers = three(&format!("{ENDPOINT}{KEYS}"));
    let balancer = Balancer::start(&servers, edit);
    let client = client(&balancer.address);
    let found = (0..TASKS).filter(|_| {
        let id = begin(&client);
        get(&client, &id)["result"]["taskId"] == *id
    });
    found.count()
}

#[test]
fn a_task_is_found_through_a_load_balancer_that_hashes_the_address_of_the_client() {
    let by_address =
        |config: String| config.replace("balance hdr(Mcp-Session-Id)", "balance source");
    assert_eq!(found(by_address), TASKS);
    // Each request of a client gets to the next process.
    assert_eq!(found(by_turns), 0);
}
