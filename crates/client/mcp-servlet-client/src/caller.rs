//! Sessions as callers of generated clients.

use std::fmt;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mcp_caller::{Caller, Entry, EntryKind, Wrap};
use mcp_catalog::{Catalog, ItemKind, code};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::content::{CallResult, PromptResult, ResourceContents};
use crate::error::{Error, ErrorKind};
use crate::session::{CallOptions, Session};
use crate::typed::{TypedCallError, to_json};

/// A session with options for each request of a generated client, from [`Session::with`].
#[derive(Clone, Debug)]
pub struct CallWith<'s> {
    session: &'s Session,
    options: CallOptions,
}

impl Session {
    /// The session with options for each request of a generated client.
    ///
    /// A session is a caller itself: `Weather::new(&session)`. With options, it is
    /// `Weather::new(session.with(CallOptions::new().timeout(timeout)))`.
    pub fn with(&self, options: CallOptions) -> CallWith<'_> {
        CallWith {
            session: self,
            options,
        }
    }

    /// Lists everything again, and compares it with the entries that a generated client has.
    ///
    /// Items that the client does not have do not count. A change of a description does, because the catalog has only a digest
    /// of each item.
    ///
    /// # Errors
    /// [`CheckError::Drift`] with the items that the server no longer has or has changed, or [`CheckError::Client`] if it
    /// cannot be listed.
    pub async fn check(&self, entries: &[Entry]) -> Result<(), CheckError> {
        let lists = self.lists().await?;
        if let Some(problem) = lists.problems.iter().find(|one| one.code == code::BAD_LIST) {
            let message = format!("{}: {}", problem.list, problem.message);
            return Err(Error::new(ErrorKind::Protocol, message)
                .at(self.target())
                .into());
        }
        let catalog = Catalog::from(&lists);
        let drift: Vec<_> = entries
            .iter()
            .filter_map(|entry| match catalog.find(kind(entry.kind), entry.key) {
                None => Some(Drift::Removed(*entry)),
                Some(item) if item.sha256 != entry.sha256 => Some(Drift::Changed(*entry)),
                Some(_) => None,
            })
            .collect();
        if drift.is_empty() {
            Ok(())
        } else {
            Err(CheckError::Drift(drift))
        }
    }
}

fn kind(kind: EntryKind) -> ItemKind {
    match kind {
        EntryKind::Tool => ItemKind::Tool,
        EntryKind::Resource => ItemKind::Resource,
        EntryKind::ResourceTemplate => ItemKind::ResourceTemplate,
        EntryKind::Prompt => ItemKind::Prompt,
    }
}

/// Why a server is not as a generated client expects it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CheckError {
    /// The server has changed since the client was generated.
    Drift(Vec<Drift>),
    /// The server cannot be listed.
    Client(Error),
}

/// An item of a generated client that the server has removed or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drift {
    /// The server no longer has the item.
    Removed(Entry),
    /// The server's item has another digest.
    Changed(Entry),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drift(drift) => {
                let drift: Vec<_> = drift.iter().map(Drift::to_string).collect();
                write!(f, "the server has changed: {}", drift.join(", "))
            }
            Self::Client(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Drift(_) => None,
            Self::Client(error) => error.source(),
        }
    }
}

impl From<Error> for CheckError {
    fn from(error: Error) -> Self {
        Self::Client(error)
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, entry) = match self {
            Self::Removed(entry) => ("removed", entry),
            Self::Changed(entry) => ("changed", entry),
        };
        write!(f, "{verb} {} `{}`", kind(entry.kind).label(), entry.key)
    }
}

/// Implements [`Caller`] for a type whose method `requests` returns a [`CallWith`].
macro_rules! impl_caller {
    ($caller:ty) => {
        impl Caller for $caller {
            type Content = CallResult;
            type Contents = Vec<ResourceContents>;
            type Messages = PromptResult;
            type Answer<'a, T: 'a>
                = BoxFuture<'a, Result<T, TypedCallError>>
            where
                Self: 'a;

            fn call<'a, A, R>(
                &'a self,
                tool: &'static str,
                arguments: &A,
                wrap: Wrap,
            ) -> Self::Answer<'a, R>
            where
                A: Serialize,
                R: DeserializeOwned + Send + 'a,
            {
                self.requests()
                    .typed(tool, to_json(arguments), wrap)
                    .boxed()
            }

            fn call_untyped<A: Serialize>(
                &self,
                tool: &'static str,
                arguments: &A,
            ) -> Self::Answer<'_, CallResult> {
                self.requests().untyped(tool, to_json(arguments)).boxed()
            }

            fn read(&self, uri: &str) -> Self::Answer<'_, Vec<ResourceContents>> {
                self.requests().contents(uri.to_owned()).boxed()
            }

            fn prompt<A: Serialize>(
                &self,
                prompt: &'static str,
                arguments: &A,
            ) -> Self::Answer<'_, PromptResult> {
                self.requests().messages(prompt, to_json(arguments)).boxed()
            }
        }
    };
}

impl_caller!(CallWith<'_>);
impl_caller!(&Session);

impl Session {
    fn requests(&self) -> CallWith<'_> {
        self.with(CallOptions::new())
    }
}

/// The requests own everything but the session, so that their futures borrow nothing of the caller.
impl CallWith<'_> {
    fn requests(&self) -> Self {
        self.clone()
    }

    async fn typed<R: DeserializeOwned>(
        self,
        tool: &'static str,
        arguments: Result<Value, Error>,
        wrap: Wrap,
    ) -> Result<R, TypedCallError> {
        self.session
            .call_wrapped(tool, arguments?, wrap, &self.options)
            .await
    }

    async fn untyped(
        self,
        tool: &'static str,
        arguments: Result<Value, Error>,
    ) -> Result<CallResult, TypedCallError> {
        let result = self
            .session
            .call_with(tool, arguments?, &self.options)
            .await?;
        if result.is_error {
            return Err(TypedCallError::Tool(Box::new(result)));
        }
        Ok(result)
    }

    async fn contents(self, uri: String) -> Result<Vec<ResourceContents>, TypedCallError> {
        Ok(self.session.read_with(&uri, &self.options).await?.contents)
    }

    async fn messages(
        self,
        prompt: &'static str,
        arguments: Result<Value, Error>,
    ) -> Result<PromptResult, TypedCallError> {
        let arguments = match arguments? {
            Value::Object(arguments) => arguments,
            Value::Null => serde_json::Map::new(),
            _ => {
                let message = "the arguments of a prompt are not an object";
                return Err(Error::new(ErrorKind::Schema, message).into());
            }
        };
        Ok(self
            .session
            .prompt_with(prompt, arguments, &self.options)
            .await?)
    }
}
