//! Changes, updates and log messages.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use rmcp::model::SubscriptionFilter;
use rmcp::service::{Subscription, SubscriptionEnd};
use serde_json::json;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::Session;
use super::failure::{not_subscribed, timed_out};
use super::request::RequestOptions;
use crate::error::{Error, ErrorKind};
use crate::events::{Events, Subscribed};
use crate::tap::Tap;
use crate::task::spawn;

/// How many notifications rmcp keeps for the task that takes them.
const NOTIFICATION_BUFFER: NonZeroUsize = NonZeroUsize::new(1024).expect("it is not zero");

impl Session {
    /// What the server reports from now on: changes of its lists, and its log. After
    /// [`Event::SessionRenewed`](crate::Event::SessionRenewed), list again what you need.
    ///
    /// Since 2026-07-28, servers report changes only to [`watch`](Self::watch).
    pub fn events(&self) -> Events {
        Events::new(self.tap.events(), None)
    }

    /// As [`events`](Self::events), with changes of these resources. After
    /// [`Event::SessionRenewed`](crate::Event::SessionRenewed), watch them again.
    ///
    /// # Errors
    /// If the server cannot report changes of a resource, or does not answer in the time of a request.
    pub async fn watch<I>(&self, uris: I) -> Result<Events, Error>
    where
        I: IntoIterator<Item: Into<String>>,
    {
        let received = self.tap.events();
        let uris: Vec<String> = uris.into_iter().map(Into::into).collect();
        if self.server.is_stateless() {
            let subscription = self
                .listen(uris)
                .await
                .map_err(|error| error.at(&self.target).during("subscriptions/listen"))?;
            let task = keep(subscription, Arc::clone(&self.tap), self.target.clone());
            let task = AbortOnDropHandle::new(spawn(task));
            return Ok(Events::new(received, Some(Subscribed(task))));
        }
        for uri in uris {
            let params = json!({ "uri": uri });
            self.request("resources/subscribe", params, &RequestOptions::default())
                .await?;
        }
        Ok(Events::new(received, None))
    }

    /// Opens a subscription, within the time of a request.
    async fn listen(&self, uris: Vec<String>) -> Result<Subscription, Error> {
        let mut filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed()
            .resources_list_changed();
        if !uris.is_empty() {
            filter = filter.resource_subscriptions(uris);
        }
        let start = Instant::now();
        let listening = self
            .service
            .listen_with_capacity(filter.build(), NOTIFICATION_BUFFER);
        match timeout(self.timeouts.request, listening).await {
            Ok(subscription) => subscription.map_err(|error| not_subscribed(&self.tap, error)),
            Err(_) => Err(timed_out(start.elapsed())),
        }
    }

    /// Ends the reports of changes of a resource. Since 2026-07-28, dropping the events does that.
    ///
    /// # Errors
    /// If the server cannot do that.
    pub async fn unwatch(&self, uri: &str) -> Result<(), Error> {
        if !self.server.is_stateless() {
            let params = json!({ "uri": uri });
            self.request("resources/unsubscribe", params, &RequestOptions::default())
                .await?;
        }
        Ok(())
    }

    /// Sets the least level of log messages, such as `info`.
    ///
    /// # Errors
    /// If the server does not log.
    pub async fn set_log_level(&self, level: &str) -> Result<(), Error> {
        let params = json!({ "level": level });
        self.request("logging/setLevel", params, &RequestOptions::default())
            .await?;
        Ok(())
    }
}

/// Takes the notifications of a subscription, which the tap has passed on already, and returns why it has ended. None
/// if the connection has ended. Without a reader, rmcp would cancel the subscription.
async fn keep(mut subscription: Subscription, tap: Arc<Tap>, target: String) -> Option<Error> {
    let error = loop {
        match subscription.next().await {
            Ok(Some(_)) => {}
            Ok(None) => break ended(subscription.end(), &tap)?,
            Err(error) => break not_subscribed(&tap, error),
        }
    };
    Some(error.at(&target).during("subscriptions/listen"))
}

fn ended(end: Option<&SubscriptionEnd>, tap: &Tap) -> Option<Error> {
    let (kind, message) = match end {
        Some(SubscriptionEnd::Graceful(_) | SubscriptionEnd::Cancelled) => (
            ErrorKind::Cancelled,
            "the server has ended the subscription".to_owned(),
        ),
        Some(SubscriptionEnd::Lagged { capacity }) => (
            ErrorKind::Limit,
            format!("more than {capacity} events arrived at once, so the subscription has ended"),
        ),
        _ if tap.has_ended() => return None,
        _ => (
            ErrorKind::Connectivity,
            "the stream of the subscription broke off".to_owned(),
        ),
    };
    Some(Error::new(kind, message).with_help("list again what you need, and watch again"))
}
