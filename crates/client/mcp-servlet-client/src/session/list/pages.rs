//! The pages of a list, within the limits.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};

use super::{List, Page};
use crate::error::{Error, ErrorKind};
use crate::session::Session;

/// The page that is read next.
enum Next {
    First,
    /// The page with this cursor.
    At(String),
    /// There is none.
    End,
}

/// How far a list has been read.
pub(super) struct Reading {
    list: List,
    next: Next,
    cursors: HashSet<String>,
    pages: usize,
    entries: usize,
    bytes: usize,
    /// The entries of the previous page, to notice that a server sends one page for ever.
    previous: Vec<Box<RawValue>>,
    /// How much of the time for lists is left. Only waiting for the server counts.
    left: Duration,
}

impl Reading {
    /// The start of a list. `bytes` is the size of the lists before it.
    pub(super) fn new(session: &Session, list: List, bytes: usize) -> Self {
        Self {
            list,
            next: Next::First,
            cursors: HashSet::new(),
            pages: 0,
            entries: 0,
            bytes,
            previous: Vec::new(),
            left: session.timeouts.lists,
        }
    }

    /// The next page. If its cursor is one of an earlier page, it is the last one, and keeps that cursor.
    pub(super) async fn page(&mut self, session: &Session) -> Result<Option<Page>, Error> {
        let cursor = match std::mem::replace(&mut self.next, Next::End) {
            Next::First => None,
            Next::At(cursor) => Some(cursor),
            Next::End => return Ok(None),
        };
        if self.pages == session.limits.pages {
            return Err(session.too_many(self.list, "pages of a list", self.pages));
        }
        let mut page = self.request(session, cursor).await?;
        self.pages += 1;
        let repeats = self.follow(page.next_cursor.as_ref());
        if repeats && same(&self.previous, &page.entries) {
            page.entries.clear();
        }
        self.count(session, &page.entries)?;
        self.previous.clone_from(&page.entries);
        Ok(Some(page))
    }

    /// Whether there is no further page.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.next, Next::End)
    }

    async fn request(&mut self, session: &Session, cursor: Option<String>) -> Result<Page, Error> {
        let start = Instant::now();
        let page = timeout(self.left, session.page(self.list, cursor)).await;
        self.left = self.left.saturating_sub(start.elapsed());
        page.unwrap_or_else(|_| Err(session.lists_timed_out(Some(self.list))))
    }

    /// Notes the cursor of the next page. Returns whether an earlier page had it.
    fn follow(&mut self, cursor: Option<&String>) -> bool {
        let Some(cursor) = cursor else {
            return false;
        };
        let is_new = self.cursors.insert(cursor.clone());
        if is_new {
            self.next = Next::At(cursor.clone());
        }
        !is_new
    }

    fn count(&mut self, session: &Session, entries: &[Box<RawValue>]) -> Result<(), Error> {
        let limits = &session.limits;
        self.entries += entries.len();
        self.bytes += bytes(entries);
        if self.entries > limits.entries {
            let error = session.too_many(self.list, "entries of a list", limits.entries);
            return Err(error.of_limit("entries"));
        }
        if self.bytes > limits.lists {
            let error = session.too_many(self.list, "bytes of all lists", limits.lists);
            return Err(error.of_limit("lists"));
        }
        Ok(())
    }
}

impl Session {
    fn too_many(&self, list: List, what: &str, limit: usize) -> Error {
        let message = format!("the server sent more than {limit} {what}");
        let error = Error::new(ErrorKind::Limit, message)
            .with_help("raise the limit if you trust the server");
        error.at(&self.target).during(list.method())
    }

    /// The error for lists that took too long: all of them, or one.
    pub(super) fn lists_timed_out(&self, list: Option<List>) -> Error {
        let limit = self.timeouts.lists;
        let message = format!("the lists were not complete within {limit:?}");
        let error = Error::new(ErrorKind::RequestTimeout, message).at(&self.target);
        match list {
            Some(list) => error.during(list.method()),
            None => error,
        }
    }
}

pub(super) fn bytes(entries: &[Box<RawValue>]) -> usize {
    entries.iter().map(|entry| entry.get().len()).sum()
}

fn same(left: &[Box<RawValue>], right: &[Box<RawValue>]) -> bool {
    let right = right.iter().map(|entry| entry.get());
    left.iter().map(|entry| entry.get()).eq(right)
}
