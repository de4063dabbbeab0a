//! HTTP for servlets, limited to the hosts that their options allow.
//!
//! Extism's own function checks only the first URL, follows all redirects, and ends the call if a
//! request fails. This one checks each URL and each resolved address. Servlets that can read
//! failures get them.

mod address;
mod deadline;
mod failure;
mod proxy;
mod request;

use std::{
    collections::BTreeMap,
    io::Read as _,
    sync::{Arc, Mutex, MutexGuard},
};

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val, ValType};
use mcp_servlet_types::{HTTP_ERRORS, HttpErrorKind};
use ureq::{
    http::Response,
    unversioned::{resolver::DefaultResolver, transport::DefaultConnector},
};
use url::Url;

use super::notify::CurrentListener;
use crate::{
    call::{Call, Current},
    exchange::{HttpFailure, HttpRequest, HttpResponse},
    glob,
    inspect::{EXTISM, Module},
    options::{LoadOptions, Proxy},
};
use address::Addresses;
use deadline::Deadline;
use failure::Ended;
use request::Request;

const MAX_REDIRECTS: usize = 10;

/// How much of a body is read before the next check whether the call goes on.
const CHUNK: u64 = 64 << 10;

/// The HTTP client that the instances of one servlet share: open connections and allowed addresses.
#[derive(Clone)]
pub(crate) struct Client {
    agent: ureq::Agent,
    allowed_hosts: Arc<[String]>,
    /// The private addresses that may be sent to the proxy; `None` without a proxy.
    proxied: Option<Addresses>,
}

impl Client {
    pub(crate) fn new(options: &LoadOptions) -> Self {
        let proxy = options.proxy.as_ref().map(Proxy::to_ureq);
        let config = ureq::Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            // Otherwise ureq would use the proxy of the environment.
            .proxy(proxy.clone())
            .build();
        let (connector, addresses) = (DefaultConnector::default(), Addresses::of(options));
        let (agent, proxied) = if proxy.is_some() {
            // Only the name of the proxy is resolved here, and the proxy may have a private address.
            let agent = ureq::Agent::with_parts(config, connector, DefaultResolver::default());
            (agent, Some(addresses))
        } else {
            let agent = ureq::Agent::with_parts(config, connector, addresses);
            (agent, None)
        };
        Self {
            agent,
            allowed_hosts: options.allowed_hosts.as_slice().into(),
            proxied,
        }
    }

    /// Whether the URL of a request is allowed.
    fn check(&self, ask: &Request) -> Result<(), HttpFailure> {
        let host = ask.url.host_str().unwrap_or_default();
        let mut patterns = self.allowed_hosts.iter();
        if !patterns.any(|pattern| glob::matches(pattern, host)) {
            return Err(HttpFailure::host_denied(&ask.url));
        }
        match &self.proxied {
            Some(addresses) if !addresses.allow_name(host) => {
                Err(HttpFailure::address_denied(&ask.url))
            }
            _ => Ok(()),
        }
    }

    /// Marks an error of the network as one of the proxy, if there is a proxy.
    fn explained(&self, error: ureq::Error) -> ureq::Error {
        match self.proxied {
            Some(_) => proxy::explained(error),
            None => error,
        }
    }
}

/// Status and headers of the last response.
#[derive(Default)]
struct Last {
    status: u16,
    headers: BTreeMap<String, String>,
}

impl Last {
    /// A failure: its code is lower than any HTTP status.
    fn failed(kind: HttpErrorKind) -> Self {
        Self {
            status: kind.code(),
            headers: BTreeMap::new(),
        }
    }

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
    /// Whether the module can read failures. If not, a failure ends the call.
    reads_failures: bool,
    client: Client,
    current: Current,
    listener: CurrentListener,
    last: Arc<Mutex<Last>>,
}

/// The HTTP functions that `module` imports.
pub(crate) fn functions(
    module: &Module,
    client: &Client,
    current: &Current,
    listener: &CurrentListener,
) -> Vec<Function> {
    let mut sections = module.sections.iter();
    let shared = Shared {
        reads_failures: sections.any(|section| section.name == HTTP_ERRORS),
        client: client.clone(),
        current: current.clone(),
        listener: listener.clone(),
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
        return Err(Error::msg("`http_request` expects two values"));
    };
    let ask = take(plugin, ask)?;
    let body = match body {
        Val::I64(0) => None,
        at => Some(take(plugin, at)?),
    };
    let (last, body) = match shared.exchange(&ask, body) {
        Err(Ended::Failed(failure)) if shared.reads_failures => {
            (Last::failed(failure.kind), failure.message.into_bytes())
        }
        Err(Ended::Failed(failure)) => {
            if let (Some(denied), Some(call)) = (failure.denied.clone(), shared.current.get()) {
                call.deny(denied);
            }
            return Err(Error::new(failure));
        }
        outcome => outcome.map_err(Error::new)?,
    };
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

/// Copies a block of the servlet's memory and frees it.
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

    /// Gets the response from the listener of the call, or else from the network.
    fn exchange(&self, ask: &[u8], body: Option<Vec<u8>>) -> Result<(Last, Vec<u8>), Ended> {
        let mut request = Request::read(ask)?;
        let listener = self.listener.listener();
        if let Some(listener) = listener.filter(|listener| listener.answers_http()) {
            let request = HttpRequest::read(ask, body.clone().unwrap_or_default());
            let request = request.map_err(Error::new)?;
            if let Some(answer) = listener.answer_http(&request) {
                let HttpResponse {
                    status,
                    headers,
                    body,
                } = answer?;
                return Ok((Last { status, headers }, body));
            }
        }
        request.body = body;
        let call = self.current.get();
        let call = call.ok_or_else(|| Error::msg("HTTP requests can be sent in calls only"))?;
        let deadline = Deadline::of(&call);
        let (url, response) = self.send(request, &call, &deadline)?;
        let last = Last::of(&response);
        Ok((last, read(response, &url, &call, &deadline)?))
    }

    /// Sends a request and follows allowed redirects.
    fn send(
        &self,
        mut ask: Request,
        call: &Call,
        deadline: &Deadline<'_>,
    ) -> Result<(Url, Response<ureq::Body>), Ended> {
        let limit = call.limits().http_requests;
        if let Some(limit) = limit.filter(|limit| call.count_request() >= *limit) {
            let message = format!("a call may send at most {limit} HTTP requests");
            return Err(HttpFailure::new(HttpErrorKind::TooManyRequests, message).into());
        }
        for _ in 0..=MAX_REDIRECTS {
            self.client.check(&ask)?;
            let response = ask.send(&self.client.agent, deadline.left());
            let response =
                response.map_err(|error| deadline.ended(self.client.explained(error), &ask.url))?;
            match ask.redirected(&response)? {
                Some(next) => ask = next,
                None => return Ok((ask.url, response)),
            }
        }
        let message = format!(
            "more than {MAX_REDIRECTS} redirects, the last to {}",
            failure::origin(&ask.url)
        );
        Err(HttpFailure::new(HttpErrorKind::TooManyRedirects, message).into())
    }
}

/// Reads a body up to its limit, for as long as the call goes on.
fn read(
    response: Response<ureq::Body>,
    url: &Url,
    call: &Call,
    deadline: &Deadline<'_>,
) -> Result<Vec<u8>, Ended> {
    let mut reader = response
        .into_body()
        .into_with_config()
        .limit(u64::MAX)
        .reader();
    let mut body = Vec::new();
    loop {
        let chunk = (&mut reader).take(CHUNK).read_to_end(&mut body);
        let read = chunk.map_err(|error| deadline.ended(error.into(), url))?;
        let limit = call.limits().http_response;
        if let Some(limit) = limit.filter(|limit| body.len() as u64 > *limit) {
            let message = format!("the HTTP response is larger than {limit} bytes");
            return Err(HttpFailure::new(HttpErrorKind::TooLarge, message).into());
        }
        if read == 0 {
            return Ok(body);
        }
        if call.stopping().is_some() {
            return Err(Error::msg("the call was stopped").into());
        }
    }
}
