//! HTTP for servlets, to the hosts that their options allow.
//!
//! Extism's own function looks at the first address alone and follows redirects wherever they lead; here each
//! address is checked.

mod request;

use std::{
    collections::BTreeMap,
    io::Read as _,
    sync::{Arc, Mutex, MutexGuard},
};

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val, ValType};
use ureq::http::Response;

use crate::inspect::{EXTISM, Module};
use request::Request;

const MAX_REDIRECTS: usize = 10;
const MAX_RESPONSE: u64 = 50 * 1024 * 1024;

/// What the last response said besides its body.
#[derive(Default)]
struct Last {
    status: u16,
    headers: BTreeMap<String, String>,
}

/// The functions for HTTP that `module` imports.
pub(crate) fn functions(module: &Module) -> Vec<Function> {
    let last = Shared::default();
    let function = |name, inputs: &[ValType], result, run: HostFunction| {
        let last = Arc::clone(&last);
        let run = move |plugin: &mut CurrentPlugin, inputs: &[Val], outputs: &mut [Val], _| {
            run(plugin, inputs, outputs, &last)
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

type Shared = Arc<Mutex<Last>>;
type HostFunction = fn(&mut CurrentPlugin, &[Val], &mut [Val], &Shared) -> Result<(), Error>;

fn http_request(
    plugin: &mut CurrentPlugin,
    inputs: &[Val],
    outputs: &mut [Val],
    last: &Shared,
) -> Result<(), Error> {
    let [ask, body] = inputs else {
        return Err(Error::msg("http_request takes two values"));
    };
    let mut ask = Request::read(&take(plugin, ask)?)?;
    ask.body = match body {
        Val::I64(0) => None,
        at => Some(take(plugin, at)?),
    };
    let response = send(plugin, ask)?;
    let headers = response.headers().iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    *remembered(last)? = Last {
        status: response.status().as_u16(),
        headers: headers.collect(),
    };
    let mut body = Vec::new();
    response
        .into_body()
        .into_reader()
        .take(MAX_RESPONSE + 1)
        .read_to_end(&mut body)?;
    if body.len() as u64 > MAX_RESPONSE {
        return Err(Error::msg(format!(
            "the HTTP response is larger than {MAX_RESPONSE} bytes"
        )));
    }
    let handle = plugin.memory_new(body)?;
    outputs[0] = plugin.memory_to_val(handle);
    Ok(())
}

fn http_status_code(
    _: &mut CurrentPlugin,
    _: &[Val],
    outputs: &mut [Val],
    last: &Shared,
) -> Result<(), Error> {
    outputs[0] = Val::I32(remembered(last)?.status.into());
    Ok(())
}

fn http_headers(
    plugin: &mut CurrentPlugin,
    _: &[Val],
    outputs: &mut [Val],
    last: &Shared,
) -> Result<(), Error> {
    let headers = serde_json::to_string(&remembered(last)?.headers)?;
    let handle = plugin.memory_new(headers)?;
    outputs[0] = plugin.memory_to_val(handle);
    Ok(())
}

fn remembered(last: &Shared) -> Result<MutexGuard<'_, Last>, Error> {
    last.lock()
        .map_err(|_| Error::msg("an earlier HTTP request panicked"))
}

/// Takes a block out of the servlet's messages.
fn take(plugin: &mut CurrentPlugin, at: &Val) -> Result<Vec<u8>, Error> {
    let handle = plugin.memory_from_val(at);
    let handle = handle.ok_or_else(|| Error::msg("HTTP request is not in memory"))?;
    let bytes = plugin.memory_bytes(handle)?.to_vec();
    plugin.memory_free(handle)?;
    Ok(bytes)
}

/// Sends a request and follows where the answer leads, as far as that is allowed.
fn send(plugin: &CurrentPlugin, mut ask: Request) -> Result<Response<ureq::Body>, Error> {
    for _ in 0..=MAX_REDIRECTS {
        let allowed = plugin.manifest().allowed_hosts.iter().flatten();
        if !ask.is_allowed(allowed) {
            return Err(Error::msg(format!(
                "HTTP request to {} is not allowed",
                ask.url
            )));
        }
        let config = ureq::Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_global(plugin.time_remaining())
            .build();
        let response = ask.send(&config.into()).map_err(|error| match error {
            // The same text as for a servlet that computes for too long.
            ureq::Error::Timeout(_) => Error::msg("timeout"),
            error => Error::new(error),
        })?;
        match ask.redirected(&response) {
            Some(next) => ask = next,
            None => return Ok(response),
        }
    }
    Err(Error::msg(format!(
        "more than {MAX_REDIRECTS} redirects, the last to {}",
        ask.url
    )))
}
