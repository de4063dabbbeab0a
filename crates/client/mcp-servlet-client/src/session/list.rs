//! Lists of tools, resources, resource templates and prompts.

mod pages;

use futures_util::stream::{Stream, try_unfold};
use mcp_catalog::{ListProblem, Lists, code};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::timeout;

use self::pages::{Reading, bytes};
use super::Session;
use super::request::RequestOptions;
use crate::error::{Error, ErrorKind};
use crate::incoming::Mended;
use crate::server::Server;

/// A list of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// `tools/list`.
    Tools,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
    /// `prompts/list`.
    Prompts,
}

/// A part of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page {
    /// The entries, as the server wrote them. They may be any JSON.
    pub entries: Vec<Box<RawValue>>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// What was mended in it.
    pub(crate) mended: Mended,
}

impl List {
    /// All lists, in the order in which [`Session::lists`] asks for them.
    pub const ALL: [Self; 4] = [
        Self::Tools,
        Self::Resources,
        Self::ResourceTemplates,
        Self::Prompts,
    ];

    /// The method of MCP.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The capability without which the list is not asked for.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::ResourceTemplates => "resources",
            Self::Prompts => "prompts",
        }
    }

    /// The entries of this list among all lists.
    pub fn entries(self, lists: &mut Lists) -> &mut Option<Vec<Box<RawValue>>> {
        match self {
            Self::Tools => &mut lists.tools,
            Self::Resources => &mut lists.resources,
            Self::ResourceTemplates => &mut lists.resource_templates,
            Self::Prompts => &mut lists.prompts,
        }
    }

    /// The member of a result that has the entries.
    fn member(self) -> &'static str {
        match self {
            Self::ResourceTemplates => "resourceTemplates",
            list => list.capability(),
        }
    }
}

impl Session {
    /// One page of a list: the first one, or the one at a cursor.
    ///
    /// # Errors
    /// If the request fails, or if the result has no list.
    pub async fn page(&self, list: List, cursor: Option<String>) -> Result<Page, Error> {
        let params = match cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => json!({}),
        };
        let (result, mended) = self
            .request_mended(list.method(), params, &RequestOptions::default())
            .await?;
        let page = Page::new(list, &result, mended, self.limits.cursor);
        page.map_err(|error| error.at(&self.target).during(list.method()))
    }

    /// The pages of a list. The stream requests a page when it is polled for it.
    ///
    /// If the list exceeds one of the [`Limits`](crate::Limits) of lists, or takes longer than
    /// [`Timeouts::lists`](crate::Timeouts::lists), the last item is an error. A page with the `nextCursor` of an earlier one is
    /// the last one, because such pages would never end.
    pub fn pages(&self, list: List) -> impl Stream<Item = Result<Page, Error>> + '_ {
        try_unfold(Reading::new(self, list, 0), move |mut reading| async move {
            let page = reading.page(self).await?;
            Ok(page.map(|page| (page, reading)))
        })
    }

    /// Everything that the server lists.
    ///
    /// The session requests the lists for which the server has the capability. If the server has resources but not the
    /// method for templates, the list of templates is empty. A list that the server refuses, or that cannot be read, ends
    /// where that happens, and is one of [`Lists::problems`].
    ///
    /// # Errors
    /// If the connection fails, if no list can be read although there is one, or if the server exceeds a limit.
    pub async fn lists(&self) -> Result<Lists, Error> {
        let (lists, errors) = self.lists_and_errors().await?;
        let have_all_failed = self.have_all_failed(&errors);
        match errors.into_iter().next() {
            Some((_, error)) if have_all_failed => Err(error),
            _ => Ok(lists),
        }
    }

    /// As [`lists`](Self::lists), with the error of each list that could not be read to its end. All lists may have one.
    ///
    /// # Errors
    /// If the connection fails, or if the server exceeds a limit.
    pub async fn lists_and_errors(&self) -> Result<(Lists, Vec<(List, Error)>), Error> {
        let all = timeout(self.timeouts.lists, self.collect_all()).await;
        all.unwrap_or_else(|_| Err(self.lists_timed_out(None)))
    }

    /// Whether these are the errors of all lists of the server.
    pub fn have_all_failed(&self, errors: &[(List, Error)]) -> bool {
        errors.len() == self.requested_lists().count()
    }

    /// The lists for which the server has the capability.
    fn requested_lists(&self) -> impl Iterator<Item = List> {
        let all = List::ALL.into_iter();
        all.filter(|list| self.server.has(list.capability()))
    }

    async fn collect_all(&self) -> Result<(Lists, Vec<(List, Error)>), Error> {
        let mut lists = none(&self.server);
        let mut size = 0;
        let mut errors = Vec::new();
        for list in self.requested_lists() {
            match self.collect(list, &mut size, &mut lists).await {
                Ok(()) => {}
                Err(error) if is_of_list(&error) => {
                    lists
                        .problems
                        .push(problem(list, code::BAD_LIST, error.message()));
                    errors.push((list, error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((lists, errors))
    }

    /// Adds all entries of a list. `size` counts the bytes of all lists.
    async fn collect(&self, list: List, size: &mut usize, lists: &mut Lists) -> Result<(), Error> {
        let mut reading = Reading::new(self, list, *size);
        let mut mended = Mended::default();
        list.entries(lists).get_or_insert_default();
        let end = loop {
            let page = match reading.page(self).await {
                Ok(Some(page)) => page,
                Ok(None) => break Ok(()),
                Err(error) if has_no_templates(list, &error) => break Ok(()),
                Err(error) => break Err(error),
            };
            if page.next_cursor.is_some() && reading.has_ended() {
                let message = "the server repeats a cursor, so the list may be incomplete";
                lists
                    .problems
                    .push(problem(list, code::CURSOR_REPEATS, message));
            }
            mended.append(page.mended);
            *size += bytes(&page.entries);
            list.entries(lists)
                .get_or_insert_default()
                .extend(page.entries);
        };
        for change in mended.changes() {
            let message = change.to_string();
            lists.problems.push(problem(list, code::MENDED, &message));
        }
        end
    }
}

impl Page {
    fn new(list: List, result: &RawValue, mended: Mended, limit: usize) -> Result<Self, Error> {
        let wrong = |what: &str| {
            Error::new(
                ErrorKind::Protocol,
                format!("the server sent an invalid list: {what}"),
            )
        };
        let result: std::collections::BTreeMap<String, &RawValue> =
            serde_json::from_str(result.get()).map_err(|_| wrong("expected an object"))?;
        let member = list.member();
        let entries = result
            .get(member)
            .ok_or_else(|| wrong(&format!("expected an array in `{member}`")))?;
        let entries = serde_json::from_str(entries.get())
            .map_err(|_| wrong(&format!("expected an array in `{member}`")))?;
        let cursor: Option<Option<String>> = result
            .get("nextCursor")
            .map(|text| serde_json::from_str(text.get()))
            .transpose()
            .map_err(|_| wrong("expected a string in `nextCursor`"))?;
        let next_cursor = cursor.flatten();
        if next_cursor
            .as_ref()
            .is_some_and(|cursor| cursor.len() > limit)
        {
            let message = format!("the server sent a cursor of more than {limit} bytes");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        Ok(Self {
            entries,
            next_cursor,
            mended,
        })
    }
}

/// No lists yet.
fn none(server: &Server) -> Lists {
    Lists {
        protocol: server.protocol.clone(),
        server: server.text.clone(),
        tools: None,
        resources: None,
        resource_templates: None,
        prompts: None,
        problems: Vec::new(),
    }
}

fn problem(list: List, code: &'static str, message: &str) -> ListProblem {
    ListProblem {
        code: code.into(),
        list: list.method().into(),
        message: message.to_owned(),
    }
}

/// Whether an error is only about the list that was requested.
fn is_of_list(error: &Error) -> bool {
    let is_of_session = matches!(
        error.kind(),
        ErrorKind::Authentication
            | ErrorKind::Cancelled
            | ErrorKind::Limit
            | ErrorKind::RequestTimeout
            | ErrorKind::SessionInvalid
    );
    error.was_answered() && !is_of_session
}

/// Whether a server with resources says that it has no method for templates.
fn has_no_templates(list: List, error: &Error) -> bool {
    list == List::ResourceTemplates && error.kind() == ErrorKind::MethodNotFound
}
