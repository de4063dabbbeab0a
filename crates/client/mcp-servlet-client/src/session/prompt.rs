//! Gets prompts.

use serde_json::{Map, Value, json};

use super::{CallOptions, Session};
use crate::content::PromptResult;
use crate::error::Error;

impl Session {
    /// Gets the messages of a prompt. Arguments of prompts are texts.
    ///
    /// # Errors
    /// If there is no such prompt, or if its arguments are invalid.
    pub async fn prompt<K, V>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Result<PromptResult, Error>
    where
        K: Into<String>,
        V: Into<String>,
    {
        let arguments = arguments
            .into_iter()
            .map(|(name, value)| (name.into(), Value::String(value.into())));
        self.prompt_with(name, arguments.collect(), &CallOptions::default())
            .await
    }

    /// Gets the messages of a prompt with options.
    pub(crate) async fn prompt_with(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        options: &CallOptions,
    ) -> Result<PromptResult, Error> {
        let method = "prompts/get";
        let mut params = Map::from_iter([("name".to_owned(), json!(name))]);
        if !arguments.is_empty() {
            params.insert("arguments".to_owned(), arguments.into());
        }
        let of_request = options.request_options();
        let request = self.request_with_input(method, params, &of_request);
        options
            .until_cancelled(request)
            .await
            .and_then(PromptResult::new)
            .map_err(|error| error.at(&self.target).during(method))
    }
}
