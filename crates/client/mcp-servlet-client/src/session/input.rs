//! Results that ask for input, as servers may send them since 2026-07-28.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Session;
use super::request::RequestOptions;
use crate::answers::answer;
use crate::error::{Error, ErrorKind};

/// A result that asks for input.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired {
    #[serde(default)]
    input_requests: Map<String, Value>,
    /// It goes back to the server as it came.
    request_state: Option<String>,
}

impl Session {
    /// Sends a request, and answers what the server asks, until there is a result.
    pub(super) async fn request_with_input(
        &self,
        method: &'static str,
        mut params: Map<String, Value>,
        options: &RequestOptions<'_>,
    ) -> Result<Box<RawValue>, Error> {
        let place = |error: Error| error.at(&self.target).during(method);
        let mut rounds = 0;
        loop {
            let result = self.request(method, params.clone().into(), options).await?;
            let Some(input) = self.asked(&result).map_err(place)? else {
                return Ok(result);
            };
            if rounds == self.limits.input_rounds {
                return Err(place(too_often(rounds)));
            }
            self.answer_all(input, &mut params).await.map_err(place)?;
            rounds += 1;
        }
    }

    /// What a result asks for. None if it is the final one.
    fn asked(&self, result: &RawValue) -> Result<Option<InputRequired>, Error> {
        // Results of earlier versions have no type. Some are large.
        if !self.server.is_stateless() {
            return Ok(None);
        }
        match result_type(result).as_deref() {
            None | Some("complete") => return Ok(None),
            Some("input_required") => {}
            Some(other) => {
                let message = format!("the server answered with a result of the type `{other}`");
                return Err(Error::new(ErrorKind::Protocol, message));
            }
        }
        serde_json::from_str(result.get())
            .map(Some)
            .map_err(|source| {
                let message = "the server asks for input in an invalid form";
                Error::new(ErrorKind::Protocol, message).with_source(source)
            })
    }

    /// Adds the answers to the parameters of the next request.
    async fn answer_all(
        &self,
        input: InputRequired,
        params: &mut Map<String, Value>,
    ) -> Result<(), Error> {
        let mut responses = Map::new();
        for (key, mut request) in input.input_requests {
            let params = request.get_mut("params").map(Value::take);
            let method = request["method"].as_str().unwrap_or_default();
            let answers = &*self.service.service().answers;
            let answer = answer(answers, method, params.unwrap_or_default())
                .await
                .map_err(|_| {
                    let message =
                        format!("the server sent `{method}`, which this client does not answer");
                    Error::new(ErrorKind::InputRequired, message)
                })?;
            responses.insert(key, answer);
        }
        params.insert("inputResponses".to_owned(), responses.into());
        match input.request_state {
            Some(state) => params.insert("requestState".to_owned(), state.into()),
            None => params.remove("requestState"),
        };
        Ok(())
    }
}

fn too_often(limit: usize) -> Error {
    let message = format!("the server asked for input more than {limit} times");
    Error::new(ErrorKind::Limit, message)
}

fn result_type(result: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed {
        result_type: Option<String>,
    }
    let typed: Typed = serde_json::from_str(result.get()).ok()?;
    typed.result_type
}
