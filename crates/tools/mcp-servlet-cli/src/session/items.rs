//! Finds entries in the lists of a server.

use futures_util::TryStreamExt as _;
use mcp_servlet_client::{Error, List, Session};
use mcp_servlet_runtime::JsonObject;
use mcp_servlet_schema::similar;

use crate::failure::{Failure, Kind};

/// The entries of a list that are objects. It is empty if the server does not have the capability.
pub(crate) async fn entries(session: &Session, list: List) -> Result<Vec<JsonObject>, Error> {
    let mut entries = Vec::new();
    collect(session, list, |entry| {
        entries.push(entry);
        true
    })
    .await?;
    Ok(entries)
}

/// The first entry whose member has a value, or else the values of all entries.
pub(crate) async fn find(
    session: &Session,
    list: List,
    member: &str,
    wanted: &str,
) -> Result<Result<JsonObject, Vec<String>>, Error> {
    let mut known = Vec::new();
    let mut found = None;
    collect(session, list, |entry| {
        match entry.get(member).and_then(|name| name.as_str()) {
            Some(name) if name == wanted => found = Some(entry),
            Some(name) => known.push(name.to_owned()),
            None => {}
        }
        found.is_none()
    })
    .await?;
    Ok(found.ok_or(known))
}

/// Reads entries until `wants_more` says no.
async fn collect(
    session: &Session,
    list: List,
    mut wants_more: impl FnMut(JsonObject) -> bool,
) -> Result<(), Error> {
    if !session.server().has(list.capability()) {
        return Ok(());
    }
    let mut pages = std::pin::pin!(session.pages(list));
    while let Some(page) = pages.try_next().await? {
        for entry in &page.entries {
            // An entry that is not an object hides no other.
            if let Ok(entry) = serde_json::from_str(entry.get())
                && !wants_more(entry)
            {
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
