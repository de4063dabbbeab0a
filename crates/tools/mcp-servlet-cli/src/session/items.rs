//! Finds entries in the lists of a server.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use mcp_servlet_call::JsonObject;
use mcp_servlet_client::{Error, ErrorKind, List, Session};
use mcp_servlet_schema::similar;
use serde_json::value::RawValue;

use crate::{
    failure::{Failure, Kind},
    terminal::{note, one_line},
};

/// The entries of a list that are objects. It is empty if the server does not have the capability. Entries that cannot be read are
/// left out, with a warning.
pub(crate) async fn entries(session: &Session, list: List) -> Result<Vec<JsonObject>, Error> {
    let mut entries = Vec::new();
    collect(session, list, |entry| {
        match serde_json::from_str(entry.get()) {
            Ok(entry) => entries.push(entry),
            Err(error) => {
                let name = member(entry, "name");
                let what = name.map_or("an entry without a name".to_owned(), |name| {
                    format!("`{}`", one_line(&name))
                });
                note(format_args!(
                    "warning: {what} is left out: {}",
                    unreadable(&error)
                ));
            }
        }
        true
    })
    .await?;
    Ok(entries)
}

/// The help of a command that can do without an entry.
pub(crate) const PASS_JSON: &str = "pass the arguments as `--json JSON`, which needs no schema";

/// The first entry whose member has a value, or else the values of all entries.
///
/// # Errors
/// [`Failure`] with `help` if the entry cannot be read, for example because its schema is too deep.
pub(crate) async fn find(
    session: &Session,
    list: List,
    key: &str,
    wanted: &str,
    help: Option<&str>,
) -> Result<Result<JsonObject, Vec<String>>, Failure> {
    let mut known = Vec::new();
    let mut found = None;
    collect(session, list, |entry| {
        match member(entry, key) {
            Some(name) if name == wanted => found = Some(serde_json::from_str(entry.get())),
            Some(name) => known.push(name),
            None => {}
        }
        found.is_none()
    })
    .await?;
    match found {
        None => Ok(Err(known)),
        Some(Ok(entry)) => Ok(Ok(entry)),
        Some(Err(error)) => {
            let message = format!(
                "the entry of `{wanted}` in the list of the server cannot be read: {}",
                unreadable(&error)
            );
            let kind = Kind::Server(ErrorKind::ParseError);
            Err(match help {
                Some(help) => Failure::with_help(kind, message, help),
                None => Failure::new(kind, message),
            })
        }
    }
}

/// A text member of an entry, however deep its other members are.
fn member(entry: &RawValue, key: &str) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(entry.get()).ok()?;
    serde_json::from_str(members.get(key)?.get()).ok()
}

/// Why an entry cannot be read, which is JSON already.
fn unreadable(error: &serde_json::Error) -> String {
    let problem = error.to_string();
    if problem.starts_with("recursion limit exceeded") {
        return "its JSON has more than 127 levels".to_owned();
    }
    problem
}

/// Reads entries until `wants_more` says no.
async fn collect(
    session: &Session,
    list: List,
    mut wants_more: impl FnMut(&RawValue) -> bool,
) -> Result<(), Error> {
    if !session.server().has(list.capability()) {
        return Ok(());
    }
    let mut pages = std::pin::pin!(session.pages(list));
    while let Some(page) = pages.try_next().await? {
        for entry in &page.entries {
            if !wants_more(entry) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A name that a server does not have.
pub(crate) fn unknown(kind: &str, name: &str, known: &[String]) -> Failure {
    let message = format!("unknown {kind} `{name}`");
    let help = match similar(name, known.iter().map(String::as_str)) {
        Some(similar) => format!("there is a {kind} `{similar}`"),
        None if known.is_empty() => format!("the server has no {kind}s"),
        None => "`servlet catalog` shows what the server has".to_owned(),
    };
    Failure::with_help(Kind::Usage, message, help)
}
