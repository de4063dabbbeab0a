//! HTTP for servlets, to the hosts that their options allow.
//!
//! Extism's own function looks at the first address alone and follows redirects wherever they lead; here each
//! address is checked.

mod answer;
mod request;

use std::{
    collections::BTreeMap,
    io::Read as _,
    sync::{Arc, Mutex, MutexGuard},
};

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val, ValType};
use ureq::http::Response;

use crate::{
    engine::{Call, Current},
    inspect::{EXTISM, Module},
    notify::Ear,
};
pub use answer::{HttpRequest, HttpResponse};
use request::Request;

const MAX_REDIRECTS: usize = 10;

/// How much of a body is read before the next look at whether the call goes on.
const CHUNK: u64 = 64 << 10;

/// What the instances of one servlet share: connections that stay open, and where they may lead.
#[derive(Clone)]
pub(crate) struct Client {
    agent: ureq::Agent,
    allowed_hosts: Arc<[String]>,
}

impl Client {
    pub(crate) fn new(allowed_hosts: &[String]) -> Self {
        let config = ureq::Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .build();
        Self {
            agent: config.into(),
            allowed_hosts: allowed_hosts.into(),
        }
    }
}

/// What the last response said besides its body.
#[derive(Default)]
struct Last {
    status: u16,
    headers: BTreeMap<String, String>,
}

impl Last {
    fn of(response: &Response<ureq::Body>) -> Self {
        let headers = response.headers().iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        Self {
            status: response.status().as_u16(),
            headers: headers.collect(),
        }
    }
}

/// What the functions of one slot share.
#[derive(Clone)]
struct Shared {
    client: Client,
    current: Current,
    ear: Ear,
    last: Arc<Mutex<Last>>,
}

/// The functions for HTTP that `module` imports.
pub(crate) fn functions(
    module: &Module,
    client: &Client,
    current: &Current,
    ear: &Ear,
) -> Vec<Function> {
    let shared = Shared {
        client: client.clone(),
        current: current.clone(),
        ear: ear.clone(),
        last: Arc::default(),
    };
    let function = |name, inputs: &[ValType], result, run: HostFunction| {
        let shared = shared.clone();
        let run = move |plugin: &mut CurrentPlugin, inputs: &[Val], outputs: &mut [Val], _| {
            run(plugin, inputs, outputs, &shared)
        };
        let function = Function::new(name, inputs.to_vec(), [result], UserData::new(()), run);
        module
            .imports_extism(name)
            .then(|| function.with_namespace(EXTISM))
    };
    let all = [
        function("http_request", &[PTR, PTR], PTR, http_request),
        function("http_status_code", &[], ValType::I32, http_status_code),
        function("http_headers", &[], PTR, http_headers),
    ];
    all.into_iter().flatten().collect()
}

type HostFunction = fn(&mut CurrentPlugin, &[Val], &mut [Val], &Shared) -> Result<(), Error>;

fn http_request(
    plugin: &mut CurrentPlugin,
    inputs: &[Val],
    outputs: &mut [Val],
    shared: &Shared,
) -> Result<(), Error> {
    let [ask, body] = inputs else {
        return Err(Error::msg("http_request takes two values"));
    };
    let ask = take(plugin, ask)?;
    let body = match body {
        Val::I64(0) => None,
        at => Some(take(plugin, at)?),
    };
    let (last, body) = shared.exchange(&ask, body)?;
    *shared.remembered()? = last;
    let handle = plugin.memory_new(body)?;
    outputs[0] = plugin.memory_to_val(handle);
    Ok(())
}

fn http_status_code(
    _: &mut CurrentPlugin,
    _: &[Val],
    outputs: &mut [Val],
    shared: &Shared,
) -> Result<(), Error> {
    outputs[0] = Val::I32(shared.remembered()?.status.into());
    Ok(())
}

fn http_headers(
    plugin: &mut CurrentPlugin,
    _: &[Val],
    outputs: &mut [Val],
    shared: &Shared,
) -> Result<(), Error> {
    let headers = serde_json::to_string(&shared.remembered()?.headers)?;
    let handle = plugin.memory_new(headers)?;
    outputs[0] = plugin.memory_to_val(handle);
    Ok(())
}

/// Takes a block out of the servlet's messages.
fn take(plugin: &mut CurrentPlugin, at: &Val) -> Result<Vec<u8>, Error> {
    let handle = plugin.memory_from_val(at);
    let handle = handle.ok_or_else(|| Error::msg("HTTP request is not in memory"))?;
    let bytes = plugin.memory_bytes(handle)?.to_vec();
    plugin.memory_free(handle)?;
    Ok(bytes)
}

impl Shared {
    fn remembered(&self) -> Result<MutexGuard<'_, Last>, Error> {
        self.last
            .lock()
            .map_err(|_| Error::msg("an earlier HTTP request panicked"))
    }

    /// Answers a request: the listener of the call does, or the network.
    fn exchange(&self, ask: &[u8], body: Option<Vec<u8>>) -> Result<(Last, Vec<u8>), Error> {
        let listener = self.ear.listener();
        if let Some(listener) = listener.filter(|listener| listener.answers_http()) {
            let request = HttpRequest::read(ask, body.clone().unwrap_or_default())?;
            if let Some(answer) = listener.answer_http(&request) {
                let HttpResponse {
                    status,
                    headers,
                    body,
                } = answer;
                return Ok((Last { status, headers }, body));
            }
        }
        let mut ask = Request::read(ask)?;
        ask.body = body;
        let response = self.send(ask)?;
        let last = Last::of(&response);
        Ok((last, self.read(response)?))
    }

    /// The call on whose behalf a request is sent.
    fn call(&self) -> Result<Arc<Call>, Error> {
        let call = self.current.get();
        call.ok_or_else(|| Error::msg("HTTP requests can be sent in calls only"))
    }

    /// Sends a request and follows where the answer leads, as far as that is allowed.
    fn send(&self, mut ask: Request) -> Result<Response<ureq::Body>, Error> {
        let call = self.call()?;
        let limit = call.limits().http_requests;
        if let Some(limit) = limit.filter(|limit| call.count_request() >= *limit) {
            return Err(Error::msg(format!(
                "one call may send {limit} HTTP requests, and this is another one"
            )));
        }
        for _ in 0..=MAX_REDIRECTS {
            if !ask.is_allowed(self.client.allowed_hosts.iter()) {
                return Err(Error::msg(format!(
                    "HTTP request to {} is not allowed",
                    ask.origin()
                )));
            }
            let response = ask.send(&self.client.agent, call.time_left());
            let response = response.map_err(|error| timeout(error, &call))?;
            match ask.redirected(&response) {
                Some(next) => ask = next,
                None => return Ok(response),
            }
        }
        Err(Error::msg(format!(
            "more than {MAX_REDIRECTS} redirects, the last to {}",
            ask.origin()
        )))
    }

    /// Reads a body as far as it may go, and as long as somebody waits for it.
    fn read(&self, response: Response<ureq::Body>) -> Result<Vec<u8>, Error> {
        let call = self.call()?;
        let mut reader = response
            .into_body()
            .into_with_config()
            .limit(u64::MAX)
            .reader();
        let mut body = Vec::new();
        loop {
            let chunk = (&mut reader).take(CHUNK).read_to_end(&mut body);
            let read = chunk.map_err(|error| timeout(error.into(), &call))?;
            let limit = call.limits().http_response;
            if let Some(limit) = limit.filter(|limit| body.len() as u64 > *limit) {
                return Err(Error::msg(format!(
                    "the HTTP response is larger than {limit} bytes"
                )));
            }
            if read == 0 {
                return Ok(body);
            }
            if call.stopping().is_some() {
                return Err(Error::msg("the call was stopped"));
            }
        }
    }
}

/// Tells a call whose time ended during a request from a request that failed.
fn timeout(error: ureq::Error, call: &Call) -> Error {
    if matches!(error, ureq::Error::Timeout(_)) {
        call.expire();
    }
    Error::new(error)
}
