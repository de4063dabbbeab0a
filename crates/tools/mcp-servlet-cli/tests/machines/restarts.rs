//! Restarts and new keys under load.

use puppet::eventually_blocking;
use serde_json::json;

use super::{
    ENDPOINT, KEYS,
    client::{client, greet, open},
    processes::{Balancer, Server, by_turns, checks_often, under_load},
    questions, three, with_servlets,
};

/// Calls without a session, calls in one session, and questions whose answers may get to another process, in turns.
fn everything(balancer: &Balancer, life: usize) -> impl FnMut() -> Result<(), String> + use<> {
    let client = client(&balancer.address);
    let (mut session, mut turn) = (None, 0_usize);
    move || {
        turn += 1;
        match turn % 4 {
            0 => questions::ask_and_answer(&[&client]),
            1 if session.is_none() || turn % life == 1 => {
                session = Some(open(&client)?);
                Ok(())
            }
            1 | 2 => greet(session.as_ref().ok_or("no session")?),
            _ => greet(&client),
        }
    }
}

/// How many calls a process has served.
fn calls(server: &Server) -> u64 {
    server.metric("servlet_calls_total{servlet=\"tasks\",tool=\"greet\",outcome=\"ok\"}")
}

#[test]
fn a_rolling_restart_loses_no_call_and_no_session() {
    let config = format!("http.leave = \"2s\"\n{ENDPOINT}session.store = \"sealed\"\n{KEYS}");
    let mut servers = three(&config);
    let balancer = Balancer::start(&servers, |config| checks_often(by_turns(config)));
    let counts = under_load(
        |_| everything(&balancer, usize::MAX),
        |counts| {
            for server in &mut servers {
                counts.more(100);
                server.stop();
                server.restart();
                eventually_blocking("calls at the new process", || calls(server) > 0);
            }
            counts.more(100);
        },
    );
    assert_eq!(counts.failures(), [""; 0], "{} were answered", counts.ok());
    println!("rolling restart: {} answered, 0 lost", counts.ok());
}

#[test]
fn keys_are_rotated_under_load_without_losing_a_call() {
    let config = |keys: &[char]| {
        let keys = keys.iter();
        let keys: Vec<_> = keys
            .map(|key| format!("{}A=", key.to_string().repeat(42)))
            .collect();
        let keys = json!(keys);
        // A session lives longer than a client uses it.
        format!(
            "{ENDPOINT}session = {{ store = \"sealed\", life = \"20s\" }}\n[server]\nstate_keys = {keys}\n"
        )
    };
    let servers = three(&config(&['A']));
    let balancer = Balancer::start(&servers, by_turns);
    let counts = under_load(
        |_| everything(&balancer, 16),
        |counts| {
            counts.more(100);
            for (step, keys) in [&['A', 'B'][..], &['B', 'A'], &['B']]
                .into_iter()
                .enumerate()
            {
                if keys == ['B'] {
                    let session = open(&client(&balancer.address)).expect("a session");
                    // Sessions from before it end before it.
                    eventually_blocking("the end of the session", || {
                        let called = greet(&session);
                        called.is_err_and(|error| error.starts_with("404"))
                    });
                }
                for server in &servers {
                    server.configure(&with_servlets(&config(keys)));
                    eventually_blocking("a reload", || {
                        let reloads = server.metric("servlet_reloads_total{outcome=\"ok\"}");
                        reloads == step as u64 + 1
                    });
                    counts.more(50);
                }
            }
            counts.more(100);
        },
    );
    assert_eq!(counts.failures(), [""; 0], "{} were answered", counts.ok());
    println!("new keys: {} answered, 0 lost", counts.ok());
}
