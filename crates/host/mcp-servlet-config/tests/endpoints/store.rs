//! Sessions in a real Redis.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
};

use mcp_servlet_server::Sha256;
use puppet::{Redis, eventually};
use serde_json::json;
use test_authority::Authority;
use tokio::io::copy_bidirectional;
use wire::message::stateless;

use crate::{
    log,
    processes::{A, call, initialize, open, server},
    site::{Site, WEB},
    steps::{self, ASKS},
    wasm::{echo, servlet},
};

/// A configuration with sessions in a Redis. `more` ends the section of the store.
fn config(redis: &Redis, more: &str) -> String {
    format!(
        "{WEB}session.store = \"store:main\"\n{A}{}{}timeout = \"20s\"\n{more}",
        server(&['A']),
        redis.section()
    )
}

async fn site(config: &str, wasm: &[u8]) -> Site {
    log::start();
    Site::start(config, &[("a.wasm", wasm)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_session_is_lost_between_three_processes_with_a_store() {
    let Some(redis) = Redis::start() else { return };
    let key_of = |name: &str| {
        let sha256 = Sha256::of(name.as_bytes());
        format!("{{ name = \"{name}\", sha256 = \"{sha256}\" }}")
    };
    let keys = format!("{}, {}", key_of("ann"), key_of("bob"));
    let auth = format!("[auth.corp]\nresource = \"https://mcp.example/mcp\"\nkey = [{keys}]\n");
    let config = config(&redis, &auth).replacen("session.", "auth = \"corp\"\nsession.", 1);
    let wasm = servlet(&["t"], "a");
    let mut sites = Vec::new();
    for _ in 0..3 {
        sites.push(site(&config, &wasm).await);
    }
    let (ann, bob) = (
        [("authorization", "Bearer ann")],
        [("authorization", "Bearer bob")],
    );
    let ids: Vec<_> = (0..200).map(|at| open(&sites[at % 3], &ann)).collect();
    for (at, id) in ids.iter().enumerate() {
        assert_eq!(call(&sites[(at + 1) % 3], id, &ann).status(), 200, "{at}");
    }
    // A process ends at once: its sessions go on with the same owner.
    drop(sites.remove(0));
    for (at, id) in ids.iter().enumerate() {
        let site = &sites[at % 2];
        assert_eq!(call(site, id, &ann).status(), 200, "{at}");
        assert_eq!(call(site, id, &bob).status(), 404, "{at}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_its_client_ends_is_no_longer_in_the_store() {
    let Some(redis) = Redis::start() else { return };
    let wasm = servlet(&["t"], "a");
    let first = site(&config(&redis, ""), &wasm).await;
    let second = site(&config(&redis, ""), &wasm).await;
    let id = open(&first, &[]);
    let session = first.http("web").with("mcp-session-id", &id);
    assert_eq!(session.delete().status(), 204);
    for site in [&first, &second] {
        assert_eq!(call(site, &id, &[]).status(), 404);
    }
    assert_eq!(redis.dump(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_forgets_a_session_that_is_not_used_and_no_other() {
    let Some(redis) = Redis::start() else { return };
    let config =
        config(&redis, "").replacen("session.store", "session.idle = \"10s\"\nsession.store", 1);
    let wasm = servlet(&["t"], "a");
    let (first, second) = (site(&config, &wasm).await, site(&config, &wasm).await);
    let (idle, used) = (open(&first, &[]), open(&first, &[]));
    let count = || redis.dump().lines().filter(|line| !line.is_empty()).count();
    assert_eq!(count(), 2);
    eventually("the end of one session", async || {
        assert_eq!(call(&first, &used, &[]).status(), 200);
        count() == 1
    })
    .await;
    assert_eq!(call(&first, &idle, &[]).status(), 404);
    assert_eq!(call(&second, &used, &[]).status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_the_store_has_no_session() {
    let Some(redis) = Redis::start() else { return };
    let first = site(&config(&redis, ""), &servlet(&["t"], "a")).await;
    let client = json!({ "name": "marked", "version": "1" });
    let opened = first.http("web").post(&initialize(&client, &json!({})));
    let id = opened.session();
    let dump = redis.dump();
    assert!(dump.starts_with("servlet:session:"), "{dump}");
    for secret in ["marked", "clientInfo", &id] {
        assert!(!dump.contains(secret), "{secret}: {dump}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_store_is_away_what_is_open_goes_on() {
    let Some(mut redis) = Redis::start() else {
        return;
    };
    let wasm = servlet(&["t"], "a");
    let first = site(&config(&redis, ""), &wasm).await;
    let required = site(&config(&redis, "ready = true\n"), &wasm).await;
    let ready = |site: &Site| site.http("web").at("/ready").get();
    assert_eq!(ready(&required).status(), 200);
    let id = open(&first, &[]);
    redis.stop();
    assert_eq!(call(&first, &id, &[]).status(), 200);
    let web = first.http("web");
    let modern = stateless("tools/call", json!({ "name": "t", "arguments": {} }));
    assert_eq!(web.post(&modern).status(), 200);
    // Such a request belongs to no session, although it may name one.
    let named = web.with("mcp-session-id", "made-up");
    assert_eq!(named.post(&modern).status(), 200);
    // Its client must not believe that the session has ended.
    let refused = call(&required, &id, &[]);
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.header("retry-after"), Some("2"));
    let refused = web.initialize();
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.header("retry-after"), Some("2"));
    assert_eq!(refused.header("mcp-session-id"), None);
    assert!(
        first
            .service
            .metrics()
            .contains("servlet_sessions{endpoint=\"web\"} 1")
    );
    // Other processes would go on with a session that its client believes to have ended.
    let session = web.with("mcp-session-id", &id);
    assert_eq!(session.delete().status(), 503);
    // All processes would leave the load balancer at once, so an operator has to ask for that.
    assert_eq!(ready(&first).status(), 200);
    let waiting = ready(&required);
    assert_eq!(waiting.status(), 503);
    assert_eq!(
        waiting.message(),
        json!({ "status": "no store", "missing": { "stores": ["main"] } })
    );
    redis.run();
    eventually("the store", async || ready(&required).status() == 200).await;
    let id = open(&first, &[]);
    assert_eq!(call(&required, &id, &[]).status(), 200);
}

/// An address that leads to the Redis at this port, as a DNS name does. Connections stay when it changes.
async fn name_of(port: &Arc<AtomicU16>) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port");
    let address = listener.local_addr().expect("an address");
    let port = Arc::clone(port);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let port = port.load(Ordering::Relaxed);
            tokio::spawn(async move {
                let mut redis = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
                copy_bidirectional(&mut client, &mut redis).await
            });
        }
    });
    address.port()
}

#[tokio::test(flavor = "multi_thread")]
async fn when_another_redis_becomes_the_primary_sessions_open_there() {
    let Some(first) = Redis::start() else { return };
    let second = Redis::start().expect("it is installed");
    let primary = Arc::new(AtomicU16::new(first.port));
    let name = name_of(&primary).await;
    let config = |more: &str| {
        let config = config(&first, more);
        config.replace(&format!(":{}\"", first.port), &format!(":{name}\""))
    };
    let site = site(&config("ready = true\n"), &servlet(&["t"], "a")).await;
    open(&site, &[]);
    let ready = || site.http("web").at("/ready").get().status();
    assert_eq!(ready(), 200);
    let replica = first.ask(&["REPLICAOF", "127.0.0.1", &second.port.to_string()]);
    assert_eq!(replica.trim(), "OK");
    assert_eq!(ready(), 503);
    primary.store(second.port, Ordering::Relaxed);
    open(&site, &[]);
    assert_eq!(ready(), 200);
    assert!(second.dump().starts_with("servlet:session:"));
}

/// Two processes with a tool that asks and may write.
async fn two_that_ask(redis: &Redis) -> [Site; 2] {
    log::start();
    let config = config(redis, "").replace(A, &format!("{A}{ASKS}"));
    let (asking, echo) = (steps::asking(), echo(&["t"]));
    let files = [("a.wasm", &*asking), ("e.wasm", &*echo)];
    [
        Site::start(&config, &files).await,
        Site::start(&config, &files).await,
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_used_once_among_all_processes() {
    let Some(redis) = Redis::start() else { return };
    let [first, second] = two_that_ask(&redis).await;
    let x = json!("x");
    let asked = steps::ask(&first, steps::call(&x));
    let answered = steps::ask(&second, steps::answer(&x, &asked));
    assert!(answered["result"]["content"].is_array(), "{answered}");
    for site in [&first, &second] {
        steps::assert_used(&steps::ask(site, steps::answer(&x, &asked)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_store_is_away_no_answer_is_used() {
    let Some(mut redis) = Redis::start() else {
        return;
    };
    let [first, second] = two_that_ask(&redis).await;
    let x = json!("x");
    let kept = steps::ask(&first, steps::call(&x));
    redis.stop();
    for site in [&first, &second] {
        let refused = steps::ask(site, steps::answer(&x, &kept));
        let error = &refused["error"];
        assert_eq!(error["data"]["code"], "STORE_AWAY", "{refused}");
        assert_eq!(error["code"], -32000, "{refused}");
    }
    redis.run();
    eventually("the answer that was refused", async || {
        let answered = steps::ask(&second, steps::answer(&x, &kept));
        answered["result"]["content"].is_array()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_connection_to_a_store_can_have_tls() {
    let authority = Authority::new();
    let redis = Redis::start_with(|folder, port| {
        let (cert, key) = authority.sign(1);
        let mut options = [
            "--port",
            "0",
            "--tls-auth-clients",
            "no",
            "--tls-port",
            port,
        ]
        .map(str::to_owned)
        .to_vec();
        for (option, name, text) in [
            ("--tls-cert-file", "cert.pem", cert),
            ("--tls-key-file", "key.pem", key),
            ("--tls-ca-cert-file", "root.pem", authority.root()),
        ] {
            let path = folder.join(name);
            fs::write(&path, text).expect("a file");
            options.extend([option.to_owned(), path.display().to_string()]);
        }
        options
    });
    let Some(redis) = redis else { return };
    let config = |more: &str| {
        let plain = format!("redis://127.0.0.1:{}", redis.port);
        let url = format!("rediss://127.0.0.1:{}", redis.port);
        config(&redis, more).replace(&plain, &url)
    };
    log::start();
    let (wasm, root) = (servlet(&["t"], "a"), authority.root());
    let files = [("a.wasm", &*wasm), ("root.pem", root.as_bytes())];
    let first = Site::start(&config("tls.ca = \"root.pem\"\n"), &files).await;
    let second = Site::start(&config("tls.ca = \"root.pem\"\n"), &files).await;
    let id = open(&first, &[]);
    assert_eq!(call(&second, &id, &[]).status(), 200);
    // A store with a certificate of another authority counts as away. The log says so before anyone needs it.
    let stranger = Site::start(&config(""), &files).await;
    log::says("the store cannot be reached: invalid peer certificate").await;
    assert_eq!(call(&stranger, &id, &[]).status(), 503);
}
