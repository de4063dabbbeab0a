//! Gets prompts.

use serde_json::{Map, Value, json};

use super::Session;
use super::request::RequestOptions;
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
        let method = "prompts/get";
        let arguments: Map<String, Value> = arguments
            .into_iter()
            .map(|(name, value)| (name.into(), Value::String(value.into())))
            .collect();
        let mut params = Map::from_iter([("name".to_owned(), json!(name))]);
        if !arguments.is_empty() {
            params.insert("arguments".to_owned(), arguments.into());
        }
        let result = self
            .request_with_input(method, params, &RequestOptions::default())
            .await?;
        let result = PromptResult::new(result);
        result.map_err(|error| error.at(&self.target).during(method))
    }
}
