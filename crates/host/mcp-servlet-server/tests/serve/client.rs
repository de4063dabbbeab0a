//! A server on a port of its own, and clients.

use std::{sync::Arc, thread::JoinHandle};

use mcp_servlet_host::Host;
use mcp_servlet_server::{HttpOptions, Plan, ServeOptions, Server, Service};
use serde_json::Value;
use tokio::runtime::Runtime;
use wire::{Answer, Http, message::response};

/// A server on a port of its own, and a client.
pub(crate) struct Served {
    pub(crate) service: Arc<Service>,
    pub(crate) server: Server,
    pub(crate) http: Http,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    pub(crate) fn start(host: Host) -> Self {
        Self::start_with(host, ServeOptions::default(), HttpOptions::default())
    }

    pub(crate) fn start_with(host: Host, options: ServeOptions, http: HttpOptions) -> Self {
        let mut plan = Plan::from_host(host);
        plan.options = options;
        Self::start_plan(plan, http)
    }

    /// Serves a plan over HTTP.
    pub(crate) fn start_plan(mut plan: Plan, http: HttpOptions) -> Self {
        plan.transports.http = Some(("127.0.0.1:0".to_owned(), http));
        let runtime = Runtime::new().expect("a runtime");
        let service = runtime.block_on(Service::start(plan));
        let service = Arc::new(service.unwrap_or_else(|error| panic!("{error}")));
        let serving = Arc::clone(&service);
        let thread = std::thread::spawn(move || {
            runtime.block_on(serving.run()).expect("no error");
        });
        Self {
            server: service.server().clone(),
            http: Http::new(format!("http://{}/mcp", service.listeners()[0].address)),
            service,
            thread: Some(thread),
        }
    }

    /// Sends a request since 2026-07-28.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Answer {
        self.http.ask(method, params)
    }

    /// Opens a session.
    pub(crate) fn open(&self) -> Http {
        self.http.open()
    }
}

/// Gives a result to each request on a stream, until the response arrives.
pub(crate) fn converse(
    session: &Http,
    stream: Answer,
    mut result: impl FnMut(&Value) -> Value,
) -> Value {
    for heard in stream.into_events() {
        if heard.get("method").is_none() {
            return heard;
        }
        let reply = response(&heard, result(&heard));
        assert_eq!(session.post(&reply).status(), 202);
    }
    panic!("the stream ended without a response");
}

/// The first messages on the stream of a session that belong to no request, after `act` has run.
pub(crate) fn notifications<const N: usize>(session: &Http, act: impl FnOnce()) -> [Value; N] {
    let mut messages = session.listen().into_events();
    act();
    std::array::from_fn(|_| messages.next().expect("a message"))
}

/// Sends a request, drops the stream as soon as it has begun, and resumes it.
pub(crate) fn lose_and_resume(session: &Http, message: &Value) -> Answer {
    let mut lines = session.post(message).into_lines();
    let last = lines.find_map(|line| Some(line.strip_prefix("id:")?.trim().to_owned()));
    let last = last.expect("the stream says how to resume it");
    drop(lines);
    session.with("last-event-id", &last).listen()
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.begin_stop();
        let ended = self.thread.take().expect("a thread").join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

/// A service without listeners.
pub(crate) async fn start(host: Host, options: ServeOptions) -> Service {
    let mut plan = Plan::from_host(host);
    plan.options = options;
    let started = Service::start(plan).await;
    started.unwrap_or_else(|error| panic!("{error}"))
}
