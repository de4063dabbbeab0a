//! Changes, updates and log messages.

use rmcp::model::SubscriptionFilter;
use serde_json::json;

use super::Session;
use super::request::RequestOptions;
use crate::error::Error;
use crate::events::Events;

impl Session {
    /// What the server reports from now on: changes of its lists, and its log.
    ///
    /// Since 2026-07-28, servers report changes only to [`watch`](Self::watch).
    pub fn events(&self) -> Events {
        Events {
            received: self.tap.events(),
            subscription: None,
        }
    }

    /// As [`events`](Self::events), with changes of these resources.
    ///
    /// # Errors
    /// If the server cannot report changes of a resource.
    pub async fn watch<I>(&self, uris: I) -> Result<Events, Error>
    where
        I: IntoIterator<Item: Into<String>>,
    {
        let mut events = self.events();
        let uris: Vec<String> = uris.into_iter().map(Into::into).collect();
        if self.server.is_stateless() {
            let mut filter = SubscriptionFilter::builder()
                .tools_list_changed()
                .prompts_list_changed()
                .resources_list_changed();
            if !uris.is_empty() {
                filter = filter.resource_subscriptions(uris);
            }
            let subscription = self.service.listen(filter.build()).await;
            let subscription = subscription.map_err(|error| {
                let error = self.not_answered(error);
                error.at(&self.target).during("subscriptions/listen")
            })?;
            events.subscription = Some(subscription);
            return Ok(events);
        }
        for uri in uris {
            let params = json!({ "uri": uri });
            self.request("resources/subscribe", params, &RequestOptions::default())
                .await?;
        }
        Ok(events)
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
