//! Several processes behind a HAProxy with the configuration of `deploy`.

use std::{
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::json;
use tempfile::TempDir;

use super::{Server, eventually, is_installed, request, text};

const CLIENTS: usize = 8;

/// The rest of a configuration with one endpoint.
const ENDPOINT: &str = "[listener.local]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.main]\nkind = \"http\"\nlistener = \"local\"\nsession.store = \"sealed\"\n\
    [server]\nstate_keys = [\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n\
    [servlet.a]\nsource = \"a.wasm\"\n";

/// A HAProxy. It is killed when this value is dropped.
struct Balancer {
    child: Child,
    address: String,
    _folder: TempDir,
}

impl Balancer {
    /// A HAProxy with the file of `deploy` in front of other addresses. `edit` changes it.
    fn start(servers: &[Server], edit: impl Fn(String) -> String) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address").to_string();
        let given = text("haproxy.cfg");
        let (rest, _) = given.split_once("    server a ").expect("the first server");
        let rest = rest.replace("bind :80", &format!("bind {address}"));
        let servers = servers.iter().enumerate();
        let servers = servers.map(|(at, server)| format!("    server s{at} {}\n", server.address));
        let config = edit(rest) + &servers.collect::<String>();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("haproxy.cfg");
        fs::write(&path, config).expect("a file");
        drop(free);
        let child = Command::new("haproxy")
            .arg("-db")
            .arg("-f")
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        let balancer = Self {
            child,
            address,
            _folder: folder,
        };
        eventually("HAProxy", || {
            let health = request(&balancer.address, "GET", "/health", "", "");
            health.is_some_and(|(status, _)| status == 200)
        });
        balancer
    }

    fn post(&self, headers: &str, body: &str) -> Option<(u16, String)> {
        let headers = format!(
            "content-type: application/json\r\naccept: application/json, text/event-stream\r\n{headers}"
        );
        request(&self.address, "POST", "/mcp", &headers, body)
    }

    /// Opens a session, and returns its id.
    fn open(&self) -> String {
        let client = json!({ "name": "c", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let (status, response) = self.post("", &body.to_string()).expect("a response");
        assert_eq!(status, 200, "{response}");
        let mut lines = response.lines();
        let id = lines.find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id")
                .then(|| value.to_owned())
        });
        id.unwrap_or_else(|| panic!("no session in {response}"))
    }

    /// The status of a call in a session.
    fn call(&self, id: &str) -> Option<u16> {
        let params = json!({ "name": "t", "arguments": {} });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let (status, _) = self.post(&format!("mcp-session-id: {id}\r\n"), &body.to_string())?;
        Some(status)
    }

    /// The status of a call since 2026-07-28.
    fn call_alone(&self) -> Option<u16> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "t", "arguments": {}, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let headers =
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: t\r\n";
        let (status, _) = self.post(headers, &body.to_string())?;
        Some(status)
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What clients got that call all the time.
#[derive(Default)]
struct Counts {
    ok: AtomicUsize,
    failed: AtomicUsize,
    end: AtomicBool,
}

/// Lets the clients end, also if the test fails.
struct Ends<'c>(&'c Counts);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end.store(true, Ordering::Relaxed);
    }
}

/// Calls without a session from several clients while `meanwhile` runs.
fn under_load(balancer: &Balancer, meanwhile: impl FnOnce(&Counts)) -> (usize, usize) {
    let counts = Arc::new(Counts::default());
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            let counts = Arc::clone(&counts);
            scope.spawn(move || {
                while !counts.end.load(Ordering::Relaxed) {
                    let count = match balancer.call_alone() {
                        Some(200) => &counts.ok,
                        _ => &counts.failed,
                    };
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let _end = Ends(&counts);
        meanwhile(&counts);
    });
    (
        counts.ok.load(Ordering::Relaxed),
        counts.failed.load(Ordering::Relaxed),
    )
}

/// Waits for this many more answers.
fn more(counts: &Counts, number: usize) {
    let goal = counts.ok.load(Ordering::Relaxed) + number;
    eventually("more answers", || counts.ok.load(Ordering::Relaxed) >= goal);
}

fn three(more: &str) -> Vec<Server> {
    let config = format!("{more}{ENDPOINT}");
    (0..3).map(|_| Server::start(&config)).collect()
}

#[test]
fn a_process_that_is_killed_takes_only_its_own_calls_along() {
    if !is_installed("haproxy") {
        return;
    }
    let mut servers = three("");
    let balancer = Balancer::start(&servers, |config| config);
    let (ok, failed) = under_load(&balancer, |counts| {
        more(counts, 100);
        servers[0].kill();
        more(counts, 200);
    });
    // Each client waits for one answer at a time.
    assert!(failed <= CLIENTS, "{failed} failed, {ok} did not");
}

#[test]
fn a_process_that_leaves_loses_no_call() {
    if !is_installed("haproxy") {
        return;
    }
    let mut servers = three("http.leave = \"3s\"\n");
    let fast = |config: String| {
        config
            .replace("check inter 1s", "check inter 200ms")
            .replace("timeout client", "timeout check 10s\n    timeout client")
    };
    let balancer = Balancer::start(&servers, fast);
    let (ok, failed) = under_load(&balancer, |counts| {
        more(counts, 50);
        servers[0].signal("-TERM");
        let ended = servers[0].child.wait().expect("an end");
        assert!(ended.success(), "{ended:?}");
        more(counts, 50);
    });
    assert_eq!(failed, 0, "{ok} did not fail");
}

#[test]
fn no_sealed_session_is_lost_behind_a_load_balancer() {
    if !is_installed("haproxy") {
        return;
    }
    let by_turns =
        |config: String| config.replace("balance hdr(Mcp-Session-Id)", "balance roundrobin");
    let by_session = |config: String| config;
    let ways: [&dyn Fn(String) -> String; 2] = [&by_turns, &by_session];
    for way in ways {
        let mut servers = three("");
        let balancer = Balancer::start(&servers, way);
        let ids: Vec<_> = (0..200).map(|_| balancer.open()).collect();
        let lost = || {
            let calls = ids.iter().map(|id| balancer.call(id));
            calls.filter(|status| *status != Some(200)).count()
        };
        assert_eq!(lost(), 0);
        servers[0].kill();
        // Until HAProxy has noticed, it tries the next process.
        thread::sleep(Duration::from_millis(100));
        assert_eq!(lost(), 0);
    }
}
