//! Forms for users (elicitation).

use std::marker::PhantomData;

use mcp_servlet_json::{from_str, write_raw, write_string};
use mcp_servlet_types::InputRequestKind;
use serde::de::DeserializeOwned;

use super::{InputRequest, begin, form};
use crate::arguments::broken;
use crate::json::member;
use crate::schema::{Node, Schema};

/// A user's answer to a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elicited<T> {
    /// The user filled it in.
    Accepted(T),
    /// The user declined.
    Declined,
    /// The user closed it without an answer.
    Cancelled,
}

impl<T> Elicited<T> {
    /// The values, if the user filled in the form.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

/// A form that only asks whether the user accepts it.
#[derive(serde::Deserialize)]
pub(super) struct NoFields {}

impl Schema for NoFields {
    const NODE: &'static Node = &Node::object(&[]);
}

/// A form for `T`; see [`elicit`].
#[derive(Debug, Clone)]
pub struct Elicit<T> {
    key: String,
    message: String,
    form: PhantomData<fn() -> T>,
}

/// A form for the fields of `T`, with a message; see [`Context::elicit`](crate::Context::elicit).
pub fn elicit<T: Schema + DeserializeOwned>(
    key: impl Into<String>,
    message: impl Into<String>,
) -> Elicit<T> {
    const { form::check_form(T::NODE) }
    Elicit::new(key.into(), message.into())
}

impl<T> Elicit<T> {
    /// Does not check `T`. The caller does, so that the compiler's error points to the code that uses the form.
    pub(super) const fn new(key: String, message: String) -> Self {
        Self {
            key,
            message,
            form: PhantomData,
        }
    }
}

impl<T: Schema + DeserializeOwned> InputRequest for Elicit<T> {
    type Response = Elicited<T>;

    const KIND: InputRequestKind = InputRequestKind::Elicitation;

    fn key(&self) -> &str {
        &self.key
    }

    fn request(&self) -> String {
        let mut json = begin::<Self>();
        write_raw(&mut json, ",\"params\":{\"mode\":\"form\",\"message\":");
        write_string(&mut json, &self.message);
        write_raw(&mut json, ",\"requestedSchema\":");
        write_raw(&mut json, &form::schema(T::NODE));
        write_raw(&mut json, "}}");
        json
    }

    #[cfg(all(mcp_servlet_abi = "hyper-mcp-v2", target_family = "wasm"))]
    fn put(&self, params: &str) -> String {
        crate::host::abi::create_elicitation(params)
    }

    fn read(&self, response: &str) -> Option<Elicited<T>> {
        match member(response, "action") {
            "\"accept\"" => {
                let content = match member(response, "content") {
                    "" => "{}",
                    content => content,
                };
                let value = from_str(content).ok()?;
                is_allowed::<T>(content).then_some(Elicited::Accepted(value))
            }
            "\"decline\"" => Some(Elicited::Declined),
            "\"cancel\"" => Some(Elicited::Cancelled),
            _ => None,
        }
    }
}

/// Whether the values of a form keep the limits of its fields.
fn is_allowed<T: Schema>(content: &str) -> bool {
    if const { !T::NODE.is_limited() } {
        return true;
    }
    broken(&form::schema(T::NODE), content).is_none()
}
