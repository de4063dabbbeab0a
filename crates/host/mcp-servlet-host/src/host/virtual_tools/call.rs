//! A call of a virtual tool.

use std::{borrow::Cow, sync::Arc};

use mcp_servlet_bundle::Budget;
use mcp_servlet_call::{CallError, JsonObject, RequestMeta};
use mcp_servlet_runtime::{CheckArguments, UnknownArguments};

use super::{
    Served,
    mapping::{Mapping, RequestView, on_thread},
    runner::Runner,
};
use crate::{CallToolResult, Member, Servlet};

impl Served {
    /// Calls the tool. Expressions that are not quick run on another thread.
    pub(in crate::host) async fn call_with(
        &self,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<CallToolResult, CallError> {
        let mut budget = Budget::default();
        let arguments = arguments.map(|arguments| self.known_arguments(arguments));
        let arguments = match self.check_arguments(arguments, &mut budget).await {
            Ok(arguments) => arguments,
            Err(text) => return Ok(CallToolResult::error(text)),
        };
        if let Some(guard) = &request_meta.guard
            && let Err(denied) = guard.may_run(arguments.as_ref())
        {
            return Ok(CallToolResult::denied(denied));
        }
        let seen = if self.proven.reads_client() {
            RequestView::of(request_meta)
        } else {
            RequestView::default()
        };
        let mapping = Mapping {
            proven: &self.proven,
            arguments: arguments.map(Arc::new),
            seen: Cow::Owned(seen),
        };
        let runner = Runner::new(self, request_meta, mapping, budget)?;
        runner.run().await
    }

    /// The arguments with which the call runs, or a message for the model.
    async fn check_arguments(
        &self,
        arguments: Option<Cow<'_, JsonObject>>,
        budget: &mut Budget,
    ) -> Result<Option<JsonObject>, String> {
        let checks = self.checks();
        let arguments = arguments.as_deref();
        if checks == CheckArguments::Off || !self.proven.takes_long(arguments) {
            return self.proven.accepted(arguments, checks);
        }
        let (proven, arguments) = (Arc::clone(&self.proven), arguments.cloned());
        on_thread(budget, move |_| proven.accepted(arguments.as_ref(), checks)).await
    }

    /// The arguments with which a call runs, or a message for the model.
    pub(in crate::host) fn accepted(
        &self,
        arguments: &JsonObject,
    ) -> Result<Option<JsonObject>, String> {
        let arguments = self.known_arguments(arguments);
        self.proven.accepted(Some(&arguments), self.checks())
    }

    /// How arguments are checked: as the strictest handler does.
    pub(in crate::host) fn checks(&self) -> CheckArguments {
        let all: Vec<_> = self.handlers.iter().map(checks_of).collect();
        let mut by_strictness = [CheckArguments::Check, CheckArguments::Coerce].into_iter();
        by_strictness
            .find(|checks| all.contains(checks))
            .unwrap_or(CheckArguments::Off)
    }

    /// The arguments without those that the schema does not have, if the handlers' servlets drop these.
    fn known_arguments<'a>(&self, arguments: &'a JsonObject) -> Cow<'a, JsonObject> {
        let arguments = self.tool.arguments(arguments);
        if !self.drops_unknown() {
            return arguments;
        }
        match arguments {
            Cow::Borrowed(arguments) => self.proven.schemas().without_unknown(arguments),
            Cow::Owned(arguments) => {
                let known = self.proven.schemas().without_unknown(&arguments);
                Cow::Owned(known.into_owned())
            }
        }
    }

    /// How many of these arguments a call would drop.
    pub(in crate::host) fn count_dropped(&self, arguments: &JsonObject) -> usize {
        if !self.drops_unknown() {
            return 0;
        }
        let arguments = self.tool.arguments(arguments);
        self.proven.schemas().unknown(&arguments).count()
    }

    fn drops_unknown(&self) -> bool {
        let drops = |servlet: &Arc<Servlet>| servlet.options().unknown == UnknownArguments::Drop;
        let mut handlers = self.handlers.iter();
        handlers.all(|member| member.as_servlet().is_some_and(drops))
    }
}

/// How a handler's arguments are checked.
pub(super) fn checks_of(member: &Member) -> CheckArguments {
    let servlet = member.as_servlet();
    let checks = servlet.map(|servlet| servlet.options().arguments);
    checks.unwrap_or_default()
}
