//! Several processes behind a HAProxy, with sessions in a Redis.

use mcp_servlet_server::Sha256;
use puppet::{Redis, eventually_blocking, is_installed};

use super::{
    haproxy::{ENDPOINT, Header, call, call_alone, call_at, client, on_one_thread, open, three},
    processes::{Balancer, Server, by_turns},
};

/// An endpoint that has its sessions in a Redis, and knows `ann` and `bob`.
fn config(redis: &Redis) -> String {
    let key = |name: &str| {
        let sha256 = Sha256::of(name.as_bytes());
        format!("{{ name = \"{name}\", sha256 = \"{sha256}\" }}")
    };
    let keys = format!("{}, {}", key("ann"), key("bob"));
    let endpoint = ENDPOINT.replace("\"sealed\"", "\"store:main\"\nauth = \"corp\"");
    let auth = format!("[auth.corp]\nresource = \"https://mcp.example/mcp\"\nkey = [{keys}]\n");
    endpoint + &redis.section() + &auth
}

const ANN: &[Header] = &[("authorization", "Bearer ann")];
const BOB: &[Header] = &[("authorization", "Bearer bob")];

#[test]
fn no_session_of_a_redis_is_lost_behind_a_load_balancer() {
    let Some(redis) = Redis::start() else { return };
    if !is_installed("haproxy") {
        return;
    }
    let mut servers = three(&config(&redis));
    let balancer = Balancer::start(&servers, |config| on_one_thread(by_turns(config)));
    let ids: Vec<_> = (0..200).map(|_| open(&balancer, ANN)).collect();
    let check = |caller, expected| {
        for (at, id) in ids.iter().enumerate() {
            assert_eq!(
                call(&balancer, id, caller),
                Some(expected),
                "{at}: {caller:?}"
            );
        }
    };
    check(ANN, 200);
    servers[0].kill();
    // HAProxy learns of the end before it answers this.
    let health = client(&balancer.address, &[]).at("/health").get();
    assert_eq!(health.status(), 200);
    // The sessions still have their owner.
    check(BOB, 404);
    check(ANN, 200);
}

#[test]
fn while_a_redis_is_away_what_is_open_goes_on_behind_a_load_balancer() {
    let Some(mut redis) = Redis::start() else {
        return;
    };
    if !is_installed("haproxy") {
        return;
    }
    let servers = three(&config(&redis));
    let balancer = Balancer::start(&servers, |config| config);
    let ids: Vec<_> = (0..20).map(|_| open(&balancer, ANN)).collect();
    let goes_on = |what: &str| {
        for (at, id) in ids.iter().enumerate() {
            assert_eq!(call(&balancer, id, ANN), Some(200), "{at}: {what}");
        }
    };
    // From now on, the process at which HAProxy finds a session knows it.
    goes_on("before");
    redis.stop();
    goes_on("while Redis is away");
    assert_eq!(call_alone(&balancer, ANN), Ok(()));
    let refused = client(&balancer.address, ANN).initialize();
    assert_eq!(refused.status(), 503, "{refused:?}");
    assert_eq!(refused.header("retry-after"), Some("2"));
    // A process that has not used a session does not let its client believe that it has ended.
    for id in &ids {
        let at = |server: &Server| call_at(&server.address, id, ANN);
        let statuses: Vec<_> = servers.iter().map(at).collect();
        let is_known = statuses.contains(&Some(200));
        let is_kept = statuses
            .iter()
            .all(|status| matches!(status, Some(200 | 503)));
        assert!(is_known && is_kept, "{statuses:?}");
    }
    redis.run();
    let opened = eventually_blocking("a new session", || {
        let answer = client(&balancer.address, ANN).initialize();
        (answer.status() == 200).then_some(answer)
    });
    assert_eq!(call(&balancer, &opened.session(), ANN), Some(200));
    goes_on("after");
}
