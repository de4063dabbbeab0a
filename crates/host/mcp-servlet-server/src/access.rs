//! Who may call an endpoint, and what.

use std::{
    future::Future,
    sync::{Arc, RwLock},
};

use axum::http::{Extensions, request::Parts};
use mcp_servlet_access::{
    AuthOptions, Caller, Gate, Owner, Refusal,
    quota::{Quota, Quotas},
    rules::Rules,
};
use mcp_servlet_call::Nursery;
use mcp_servlet_common::{read_lock, write_lock};
use mcp_servlet_host::{Host, Servlet};
use rmcp::{RoleServer, service::RequestContext};
use tokio_util::sync::CancellationToken;

use crate::{
    hooks::{CurrentHooks, SessionHooks},
    message::Message,
    permissions::Permissions,
    server::Server,
};

/// The gate of an endpoint over HTTP, and the rules, quotas and hooks of its callers. A reload can replace all of it.
#[derive(Debug)]
pub(crate) struct Access {
    gate: RwLock<CurrentGate>,
    rules: RwLock<Arc<Rules>>,
    quotas: RwLock<Arc<Quotas>>,
    hooks: RwLock<Arc<CurrentHooks>>,
    /// Where gates prepare.
    nursery: Nursery,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CurrentGate {
    /// None if everyone may call.
    pub(crate) gate: Option<Arc<Gate>>,
    /// Cancelled when another gate decides.
    pub(crate) end: CancellationToken,
}

tokio::task_local! {
    /// The caller of the HTTP request that rmcp handles.
    static CURRENT: Option<Arc<Caller>>;
}

impl Access {
    pub(crate) fn new(rules: Rules, quotas: Vec<Quota>, nursery: Nursery) -> Self {
        Self {
            gate: RwLock::default(),
            rules: RwLock::new(Arc::new(rules)),
            quotas: RwLock::new(Arc::new(Quotas::new(quotas))),
            hooks: RwLock::default(),
            nursery,
        }
    }

    /// Sets the gate with which the endpoint begins, unless a reload was faster.
    pub(crate) fn begin(&self, options: Option<&AuthOptions>) {
        if self.gate().gate.is_none() {
            self.replace(options);
        }
    }

    /// Sets the gate, if it differs. Callers of the previous one must authenticate again.
    pub(crate) fn replace(&self, options: Option<&AuthOptions>) {
        let mut current = write_lock(&self.gate);
        if current.gate.as_ref().map(|gate| gate.options()) == options {
            return;
        }
        let gate = options.map(|options| {
            let gate = Arc::new(Gate::new(options.clone(), current.gate.as_deref()));
            let preparing = Arc::clone(&gate);
            self.nursery.spawn(async move { preparing.prepare().await });
            gate
        });
        let end = CancellationToken::new();
        let previous = std::mem::replace(&mut *current, CurrentGate { gate, end });
        previous.end.cancel();
    }

    pub(crate) fn gate(&self) -> CurrentGate {
        read_lock(&self.gate).clone()
    }

    fn rules(&self) -> Arc<Rules> {
        Arc::clone(&read_lock(&self.rules))
    }

    pub(crate) fn quotas(&self) -> Arc<Quotas> {
        Arc::clone(&read_lock(&self.quotas))
    }

    pub(crate) fn hooks(&self) -> Arc<CurrentHooks> {
        Arc::clone(&read_lock(&self.hooks))
    }

    /// Replaces what decides about sessions, and the servlet that it asks. Equal ones keep their answers.
    pub(crate) fn replace_hooks(&self, hooks: SessionHooks, servlet: Option<Arc<Servlet>>) {
        let mut current = write_lock(&self.hooks);
        if current.are(&hooks, servlet.as_ref()) {
            return;
        }
        *current = Arc::new(CurrentHooks::new(hooks, servlet));
    }

    /// Replaces the quotas. New ones are unused; equal ones keep their levels.
    pub(crate) fn replace_quotas(&self, quotas: &[Quota]) {
        let mut current = write_lock(&self.quotas);
        if current.all() != quotas {
            *current = Arc::new(Quotas::new(quotas.to_vec()));
        }
    }

    /// Sets the rules. Returns whether they differ from the previous ones.
    pub(crate) fn replace_rules(&self, rules: &Rules) -> bool {
        let mut current = write_lock(&self.rules);
        if **current == *rules {
            return false;
        }
        *current = Arc::new(rules.clone());
        true
    }
}

impl Server {
    /// What a caller may use of a host.
    pub(crate) fn permissions(&self, host: Arc<Host>, caller: Option<Arc<Caller>>) -> Permissions {
        Permissions {
            rules: self.0.access.rules(),
            gate: self.0.access.gate().gate,
            caller,
            host,
            notes: None,
        }
    }
}

/// Whether the caller of a request has the scopes to call a tool.
pub(crate) fn permit(extensions: &Extensions, host: &Host, tool: &str) -> Result<(), Refusal> {
    let gate = extensions.get::<Arc<Gate>>();
    let Some((gate, caller)) = gate.zip(extensions.get::<Arc<Caller>>()) else {
        return Ok(());
    };
    let mut origins = host.origins_of(tool).into_iter();
    origins.try_for_each(|origin| gate.permit(caller, origin))
}

/// [`permit`] for a message that has not been parsed yet. What the tools of a search call is decided later, as the status does not
/// depend on their arguments.
pub(crate) fn permit_message(
    extensions: &Extensions,
    server: &Server,
    message: &Message,
) -> Result<(), Refusal> {
    let gate = extensions.get::<Arc<Gate>>();
    if !gate.is_some_and(|gate| gate.has_tool_scopes()) {
        return Ok(());
    }
    let Some(tool) = message.tool() else {
        return Ok(());
    };
    let permissions = server.permissions(server.host(), caller(extensions));
    // A challenge would tell that the tool exists.
    if permissions.hide_tool(&tool) {
        return Ok(());
    }
    permit(extensions, &permissions.host, &tool)
}

/// The caller of a request. None if the endpoint has no `auth`.
pub(crate) fn caller(extensions: &Extensions) -> Option<Arc<Caller>> {
    extensions.get().cloned()
}

/// [`caller`] for a request that rmcp passes to a handler.
pub(crate) fn caller_of(extensions: &rmcp::model::Extensions) -> Option<Arc<Caller>> {
    caller(&extensions.get::<Parts>()?.extensions)
}

/// Lets rmcp handle the request of a caller. It asks for tools without saying for which request.
pub(crate) fn on_behalf_of<F: Future>(
    caller: Option<Arc<Caller>>,
    handle: F,
) -> impl Future<Output = F::Output> {
    CURRENT.scope(caller, handle)
}

/// The caller of the request that is handled [on behalf](on_behalf_of) of it.
pub(crate) fn current_caller() -> Option<Arc<Caller>> {
    CURRENT.try_with(Clone::clone).ok().flatten()
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
