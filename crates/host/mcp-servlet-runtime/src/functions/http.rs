//! The functions with which servlets send HTTP requests.
//!
//! If a request fails, Extism's own function ends the call. Servlets that can read failures get
//! them from this one.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use mcp_servlet_call::{HttpFailure, HttpRequest, HttpResponse, Limits, Listener};
use mcp_servlet_http::{Request, Room, failure};
use serde_json::{Value, json};
use wasmtime::{Caller, Error, Linker, Result};

use super::{json, offset, result};
use crate::{
    call::LastResponse,
    http_client::Client,
    inspect::EXTISM,
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
    let response = match json::text(&mut caller, request, MAX_TEXT as u64)? {
        Ok(json) => {
            let json = json.ok_or_else(missing)?;
            if json.starts_with(b"[") && caller.data().shared.reads_failures {
                several(&mut caller, &json, body).await?
            } else {
                one(&mut caller, &json, body).await?
            }
        }
        Err(large) => Err(HttpFailure::invalid(&large)),
    };
    messages::free(&mut caller, offset(body))?;
    let (last, body) = match response {
        Ok(response) => response,
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

fn missing() -> Error {
    Error::msg("HTTP request is not in memory")
}

/// What the servlet gets: status and headers, and the block with the body.
type Response = Result<(LastResponse, Vec<u8>), HttpFailure>;

/// Sends one request.
async fn one(caller: &mut Caller<'_, State>, json: &[u8], body: i64) -> Result<Response> {
    let written = HttpRequest::read(json).and_then(|written| allowed(caller.data(), written));
    let written = match written {
        Ok(written) => written,
        Err(failure) => return Ok(Err(failure)),
    };
    let body = messages::view(caller, offset(body))
        .ok_or_else(missing)?
        .to_vec();
    let begun = begin(caller.data_mut(), HttpRequest { body, ..written });
    let state = caller.data();
    let (client, limits) = (&state.shared.http, &state.call.limits);
    let response = begun.end(client, limits, &Room::default()).await;
    Ok(response.map(|response| {
        let last = LastResponse {
            status: response.status,
            headers: json!(response.headers),
        };
        (last, response.body)
    }))
}

/// Sends the requests of a list at the same time: see [`HTTP_ALL`](mcp_servlet_types::HTTP_ALL). Each has the limits of a
/// request; the bodies of their responses together fit in the memory of the servlet.
async fn several(caller: &mut Caller<'_, State>, json: &[u8], bodies: i64) -> Result<Response> {
    let requests: Vec<(Value, usize)> = match serde_json::from_slice(json) {
        Ok(requests) => requests,
        Err(error) => return Ok(Err(HttpFailure::invalid(&error))),
    };
    let mut begun = Vec::new();
    let mut start = 0_usize;
    for (written, length) in requests {
        let end = start.checked_add(length).ok_or_else(missing)?;
        let written = HttpRequest::of(&written).and_then(|written| allowed(caller.data(), written));
        begun.push(match written {
            Ok(written) => {
                let bodies = messages::view(caller, offset(bodies)).ok_or_else(missing)?;
                let body = bodies.get(start..end).ok_or_else(missing)?.to_vec();
                begin(caller.data_mut(), HttpRequest { body, ..written })
            }
            Err(failure) => Begun::Over(Err(failure)),
        });
        start = end;
    }
    let state = caller.data();
    let (client, limits) = (&state.shared.http, &state.call.limits);
    let room = Room::of(limits.memory.value());
    let sent = begun.into_iter().map(|one| one.end(client, limits, &room));
    // A request that waits for another one of the list does not use up its time.
    let responses: Vec<_> = stream::iter(sent)
        .buffered(client.concurrency())
        .collect()
        .await;
    let (mut heads, mut bodies) = (Vec::new(), Vec::new());
    for response in responses {
        let (status, headers, body) = match response {
            Ok(response) => (response.status, response.headers, response.body),
            Err(failure) => {
                let message = failure.message.into_bytes();
                (failure.kind.code(), BTreeMap::new(), message)
            }
        };
        heads.push(json!([status, headers, body.len()]));
        bodies.extend_from_slice(&body);
    }
    let last = LastResponse {
        status: 200,
        headers: heads.into(),
    };
    Ok(Ok((last, bodies)))
}

fn status_code(caller: Caller<'_, State>) -> i32 {
    caller.data().call.last_response.status.into()
}

fn headers(mut caller: Caller<'_, State>) -> Result<i64> {
    let headers = serde_json::to_string(&caller.data().call.last_response.headers)?;
    result(&mut caller, headers.as_bytes())
}

/// Passes a request on if it may be sent. It has no body yet: that can be large, so it is only copied then.
fn allowed(state: &State, written: HttpRequest) -> Result<HttpRequest, HttpFailure> {
    let request = Request::of(&written)?;
    if answering(state).is_none() {
        state.shared.http.check_url(&request.url)?;
    }
    Ok(written)
}

/// The listener that may answer the requests of the call.
fn answering(state: &State) -> Option<&dyn Listener> {
    let listener = state.call.listener.as_deref();
    listener.filter(|listener| listener.answers_http())
}

/// A request that counts, and is not sent yet.
enum Begun {
    /// The listener of the call has answered it, or a limit does not allow it.
    Over(Result<HttpResponse, HttpFailure>),
    Send(Request),
}

fn begin(state: &mut State, written: HttpRequest) -> Begun {
    let request = match Request::of(&written) {
        Ok(request) => request,
        Err(failure) => return Begun::Over(Err(failure)),
    };
    if let Some(listener) = answering(state)
        && let Some(answer) = listener.answer_http(&written)
    {
        return Begun::Over(answer);
    }
    let limit = state.call.limits.http_requests.value();
    if let Some(limit) = limit.filter(|limit| state.call.http_requests >= *limit) {
        return Begun::Over(Err(failure::too_many_requests(limit)));
    }
    state.call.http_requests += 1;
    Begun::Send(request.with_body(written.body))
}

impl Begun {
    async fn end(
        self,
        client: &Client,
        limits: &Limits,
        room: &Room,
    ) -> Result<HttpResponse, HttpFailure> {
        match self {
            Self::Over(response) => response,
            Self::Send(request) => client.send(request, limits, room).await,
        }
    }
}
