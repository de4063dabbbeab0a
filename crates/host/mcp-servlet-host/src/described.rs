//! Members that are known by their lists alone.

use std::sync::Arc;

use mcp_servlet_call::{CallError, CallErrorKind, JsonObject, RemoteFailure, RequestMeta};
use tokio::sync::{broadcast, watch};

use crate::{
    Answer, CallToolResult, CompleteResult, GetPromptResult, Member, ReadResourceResult, Remote,
    RemoteLists, ResourceWatch,
};

/// A member that is known by its lists alone.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) lists: watch::Receiver<Arc<RemoteLists>>,
}

impl Member {
    /// A member with these lists, whose calls fail. It shows what a host would serve of a member that is not there.
    pub fn described(name: &str, lists: RemoteLists) -> Self {
        let (_, lists) = watch::channel(Arc::new(lists));
        let described: Arc<dyn Remote> = Arc::new(Described {
            name: name.to_owned(),
            lists,
        });
        described.into()
    }
}

impl Described {
    fn fails<T: Send + 'static>(&self) -> Answer<'_, T> {
        let why = "it is only described".to_owned();
        let failure = RemoteFailure::Unusable { why };
        let error: CallError = CallErrorKind::Remote { failure }.at(&self.name, None);
        Box::pin(std::future::ready(Err(error)))
    }
}

impl Remote for Described {
    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> &str {
        &self.name
    }

    fn outage(&self) -> Option<&'static str> {
        None
    }

    fn lists(&self) -> watch::Receiver<Arc<RemoteLists>> {
        self.lists.clone()
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a JsonObject>,
        _: &'a RequestMeta,
    ) -> Answer<'a, CallToolResult> {
        self.fails()
    }

    fn read_resource<'a>(
        &'a self,
        _: &'a str,
        _: &'a RequestMeta,
    ) -> Answer<'a, ReadResourceResult> {
        self.fails()
    }

    fn get_prompt<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a JsonObject>,
        _: &'a RequestMeta,
    ) -> Answer<'a, GetPromptResult> {
        self.fails()
    }

    fn complete<'a>(&'a self, _: &'a JsonObject) -> Answer<'a, CompleteResult> {
        self.fails()
    }

    fn watch_resource(&self, _: &str) -> ResourceWatch {
        ResourceWatch::new(())
    }

    fn updated_resources(&self) -> broadcast::Receiver<String> {
        broadcast::channel(1).1
    }
}
