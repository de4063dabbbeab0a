//! Lists of tools, resources, resource templates and prompts.

use futures_util::stream::{Stream, TryStreamExt as _, try_unfold};
use mcp_catalog::{ListProblem, Lists, code};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::Session;
use super::request::RequestOptions;
use crate::error::{Error, ErrorKind};
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
        let result = self
            .request(list.method(), params, &RequestOptions::default())
            .await?;
        let page = Page::new(list, &result, self.limits.cursor);
        page.map_err(|error| error.at(&self.target).during(list.method()))
    }

    /// The pages of a list. The stream requests a page when it is polled for it.
    ///
    /// If the list has more pages than [`Limits::pages`](crate::Limits::pages), the last item is an error.
    pub fn pages(&self, list: List) -> impl Stream<Item = Result<Page, Error>> + '_ {
        try_unfold((0, Some(None)), move |(taken, cursor)| async move {
            let Some(cursor) = cursor else {
                return Ok(None);
            };
            if taken == self.limits.pages {
                return Err(self.too_many(list, "pages of a list", taken));
            }
            let page = self.page(list, cursor).await?;
            let next = page.next_cursor.clone().map(Some);
            Ok(Some((page, (taken + 1, next))))
        })
    }

    /// Everything that the server lists.
    ///
    /// The session requests the lists for which the server has the capability. If the server has resources but not the
    /// method for templates, the list of templates is empty.
    ///
    /// # Errors
    /// If a request fails, if a result has no list, or if the server exceeds a limit.
    pub async fn lists(&self) -> Result<Lists, Error> {
        let limit = self.timeouts.lists;
        let all = timeout(limit, self.collect_all()).await;
        all.unwrap_or_else(|_| {
            let message = format!("the lists were not complete within {limit:?}");
            Err(Error::new(ErrorKind::RequestTimeout, message).at(&self.target))
        })
    }

    /// What the server says about itself, without any list.
    pub fn no_lists(&self) -> Lists {
        none(&self.server)
    }

    async fn collect_all(&self) -> Result<Lists, Error> {
        let mut lists = self.no_lists();
        let mut size = 0;
        for list in List::ALL {
            if self.server.has(list.capability()) {
                let all = self.collect(list, &mut size, &mut lists.problems).await?;
                *list.entries(&mut lists) = Some(all);
            }
        }
        Ok(lists)
    }

    /// All entries of a list. `size` counts the bytes of all lists.
    async fn collect(
        &self,
        list: List,
        size: &mut usize,
        problems: &mut Vec<ListProblem>,
    ) -> Result<Vec<Box<RawValue>>, Error> {
        let mut entries = Vec::new();
        let mut cursors = std::collections::HashSet::new();
        // The index of the first entry of the previous page.
        let mut previous = 0;
        let mut stream = std::pin::pin!(self.pages(list));
        loop {
            let page = match stream.try_next().await {
                Ok(Some(page)) => page,
                Ok(None) => return Ok(entries),
                Err(error) if has_no_templates(list, &error) => return Ok(entries),
                Err(error) => return Err(error),
            };
            let repeats = page
                .next_cursor
                .clone()
                .is_some_and(|next| !cursors.insert(next));
            if !(repeats && same(&entries[previous..], &page.entries)) {
                previous = entries.len();
                *size += bytes(&page.entries);
                entries.extend(page.entries);
            }
            if entries.len() > self.limits.items {
                return Err(self.too_many(list, "entries of a list", self.limits.items));
            }
            if *size > self.limits.lists {
                return Err(self.too_many(list, "bytes of all lists", self.limits.lists));
            }
            if repeats {
                problems.push(repeated_cursor(list));
                return Ok(entries);
            }
        }
    }

    fn too_many(&self, list: List, what: &str, limit: usize) -> Error {
        let message = format!("the server sent more than {limit} {what}");
        let error = Error::new(ErrorKind::Limit, message)
            .with_help("raise the limit if you trust the server");
        error.at(&self.target).during(list.method())
    }
}

impl Page {
    fn new(list: List, result: &RawValue, limit: usize) -> Result<Self, Error> {
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
        let cursor = result.get("nextCursor");
        let cursor: Option<Option<String>> = cursor
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

fn repeated_cursor(list: List) -> ListProblem {
    ListProblem {
        code: code::CURSOR_REPEATS.into(),
        list: list.method().into(),
        message: "the server repeats a cursor, so the list may be incomplete".to_owned(),
    }
}

/// Whether a server with resources says that it has no method for templates.
fn has_no_templates(list: List, error: &Error) -> bool {
    list == List::ResourceTemplates && error.kind() == ErrorKind::MethodNotFound
}

fn bytes(entries: &[Box<RawValue>]) -> usize {
    entries.iter().map(|entry| entry.get().len()).sum()
}

fn same(left: &[Box<RawValue>], right: &[Box<RawValue>]) -> bool {
    let right = right.iter().map(|entry| entry.get());
    left.iter().map(|entry| entry.get()).eq(right)
}
