//! Who may call an endpoint.

use std::sync::{Arc, PoisonError, RwLock};

use axum::http::{Extensions, request::Parts};
use mcp_servlet_access::{AuthOptions, Caller, Gate, Owner, Refusal};
use mcp_servlet_host::Host;
use rmcp::{RoleServer, service::RequestContext};
use tokio_util::sync::CancellationToken;

use crate::{message::Message, server::Server};

/// Who may call an endpoint over HTTP. A reload can replace it.
#[derive(Debug, Default)]
pub(crate) struct Access(RwLock<Rule>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    /// None if everyone may call.
    pub(crate) gate: Option<Arc<Gate>>,
    /// Cancelled when another rule decides.
    pub(crate) end: CancellationToken,
}

impl Access {
    /// Sets the gate with which the endpoint begins, unless a reload was faster.
    pub(crate) fn begin(&self, options: Option<&AuthOptions>) {
        if self.rule().gate.is_none() {
            self.replace(options);
        }
    }

    /// Sets the gate, if it differs. Callers of the previous one have to show again who they are.
    pub(crate) fn replace(&self, options: Option<&AuthOptions>) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if current.gate.as_ref().map(|gate| gate.options()) == options {
            return;
        }
        let gate = options.map(|options| {
            let gate = Arc::new(Gate::new(options.clone()));
            let preparing = Arc::clone(&gate);
            tokio::spawn(async move { preparing.prepare().await });
            gate
        });
        let end = CancellationToken::new();
        let previous = std::mem::replace(&mut *current, Rule { gate, end });
        previous.end.cancel();
    }

    pub(crate) fn rule(&self) -> Rule {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Whether the caller of a request may call a tool.
pub(crate) fn permit(extensions: &Extensions, host: &Host, tool: &str) -> Result<(), Refusal> {
    let gate = extensions.get::<Arc<Gate>>();
    let known = gate.zip(extensions.get::<Arc<Caller>>());
    match known.zip(host.origin_of(tool)) {
        Some(((gate, caller), origin)) => gate.permit(caller, origin),
        None => Ok(()),
    }
}

/// [`permit`] for a message that has not been parsed yet.
pub(crate) fn permit_message(
    extensions: &Extensions,
    server: &Server,
    message: &Message,
) -> Result<(), Refusal> {
    let gate = extensions.get::<Arc<Gate>>();
    if !gate.is_some_and(|gate| gate.has_tool_scopes()) {
        return Ok(());
    }
    match message.tool() {
        Some(tool) => permit(extensions, &server.host(), &tool),
        None => Ok(()),
    }
}

/// The owner of what a request opens. None if the endpoint has no `auth`.
pub(crate) fn owner(extensions: &Extensions) -> Option<Owner> {
    let caller = extensions.get::<Arc<Caller>>()?;
    Some(caller.owner())
}

/// [`owner`] for a request that rmcp passes to a handler.
pub(crate) fn owner_of(context: &RequestContext<RoleServer>) -> Option<Owner> {
    owner(&context.extensions.get::<Parts>()?.extensions)
}
