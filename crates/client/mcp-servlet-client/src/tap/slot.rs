//! The reply to one request.

use std::sync::{Arc, Mutex};

use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;

use super::lock;
use crate::error::Error;
use crate::incoming::{self, ErrorObject, Mended};
use crate::progress::Progress;

/// What a request got.
#[derive(Debug)]
pub(crate) enum SlotReply {
    /// The result, and what was mended in it.
    Result(Box<RawValue>, Mended),
    Error(ErrorObject),
    /// The transport could not get a response.
    Failed(Error),
}

/// A place for the reply to one request.
#[derive(Debug)]
pub(crate) struct Slot {
    reply: Mutex<Option<SlotReply>>,
    /// What came where the response was expected.
    instead: Mutex<Option<Error>>,
    /// Wakes the caller if rmcp may go on to wait for the response. Otherwise rmcp wakes it.
    pub(crate) failed: Notify,
    /// Whether rmcp gets the result as well.
    pub(crate) shared: bool,
    /// Receives progress.
    pub(crate) progress: Option<Sender<Progress>>,
}

/// What the extensions of a request contain.
#[derive(Clone, Debug)]
pub(crate) struct SlotExtension(pub(crate) Arc<Slot>);

impl SlotReply {
    pub(super) fn new(reply: incoming::Reply<'_>, mended: &Mended) -> Self {
        match reply {
            incoming::Reply::Result(result) => Self::Result(result.into_owned(), mended.clone()),
            incoming::Reply::Error(error) => Self::Error(error),
        }
    }

    /// Whether the server has answered: with a message, an HTTP status, or anything else. Otherwise it may still work on the
    /// request.
    fn is_answer(&self) -> bool {
        match self {
            Self::Failed(error) => error.was_answered(),
            Self::Result(..) | Self::Error(_) => true,
        }
    }
}

impl Slot {
    pub(crate) fn new(shared: bool, progress: Option<Sender<Progress>>) -> Arc<Self> {
        Arc::new(Self {
            reply: Mutex::default(),
            instead: Mutex::default(),
            failed: Notify::new(),
            shared,
            progress,
        })
    }

    pub(crate) fn take(&self) -> Option<SlotReply> {
        lock(&self.reply).take()
    }

    /// Whether the server has answered. None if there is no reply, or if [`take`](Self::take) has removed it.
    pub(crate) fn is_answered(&self) -> Option<bool> {
        lock(&self.reply).as_ref().map(SlotReply::is_answer)
    }

    /// What came where the response was expected, if the response did not follow.
    pub(crate) fn instead(&self) -> Option<Error> {
        lock(&self.instead).clone()
    }

    /// An error, with what came where the response was expected as its help.
    pub(crate) fn explained(&self, error: Error) -> Error {
        match self.instead() {
            Some(instead) => error.with_help(instead.message()),
            None => error,
        }
    }

    pub(super) fn note_instead(&self, error: Error) {
        lock(&self.instead).get_or_insert(error);
    }

    pub(super) fn fill(&self, reply: SlotReply) {
        lock(&self.reply).get_or_insert(reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_failure_is_an_answer_if_the_server_is_done_with_the_request() {
        let failed = |kind| Error::new(kind, "");
        let status = |status| failed(ErrorKind::Connectivity).with_http(status, None);
        for (error, is_answer) in [
            (status(400), true),
            (status(429), true),
            (status(503), true),
            (status(502), false),
            (status(504), false),
            (failed(ErrorKind::Connectivity), false),
            (failed(ErrorKind::Connectivity).unsent(), true),
            (failed(ErrorKind::Limit), false),
            (failed(ErrorKind::ParseError), true),
        ] {
            let slot = Slot::new(false, None);
            assert_eq!(slot.is_answered(), None);
            slot.fill(SlotReply::Failed(error.clone()));
            assert_eq!(slot.is_answered(), Some(is_answer), "{error:?}");
        }
    }
}
