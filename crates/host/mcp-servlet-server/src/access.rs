//! Who may call an endpoint.

use std::sync::{Arc, PoisonError, RwLock};

use axum::http::{Extensions, request::Parts};
use mcp_servlet_access::{AuthOptions, Caller, Gate, Owner, Refusal};
use mcp_servlet_host::Host;
use rmcp::{RoleServer, service::RequestContext};
use tokio_util::sync::CancellationToken;

use crate::{message::Message, server::Server};

/// The gate of an endpoint over HTTP, if it has one. A reload can replace it.
#[derive(Debug, Default)]
pub(crate) struct Access(RwLock<Option<Arc<Guard>>>);

#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) gate: Gate,
    /// Cancelled when the gate no longer decides.
    pub(crate) end: CancellationToken,
}

impl Access {
    /// Sets the gate with which the endpoint begins, unless a reload was faster.
    pub(crate) fn begin(&self, options: Option<&AuthOptions>) {
        if self.guard().is_none() {
            self.replace(options);
        }
    }

    /// Sets the gate, if it differs. Callers of the previous one have to show again who they are.
    pub(crate) fn replace(&self, options: Option<&AuthOptions>) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().map(|guard| guard.gate.options()) == options {
            return;
        }
        let guard = options.map(|options| {
            let guard = Arc::new(Guard {
                gate: Gate::new(options.clone()),
                end: CancellationToken::new(),
            });
            let preparing = Arc::clone(&guard);
            tokio::spawn(async move { preparing.gate.prepare().await });
            guard
        });
        if let Some(previous) = std::mem::replace(&mut *current, guard) {
            previous.end.cancel();
        }
    }

    pub(crate) fn guard(&self) -> Option<Arc<Guard>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Whether the caller of a request may call a tool.
pub(crate) fn permit(extensions: &Extensions, host: &Host, tool: &str) -> Result<(), Refusal> {
    let guard = extensions.get::<Arc<Guard>>();
    let known = guard.zip(extensions.get::<Arc<Caller>>());
    match known.zip(host.origin_of(tool)) {
        Some(((guard, caller), origin)) => guard.gate.permit(caller, origin),
        None => Ok(()),
    }
}

/// The same for a message that nothing else has read yet.
pub(crate) fn permit_message(
    extensions: &Extensions,
    server: &Server,
    message: &Message,
) -> Result<(), Refusal> {
    let guard = extensions.get::<Arc<Guard>>();
    if !guard.is_some_and(|guard| guard.gate.has_tool_scopes()) {
        return Ok(());
    }
    match message.tool() {
        Some(tool) => permit(extensions, &server.host(), &tool),
        None => Ok(()),
    }
}

/// To whom belongs what a request opens. None if everyone may call.
pub(crate) fn owner(extensions: &Extensions) -> Option<Owner> {
    let caller = extensions.get::<Arc<Caller>>()?;
    Some(caller.owner())
}

/// The same for a request that rmcp hands on.
pub(crate) fn owner_of(context: &RequestContext<RoleServer>) -> Option<Owner> {
    owner(&context.extensions.get::<Parts>()?.extensions)
}
