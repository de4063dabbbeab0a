//! What callers, TLS, sessions that processes share, rules and records cost, compared with an endpoint without them.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bench_table::Target;
use serde_json::json;
use test_authority::Authority;

use super::servers::endpoint;
use super::{CLIENTS, Starter, greeting};
use crate::balancer;
use crate::comparison::{Comparison, calls};
use crate::http::{Client, Clients, Listening, free_port};
use crate::issuer::{AUDIENCE, ISSUER, Issuer};
use crate::process::Process;
use crate::streams::Streams;

/// The calls of each client.
const CALLS: usize = 125;
/// How often a list is read in a turn.
const LISTS: usize = 100;
/// The key of state that clients keep.
const SEALED: &str = "[server]\nstate_keys = ['BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=']\n";
/// The tools of a list, each with one line of configuration.
const TOOLS: usize = 250;

/// Servers with one endpoint for each thing that is measured.
pub(super) struct Access {
    server: Listening,
    tls: String,
    audited: Listening,
    traced: Listening,
    processes: Processes,
    issuer: Issuer,
    /// None if it is not installed.
    redis: Option<Process>,
}

impl Access {
    pub(super) fn start(starter: &Starter<'_>) -> anyhow::Result<Self> {
        let folder = starter.folder;
        let issuer = Issuer::new()?;
        let (certificate, key) = Authority::new().sign(1);
        fs::write(folder.join("keys.json"), issuer.keys().to_string())?;
        fs::write(folder.join("cert.pem"), certificate)?;
        fs::write(folder.join("key.pem"), key)?;
        let (tls_port, redis_port) = (free_port()?, free_port()?);
        let redis = redis(redis_port);
        let servlet = format!(
            "[servlet.spin]\nsource = '{}'\n",
            starter.artifacts.wasm("spin").display()
        );
        let mut sections = config(tls_port) + &servlet;
        if redis.is_some() {
            let store = "bundles = ['spin']\nsession.store = 'store:main'\n";
            sections += &endpoint("stored", store);
            sections += &format!("[store.main]\nredis = 'redis://127.0.0.1:{redis_port}'\n");
        }
        let plain = endpoint("plain", "") + &servlet;
        let audit = "[audit]\nto = 'audit.jsonl'\n";
        let traces = format!(
            "[traces]\notlp = 'http://127.0.0.1:{}'\nsample = 0.1\n",
            collector()?
        );
        Ok(Self {
            server: starter.configured_as("access", &sections)?,
            tls: format!("https://127.0.0.1:{tls_port}/tls"),
            audited: starter.configured_as("audited", &format!("{audit}{plain}"))?,
            traced: starter.configured_as("traced", &format!("{traces}{plain}"))?,
            processes: Processes::start(starter, &servlet)?,
            issuer,
            redis,
        })
    }

    pub(super) fn comparisons(&self) -> anyhow::Result<Vec<Comparison<'_>>> {
        let url = |path: &str| self.server.url.replace("/plain", path);
        let tokens = url("/tokens");
        let mut all = vec![
            self.against_plain(
                "a token seen before",
                Some(0.95),
                tokens.clone(),
                |issuer| issuer.tokens(CLIENTS),
            ),
            self.against_plain("a new token each time", None, tokens, |issuer| {
                issuer.tokens(CLIENTS * CALLS)
            }),
        ];
        let mut without_tokens = vec![
            ("TLS, connections kept", 0.80, self.tls.clone()),
            ("sealed sessions", 0.97, url("/sealed")),
            ("ten rules with arguments", 0.90, url("/ruled")),
            ("audit log", 0.90, self.audited.url.clone()),
            ("traces, one in ten", 0.95, self.traced.url.clone()),
        ];
        if self.redis.is_some() {
            without_tokens.push(("sessions in Redis", 0.95, url("/stored")));
        }
        for (label, target, url) in without_tokens {
            all.push(self.against_plain(label, Some(target), url, |_| Vec::new()));
        }
        let streams = |url: String| {
            let client = Streams::new(url, "greet", &greeting())?;
            anyhow::Ok(move || client.run(CLIENTS, CALLS))
        };
        all.push(Comparison::new(
            "without it",
            "TLS and HTTP/2, 16 streams",
            Target::AtLeast(0.75),
            streams(self.tls.clone())?,
            streams(self.server.url.clone())?,
        ));
        all.push(self.processes.comparison());
        all.push(Comparison::new(
            "without it",
            "list of 250 tools with rules",
            Target::AtLeast(0.80),
            lists(url("/ruled_list")),
            lists(url("/list")),
        ));
        Ok(all)
    }

    /// Calls at a URL, and calls of the endpoint `plain`.
    fn against_plain(
        &self,
        label: &'static str,
        target: Option<f64>,
        url: String,
        tokens: fn(&Issuer) -> Vec<String>,
    ) -> Comparison<'_> {
        let plain = self.calls(self.server.url.clone(), |_| Vec::new());
        let ours = self.calls(url, tokens);
        let target = target.map(Target::AtLeast);
        Comparison::new("without it", label, target, ours, plain)
    }

    /// A side that calls a URL with tokens that are new in each turn.
    fn calls(
        &self,
        url: String,
        tokens: fn(&Issuer) -> Vec<String>,
    ) -> impl FnMut() -> anyhow::Result<f64> + '_ {
        move || {
            let clients = Clients {
                tool: "greet",
                arguments: greeting(),
                clients: CLIENTS,
                calls: CALLS,
                tokens: tokens(&self.issuer),
            };
            clients.run(&url)
        }
    }
}

/// Three processes of the server behind a load balancer. Each one can continue each session.
struct Processes {
    all: [Listening; 3],
    balancer: Listening,
}

impl Processes {
    fn start(starter: &Starter<'_>, servlet: &str) -> anyhow::Result<Self> {
        let endpoint = endpoint("mcp", "session.store = 'sealed'\n");
        let sections = format!("{SEALED}{endpoint}{servlet}");
        let start = |name| starter.configured_as(name, &sections);
        let all = [start("first")?, start("second")?, start("third")?];
        let ports: Vec<u16> = all.iter().map(Listening::port).collect::<Result<_, _>>()?;
        let balancer = balancer::start(balancer::CONFIG, starter.folder, &ports)?;
        Ok(Self { all, balancer })
    }

    /// Calls through the load balancer, and calls of one process without it.
    fn comparison(&self) -> Comparison<'_> {
        Comparison::new(
            "one process",
            "three processes, per processor",
            Target::AtLeast(0.85),
            self.calls(&self.balancer),
            self.calls(&self.all[0]),
        )
    }

    /// A side that counts calls per second of processor time, which all three processes use together.
    fn calls<'a>(&'a self, server: &'a Listening) -> impl FnMut() -> anyhow::Result<f64> + 'a {
        let mut calls = calls(CLIENTS, server, "greet", greeting(), CALLS);
        let used = || -> anyhow::Result<f64> {
            let times = self.all.iter().map(|one| one.process.processor_time());
            times.sum()
        };
        move || {
            let before = used()?;
            calls()?;
            Ok((CLIENTS * CALLS) as f64 / (used()? - before))
        }
    }
}

/// A configuration with an endpoint for each thing that is measured, except sessions in Redis. The first endpoint is `plain`.
fn config(tls_port: u16) -> String {
    let with_rules = |name: &str, bundle: &str| {
        let rules = rules(name);
        endpoint(name, &format!("bundles = ['{bundle}']\n{rules}"))
    };
    let shared = format!(
        "{SEALED}[listener.tls]\naddress = '127.0.0.1:{tls_port}'\ntls = {{ cert = 'cert.pem', key = 'key.pem' }}\n\
         [auth.corp]\nresource = '{AUDIENCE}'\n\
         jwt = [{{ issuer = '{ISSUER}', jwks = 'keys.json', audience = ['{AUDIENCE}'] }}]\n",
    );
    let tls =
        "[endpoint.tls]\nkind = 'http'\nlistener = 'tls'\npath = '/tls'\nbundles = ['spin']\n";
    let sections = [
        shared,
        endpoint("plain", "bundles = ['spin']\n"),
        endpoint("tokens", "bundles = ['spin']\nauth = 'corp'\n"),
        endpoint("sealed", "bundles = ['spin']\nsession.store = 'sealed'\n"),
        with_rules("ruled", "spin"),
        endpoint("list", "bundles = ['many']\n"),
        with_rules("ruled_list", "many"),
        tls.to_owned(),
    ];
    let tool = |number| format!("[bundle.many.tool.greet_{number}]\nhandler = 'spin:greet'\n");
    sections.into_iter().chain((0..TOOLS).map(tool)).collect()
}

/// Ten rules for an endpoint. The last one allows the call.
fn rules(endpoint: &str) -> String {
    let rule = |what: &str, name: &str| {
        format!(
            "[[endpoint.{endpoint}.rules]]\n{what} = ['*']\narguments = {{ name = {{ {name} }} }}\n"
        )
    };
    let denied = (0..9).map(|number| rule("deny", &format!("const = 'x{number}'")));
    denied.chain([rule("allow", "maxLength = 99")]).collect()
}

/// Reads a list again and again.
fn lists(url: String) -> impl FnMut() -> anyhow::Result<f64> {
    move || {
        let mut client = Client::open(&url)?;
        let begin = Instant::now();
        for _ in 0..LISTS {
            client.request("tools/list", &json!({}))?;
        }
        let rate = LISTS as f64 / begin.elapsed().as_secs_f64();
        client.close()?;
        Ok(rate)
    }
}

/// A collector that accepts all spans. Returns its port.
fn collector() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, axum::Router::new().fallback(|| async {})).await
        })
    });
    Ok(port)
}

fn redis(port: u16) -> Option<Process> {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string()]);
    command.args(["--save", "", "--appendonly", "no"]);
    let Ok(child) = command.stdout(Stdio::null()).spawn() else {
        eprintln!("bench: `redis-server` is not installed, so sessions in Redis are not compared");
        return None;
    };
    // The server of the sessions connects at once.
    thread::sleep(Duration::from_secs(1));
    Some(Process(child))
}
