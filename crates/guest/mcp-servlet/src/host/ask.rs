//! Requests for input from the client: forms (elicitation), samples of its model (sampling), its roots.
//!
//! In the ABI that all hosts know, a call cannot wait for a response. When a tool requests input, its call ends. The
//! host sends the request to the client and calls the tool again with the response, which the same request then
//! returns at once. So code before the last request runs once for each round. Request input first and act
//! afterwards, or wrap code that must run only once in [`Context::once`].
//!
//! ```
//! use mcp_servlet::ask::Elicited;
//! use mcp_servlet::prelude::*;
//! use serde_json::json;
//!
//! #[derive(Deserialize, Schema)]
//! struct Dates {
//!     /// the first night
//!     from: String,
//!     nights: u8,
//! }
//!
//! /// Books a room.
//! #[tool]
//! fn book(context: &Context, city: String) -> Result<String, ToolError> {
//!     match context.elicit::<Dates>("dates", "When do you arrive?")? {
//!         Elicited::Accepted(dates) => Ok(format!("{} nights in {city} from {}", dates.nights, dates.from)),
//!         Elicited::Declined | Elicited::Cancelled => Ok("nothing was booked".to_owned()),
//!     }
//! }
//!
//! mcp_servlet::export!(static SERVLET = { tools: [book] });
//!
//! # fn main() -> Result<(), Fault> {
//! let client = SERVLET.client().with_form("dates", json!({ "from": "2026-12-24", "nights": 2 }));
//! let result = client.call("book", json!({ "city": "Rome" }))?;
//! assert_eq!(result.text(), "2 nights in Rome from 2026-12-24");
//! # Ok(())
//! # }
//! ```
//!
//! A request travels to the host as an error inside a [`ToolError`]: pass it on with `?`. It is lost in an
//! `anyhow::Error`, and when its message is copied into another error.

mod elicit;
mod form;
mod roots;
mod round;
mod sample;
#[cfg(any(test, all(mcp_servlet_abi = "hyper-mcp-v2", target_family = "wasm")))]
mod wait;

use self::elicit::NoFields;
pub use self::elicit::{Elicit, Elicited, elicit};
pub use self::roots::{Root, Roots, roots};
pub use self::round::Round;
pub use self::sample::{Sample, Sampled, sample};

use mcp_servlet_types::InputRequestKind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::error::ToolError;
use crate::host::context::Context;
use crate::schema::Schema;

/// A request for input from the client: [`elicit`], [`sample`] or [`roots`].
pub trait InputRequest {
    /// The client's response.
    type Response;

    #[doc(hidden)]
    const KIND: InputRequestKind;

    /// The key of the request, unique among all requests of the tool.
    fn key(&self) -> &str;

    /// The MCP request, as JSON.
    #[doc(hidden)]
    fn request(&self) -> String;

    /// Sends the request through a function of the host, and waits: the parameters of the request, and the response.
    #[doc(hidden)]
    #[cfg(all(mcp_servlet_abi = "hyper-mcp-v2", target_family = "wasm"))]
    fn put(&self, params: &str) -> String;

    /// Reads the JSON of MCP's response. `None` if it is invalid; the request is then sent again.
    #[doc(hidden)]
    fn read(&self, response: &str) -> Option<Self::Response>;
}

/// One request, or a tuple of up to six.
pub trait InputRequests {
    /// The responses, in the same order.
    type Responses;

    /// The responses, if all of them are available.
    #[doc(hidden)]
    fn ask(self, round: &mut Round) -> Option<Self::Responses>;
}

/// The beginning of a request. The compiler must keep its text in the data, where hosts find it.
fn begin<Q: InputRequest>() -> String {
    String::from(std::hint::black_box(const { Q::KIND.marker() }))
}

impl<Q: InputRequest> InputRequests for Q {
    type Responses = Q::Response;

    fn ask(self, round: &mut Round) -> Option<Q::Response> {
        round.ask(&self)
    }
}

macro_rules! tuples {
    ($(($($request:ident $at:tt),*))*) => {
        $(impl<$($request: InputRequest),*> InputRequests for ($($request,)*) {
            type Responses = ($($request::Response,)*);

            fn ask(self, round: &mut Round) -> Option<Self::Responses> {
                // Ask all of them before `?` returns for the first that is missing.
                let responses = ($(round.ask(&self.$at),)*);
                Some(($(responses.$at?,)*))
            }
        })*
    };
}

tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

impl Context {
    /// Shows a form for `T` to the user of the client (elicitation).
    ///
    /// `T` is a struct of strings, numbers, booleans and enums without data, and lists of such enums, since MCP's
    /// forms allow nothing else. `key` is the name of the request within the tool.
    ///
    /// # Errors
    ///
    /// The request itself, to be passed on with `?`; a [`Fault`](crate::Fault) if the client does not declare
    /// that it can show forms.
    pub fn elicit<T: Schema + DeserializeOwned>(
        &self,
        key: &str,
        message: &str,
    ) -> Result<Elicited<T>, ToolError> {
        const { form::check_form(T::NODE) }
        self.ask(Elicit::new(key.into(), message.into()))
    }

    /// Asks the user of the client a yes-or-no question, as a form without fields. Returns true if the user accepts
    /// the form, and false if the user declines or closes it.
    ///
    /// The question is also the key of the request: within a call, the same question is asked only once.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use serde_json::json;
    ///
    /// /// Deletes all notes.
    /// #[tool]
    /// fn clear(context: &Context) -> Result<&'static str, ToolError> {
    ///     let is_sure = context.confirm("Delete all notes?")?;
    ///     Ok(if is_sure { "deleted" } else { "kept" })
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [clear] });
    ///
    /// # fn main() -> Result<(), Fault> {
    /// let client = SERVLET.client().with_confirmation("Delete all notes?", true);
    /// assert_eq!(client.call("clear", json!({}))?.text(), "deleted");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Like [`elicit`](Self::elicit).
    pub fn confirm(&self, question: &str) -> Result<bool, ToolError> {
        let answer = self.ask(Elicit::<NoFields>::new(question.into(), question.into()))?;
        Ok(matches!(answer, Elicited::Accepted(_)))
    }

    /// Lets the client's model answer a prompt (sampling).
    ///
    /// # Errors
    ///
    /// Like [`elicit`](Self::elicit).
    pub fn sample(&self, key: &str, prompt: &str) -> Result<Sampled, ToolError> {
        self.ask(sample(key, prompt))
    }

    /// The directories or other locations that the client works in (roots).
    ///
    /// # Errors
    ///
    /// Like [`elicit`](Self::elicit).
    pub fn roots(&self) -> Result<Vec<Root>, ToolError> {
        self.ask(roots("roots"))
    }

    /// Sends several requests at once.
    ///
    /// ```
    /// use mcp_servlet::ask::{elicit, sample};
    /// use mcp_servlet::prelude::*;
    ///
    /// #[derive(Deserialize, Schema)]
    /// struct Name {
    ///     name: String,
    /// }
    ///
    /// /// Writes a poem for somebody.
    /// #[tool]
    /// fn poem(context: &Context) -> Result<String, ToolError> {
    ///     let requests = (
    ///         elicit::<Name>("name", "For whom?"),
    ///         sample("poem", "Write two lines about a friend.").with_max_tokens(100),
    ///     );
    ///     let (name, poem) = context.ask(requests)?;
    ///     let name = name.accepted().map_or_else(|| "you".to_owned(), |name| name.name);
    ///     Ok(format!("For {name}:\n{}", poem.text()))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Like [`elicit`](Self::elicit).
    pub fn ask<Q: InputRequests>(&self, requests: Q) -> Result<Q::Responses, ToolError> {
        let mut round = Round::from_request(self)?;
        match requests.ask(&mut round) {
            Some(responses) => Ok(responses),
            None => Err(round.into_error(self)),
        }
    }

    /// Runs code that must run only once although the tool is called again with responses, and keeps its result.
    ///
    /// The value travels to the client and back, so it must not be a secret.
    ///
    /// # Errors
    ///
    /// If the value cannot be written as JSON, or an earlier one cannot be read as `T`.
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        run: impl FnOnce() -> T,
    ) -> Result<T, ToolError> {
        self.try_once(key, || Ok::<_, ToolError>(run()))
    }

    /// Like [`once`](Self::once), for code that may fail: after an error it runs again in the next call.
    ///
    /// # Errors
    ///
    /// Like [`once`](Self::once), and the error of `run`.
    pub fn try_once<T: Serialize + DeserializeOwned, E: Into<ToolError>>(
        &self,
        key: &str,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, ToolError> {
        if let Some(kept) = round::kept(self, key)? {
            return Ok(mcp_servlet_json::from_str(&kept)?);
        }
        let value = run().map_err(E::into)?;
        round::keep(self, key, &mcp_servlet_json::to_string(&value)?);
        Ok(value)
    }
}
