//! Completes arguments of prompts and resource templates.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Session;
use super::request::RequestOptions;
use crate::error::{Error, ErrorKind};

/// Suggestions for the value of an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Completion {
    /// The suggestions, at most 100.
    pub values: Vec<String>,
    /// How many there are in all, if the server knows.
    pub total: Option<u64>,
    /// Whether there are more.
    pub has_more: bool,
}

impl Session {
    /// Suggests values for an argument of a prompt that begin with a text.
    ///
    /// `others` are arguments that have a value already, as an object or `null`.
    ///
    /// # Errors
    /// If the server completes nothing, or not this prompt.
    pub async fn complete_prompt(
        &self,
        prompt: &str,
        argument: &str,
        value: &str,
        others: Value,
    ) -> Result<Completion, Error> {
        let reference = json!({ "type": "ref/prompt", "name": prompt });
        self.complete(reference, argument, value, others).await
    }

    /// Suggests values for a variable of a resource template that begin with a text.
    ///
    /// `others` are variables that have a value already, as an object or `null`.
    ///
    /// # Errors
    /// If the server completes nothing, or not this template.
    pub async fn complete_template(
        &self,
        template: &str,
        variable: &str,
        value: &str,
        others: Value,
    ) -> Result<Completion, Error> {
        let reference = json!({ "type": "ref/resource", "uri": template });
        self.complete(reference, variable, value, others).await
    }

    async fn complete(
        &self,
        reference: Value,
        argument: &str,
        value: &str,
        others: Value,
    ) -> Result<Completion, Error> {
        #[derive(Deserialize)]
        struct Completed {
            completion: Completion,
        }
        let method = "completion/complete";
        let mut params = json!({
            "ref": reference,
            "argument": { "name": argument, "value": value },
        });
        if !others.is_null() {
            params["context"] = json!({ "arguments": others });
        }
        let result = self
            .request(method, params, &RequestOptions::default())
            .await?;
        let completed: Completed = serde_json::from_str(result.get()).map_err(|source| {
            let error = Error::new(ErrorKind::Protocol, "the server sent an invalid completion");
            error.with_source(source).at(&self.target).during(method)
        })?;
        Ok(completed.completion)
    }
}
