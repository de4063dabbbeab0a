//! The functions with which servlets send HTTP requests.
//!
//! If a request fails, Extism's own function ends the call. Servlets that can read failures get
//! them from this one.

use wasmtime::{Caller, Error, Linker, Result};

use super::{json, offset, result};
use crate::{
    call::LastResponse,
    exchange::{HttpFailure, HttpRequest, HttpResponse},
    http_client::Request,
    inspect::EXTISM,
    listener::Listener,
    state::{State, messages},
    text::MAX_TEXT,
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

async fn http_request(mut caller: Caller<'_, State>, request: i64, body: i64) -> Result<i64> {
    let missing = || Error::msg("HTTP request is not in memory");
    let request = match json::text(&mut caller, request, MAX_TEXT as u64)? {
        Ok(json) => read(caller.data(), &json.ok_or_else(missing)?),
        Err(large) => Err(HttpFailure::invalid(&large)),
    };
    let response = match request {
        Ok(written) => {
            let body = messages::view(&mut caller, offset(body)).ok_or_else(missing)?;
            let written = HttpRequest {
                body: body.to_vec(),
                ..written
            };
            exchange(caller.data_mut(), written).await
        }
        Err(failure) => Err(failure),
    };
    messages::free(&mut caller, offset(body))?;
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

/// The request without its body. The body can be large, so it is not copied if the request may not be sent.
fn read(state: &State, json: &[u8]) -> Result<HttpRequest, HttpFailure> {
    let written = HttpRequest::read(json)?;
    let request = Request::of(&written)?;
    if answering(state).is_none() {
        state.shared.http.check(&request.url)?;
    }
    Ok(written)
}

/// The listener that may answer the requests of the call.
fn answering(state: &State) -> Option<&dyn Listener> {
    let listener = state.call.listener.as_deref();
    listener.filter(|listener| listener.answers_http())
}

/// Gets the response from the listener of the call, or else from the network.
async fn exchange(state: &mut State, written: HttpRequest) -> Result<HttpResponse, HttpFailure> {
    let request = Request::of(&written)?;
    if let Some(listener) = answering(state)
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
