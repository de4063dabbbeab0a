//! Pagination of lists.
//!
//! A cursor names the last entry of the previous page, so a list may change between two pages. If
//! that entry still exists, the next page continues after it. Otherwise the client gets an error
//! and has to start again. If the endpoint knows its callers, a cursor is sealed for its own.

use mcp_servlet_access::Owner;
use mcp_servlet_call::{JsonObject, RpcError};
use mcp_servlet_common::{hex, unhex};
use rmcp::model::PaginatedRequestParams;

use crate::server::{
    lists::List,
    seal::{Purpose, Request, Seal},
};

/// How the cursors of a list are written.
pub(super) struct Cursors<'a> {
    /// The field of the result with the list.
    pub(super) list: &'a str,
    pub(super) seal: &'a Seal,
    /// To whom they belong, if the endpoint knows its callers.
    pub(super) owner: Option<Owner>,
}

/// The entries of a list that a caller sees.
pub(super) struct Shown<'a> {
    pub(super) list: &'a List,
    /// Whether the caller sees each of them. None if these are all.
    pub(super) only: Option<&'a [bool]>,
}

impl Shown<'_> {
    fn has(&self, at: usize) -> bool {
        self.only.is_none_or(|only| only[at])
    }

    /// The position of the entry with this key.
    fn position(&self, key: &str) -> Option<usize> {
        self.list.position(key).filter(|at| self.has(*at))
    }
}

/// One page of a list, as the result of a request.
///
/// `key` is the field that identifies an entry.
pub(super) fn page(
    cursors: &Cursors<'_>,
    key: &str,
    list: &Shown<'_>,
    request: Option<PaginatedRequestParams>,
    size: usize,
) -> Result<JsonObject, RpcError> {
    let begin = match request.and_then(|request| request.cursor) {
        Some(cursor) => after(list, cursors.read(&cursor))?,
        None => 0,
    };
    let entries = list.list.entries().iter().enumerate().skip(begin);
    let mut shown = entries.filter(|(at, _)| list.has(*at));
    let page: Vec<_> = shown.by_ref().take(size.max(1)).collect();
    let mut result = JsonObject::new();
    let values = page.iter().map(|(_, entry)| (*entry).clone());
    result.insert(cursors.list.to_owned(), values.collect());
    if let Some((_, last)) = page.last()
        && shown.next().is_some()
    {
        let name = last[key].as_str().unwrap_or_default();
        result.insert("nextCursor".to_owned(), cursors.write(name).into());
    }
    Ok(result)
}

impl Cursors<'_> {
    fn write(&self, name: &str) -> String {
        match self.owner {
            Some(_) => self.seal.close(name, &self.context()),
            None => write(name),
        }
    }

    fn read(&self, cursor: &str) -> Option<String> {
        match self.owner {
            Some(_) => self.seal.read(cursor, &self.context()),
            None => decode_cursor(cursor),
        }
    }

    fn context(&self) -> Request<'_> {
        Request {
            purpose: Purpose::Cursor,
            name: self.list,
            arguments: None,
            owner: self.owner,
            once: false,
        }
    }
}

/// The index after the entry that a cursor names.
fn after(list: &Shown<'_>, name: Option<String>) -> Result<usize, RpcError> {
    let found = name.and_then(|name| list.position(&name));
    found.map(|at| at + 1).ok_or_else(|| {
        let message = "unknown `cursor`: it is not from this list, or the list has changed; \
                       ask again without one";
        RpcError::new(RpcError::INVALID_PARAMS, message)
    })
}

/// Encodes a name as a cursor. Hexadecimal is opaque and survives every transport.
fn write(name: &str) -> String {
    hex(name.as_bytes())
}

fn decode_cursor(cursor: &str) -> Option<String> {
    String::from_utf8(unhex(cursor)?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(cursor: Option<&str>) -> Result<JsonObject, RpcError> {
        ask_as(None, cursor)
    }

    fn ask_as(only: Option<&[bool]>, cursor: Option<&str>) -> Result<JsonObject, RpcError> {
        let entries = ["a", "é", "c", "d", "e"].map(|name| json!({ "name": name }));
        let list = List::new("name", entries.into());
        let request = PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned));
        let cursors = Cursors {
            list: "tools",
            seal: &Seal::default(),
            owner: None,
        };
        let list = Shown { list: &list, only };
        page(&cursors, "name", &list, Some(request), 2)
    }

    #[test]
    fn pages_follow_each_other_until_the_end() {
        let mut names = Vec::new();
        let mut cursor = None;
        let mut pages = 0;
        loop {
            let page = ask(cursor.as_deref()).expect("a page");
            let entries = page["tools"].as_array().expect("entries");
            names.extend(entries.iter().map(|entry| entry["name"].to_string()));
            pages += 1;
            match page.get("nextCursor") {
                Some(next) => cursor = next.as_str().map(str::to_owned),
                None => break,
            }
        }
        assert_eq!(pages, 3);
        assert_eq!(names.concat(), r#""a""é""c""d""e""#);
    }

    #[test]
    fn pages_are_filled_with_what_the_caller_sees() {
        let only = Some(&[false, true, false, true, true][..]);
        let first = ask_as(only, None).expect("a page");
        assert_eq!(first["tools"], json!([{ "name": "é" }, { "name": "d" }]));
        let cursor = first["nextCursor"].as_str();
        let last = ask_as(only, cursor).expect("a page");
        assert_eq!(last["tools"], json!([{ "name": "e" }]));
        assert_eq!(last.get("nextCursor"), None);
        let of_hidden = write("c");
        for unknown in [&*of_hidden, &write("x")] {
            let error = ask_as(only, Some(unknown)).expect_err("an error");
            assert!(error.message.starts_with("unknown `cursor`"), "{unknown}");
        }
        let none = ask_as(Some(&[false; 5]), None).expect("a page");
        assert_eq!(none["tools"], json!([]));
    }

    #[test]
    fn refuses_a_cursor_that_it_did_not_give() {
        for wrong in ["", "0", "zz", "a", "6162"] {
            let error = ask(Some(wrong)).expect_err("an error");
            assert_eq!(error.code, -32602, "{wrong}");
        }
    }
}
