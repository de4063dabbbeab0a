//! The functions with which servlets send HTTP requests.
//!
//! If a request fails, Extism's own function ends the call. Servlets that can read failures get
//! them from this one.

use wasmtime::{Caller, Error, Linker, Result};

use super::{argument, json, result};
use crate::{
    call::LastResponse,
    exchange::{HttpFailure, HttpRequest, HttpResponse},
    http_client::Request,
    inspect::EXTISM,
    state::State,
};

pub(super) fn link(linker: &mut Linker<State>) -> Result<()> {
    linker
        .func_wrap_async(EXTISM, "http_request", |caller, (request, body)| {
            Box::new(http_request(caller, request, body))
        })?
        .func_wrap(EXTISM, "http_status_code", status_code)?
        .func_wrap(EXTISM, "http_headers", headers)?;
    Ok(())
}

/// The maximum size of the JSON of a request in bytes. Its body is not a part of it.
const REQUEST: u64 = 1 << 20;

async fn http_request(mut caller: Caller<'_, State>, request: i64, body: i64) -> Result<i64> {
    let missing = || Error::msg("HTTP request is not in memory");
    let request = match json::text(&mut caller, request, REQUEST)? {
        Ok(request) => Ok(request.ok_or_else(missing)?),
        Err(large) => Err(HttpFailure::invalid(&large)),
    };
    let body = match body {
        0 => None,
        at => Some(argument(&mut caller, at)?.ok_or_else(missing)?),
    };
    let response = match request {
        Ok(request) => exchange(caller.data_mut(), &request, body).await,
        Err(failure) => Err(failure),
    };
    let (last, body) = match response {
        Ok(HttpResponse {
            status,
            headers,
            body,
        }) => (LastResponse { status, headers }, body),
        Err(failure) if caller.data().shared.reads_failures => {
            // A code that is lower than any HTTP status.
            let last = LastResponse {
                status: failure.kind.code(),
                ..LastResponse::default()
            };
            (last, failure.message.into_bytes())
        }
        Err(failure) => return Err(failure.into()),
    };
    caller.data_mut().call.last_response = last;
    result(&mut caller, &body)
}

fn status_code(caller: Caller<'_, State>) -> i32 {
    caller.data().call.last_response.status.into()
}

fn headers(mut caller: Caller<'_, State>) -> Result<i64> {
    let headers = serde_json::to_string(&caller.data().call.last_response.headers)?;
    result(&mut caller, headers.as_bytes())
}

/// Gets the response from the listener of the call, or else from the network.
async fn exchange(
    state: &mut State,
    json: &[u8],
    body: Option<Vec<u8>>,
) -> Result<HttpResponse, HttpFailure> {
    let written = HttpRequest::read(json, body.unwrap_or_default())?;
    let request = Request::of(&written)?;
    if let Some(listener) = &state.call.listener
        && listener.answers_http()
        && let Some(answer) = listener.answer_http(&written)
    {
        return answer;
    }
    let limits = state.call.limits;
    if let Some(limit) = limits
        .http_requests
        .filter(|limit| state.call.http_requests >= *limit)
    {
        return Err(HttpFailure::too_many_requests(limit));
    }
    state.call.http_requests += 1;
    let request = request.with_body(written.body);
    state.shared.http.send(request, &limits).await
}
