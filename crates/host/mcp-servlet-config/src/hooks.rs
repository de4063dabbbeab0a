//! Which clients may begin a session: what a file says about it, checked.
//!
//! See `docs/decisions/0081-sessions-begin-with-a-question.md`.

use std::{collections::HashSet, time::Duration};

use http::{HeaderName, StatusCode};
use mcp_servlet_access::SessionCondition;
use mcp_servlet_host::{Entry, Loaded};
use mcp_servlet_schema::{did_you_mean, similar};
use mcp_servlet_server::{Endpoint, OnSession, Reject, header_name};
use serde_json::Value;
use toml::Spanned;

use super::{
    Config, Problem, Reader,
    file::{EndpointSection, File, OnSessionSection, RejectSection},
    problem::inside,
    rules::auth,
    table::Table,
};

/// How long a servlet may think about a session.
const ON_SESSION_TIMEOUT: Duration = Duration::from_secs(5);

/// A tool that decides about sessions, and where the file names it.
#[derive(Clone, Debug)]
pub(super) struct ReadHook {
    servlet: String,
    tool: String,
    span: std::ops::Range<usize>,
}

impl Reader<'_> {
    /// Sets the hooks of the endpoints, and hides the tools that they ask.
    pub(super) fn hooks(
        &mut self,
        file: &File,
        endpoints: &mut [Endpoint],
        entries: &mut [Entry],
        credentials: &HashSet<HeaderName>,
    ) -> Vec<ReadHook> {
        let mut read = Vec::new();
        for endpoint in endpoints {
            let Some(section) = file.endpoint.get(&endpoint.name) else {
                continue;
            };
            let section = section.get_ref();
            for reject in section.reject.iter().flat_map(Spanned::get_ref) {
                let line = self.line(reject.when.span().start);
                if let Some(reject) = self.reject(endpoint, reject, credentials) {
                    endpoint.options.hooks.reject.push(reject);
                    self.rejects.push((endpoint.name.clone(), line));
                }
            }
            if let Some(given) = &section.on_session
                && let Some(on_session) = self.on_session(file, given.get_ref(), credentials)
            {
                let (servlet, tool) = (on_session.servlet.clone(), on_session.tool.clone());
                for entry in entries.iter_mut().filter(|entry| entry.name() == servlet) {
                    entry.filter.except.push(tool.clone());
                }
                let span = given.get_ref().tool.span();
                read.push(ReadHook {
                    servlet,
                    tool,
                    span,
                });
                endpoint.options.hooks.on_session = Some(on_session);
            }
            endpoint.options.hooks.credentials.clone_from(credentials);
        }
        read
    }

    fn reject(
        &mut self,
        endpoint: &Endpoint,
        section: &Table<RejectSection>,
        credentials: &HashSet<HeaderName>,
    ) -> Option<Reject> {
        let auth = auth(endpoint);
        let headers = self.headers("headers", section.headers.as_ref(), auth.as_slice());
        let status = section
            .status
            .as_ref()
            .map_or(Ok(StatusCode::FORBIDDEN), |status| {
                Reject::status(*status.get_ref())
            });
        if let (Err(message), Some(given)) = (&status, &section.status) {
            self.problem(given.span(), message.clone());
        }
        let text = &section.when;
        let when = SessionCondition::new(text.get_ref(), auth, credentials);
        let inside = inside(text.get_ref(), &text.span(), self.text);
        for mistake in when.as_ref().err().into_iter().flatten() {
            let span = inside.map(|start| mistake.range.start + start..mistake.range.end + start);
            self.problem(span.unwrap_or(text.span()), mistake.message.clone());
        }
        Some(Reject {
            when: when.ok()?,
            status: status.ok()?,
            message: section
                .message
                .clone()
                .unwrap_or(Reject::MESSAGE.to_owned()),
            headers,
        })
    }

    fn on_session(
        &mut self,
        file: &File,
        section: &Table<OnSessionSection>,
        credentials: &HashSet<HeaderName>,
    ) -> Option<OnSession> {
        let names = section.headers.iter();
        let headers = names
            .filter_map(|name| self.readable_header(name, credentials))
            .collect();
        let (servlet, tool) = self.tool_of_servlet(file, &section.tool)?;
        Some(OnSession {
            servlet,
            tool,
            headers,
            timeout: section.timeout.map_or(ON_SESSION_TIMEOUT, |time| time.0),
        })
    }

    /// The servlet and the tool that a file names as `gate:admit`.
    fn tool_of_servlet(
        &mut self,
        file: &File,
        given: &Spanned<String>,
    ) -> Option<(String, String)> {
        let text = given.get_ref();
        let Some((servlet, tool)) = text.split_once(':').filter(|(_, tool)| !tool.is_empty())
        else {
            let message =
                format!("expected a servlet and its tool, such as `gate:admit`, found `{text}`");
            self.problem(given.span(), message);
            return None;
        };
        let message = match file.servlet.get(servlet) {
            Some(section)
                if self
                    .folder
                    .join(section.get_ref().source.get_ref())
                    .is_dir() =>
            {
                format!("servlet `{servlet}` is a directory; name the file of the servlet")
            }
            Some(_) => return Some((servlet.to_owned(), tool.to_owned())),
            None if file.remote.contains_key(servlet) => {
                format!("`{servlet}` is a remote; `on_session` asks a tool of a servlet")
            }
            None => {
                let known = file.servlet.keys().map(String::as_str);
                let hint = did_you_mean(similar(servlet, known));
                format!("there is no servlet `{servlet}`{hint}")
            }
        };
        self.problem(given.span(), message);
        None
    }

    /// Reports what endpoints forward that does not exist, or that servlets must not read.
    pub(super) fn forwarded(&mut self, table: &EndpointSection, credentials: &HashSet<HeaderName>) {
        for name in table.forward_headers.iter().flat_map(Spanned::get_ref) {
            self.readable_header(name, credentials);
        }
    }

    /// A header that servlets can read. Reports any other.
    fn readable_header(
        &mut self,
        name: &Spanned<String>,
        credentials: &HashSet<HeaderName>,
    ) -> Option<HeaderName> {
        let text = name.get_ref();
        let problem = match header_name(text) {
            Ok(header) if !credentials.contains(&header) => return Some(header),
            Ok(_) => format!("servlets cannot read the header `{text}`: it is a credential"),
            Err(message) => message,
        };
        self.problem(name.span(), problem);
        None
    }
}

impl Config {
    /// Tools of hooks that are not there, or that need what hooks do not give.
    pub(super) fn problems_of_hooks(&self, loaded: &Loaded) -> Vec<Problem> {
        let mut problems = Vec::new();
        for hook in &self.hooks {
            for mount in self.members.mounts(&hook.servlet, loaded, &[]) {
                let message = match mount.member.tool(&hook.tool) {
                    None => mount.member.without_tool(&hook.tool),
                    Some(tool) => match unknown_argument(tool.input_schema()) {
                        None => continue,
                        Some(argument) => format!(
                            "tool `{}` needs `{argument}`, which `on_session` does not give; it gives `{}`",
                            hook.tool,
                            OnSession::ARGUMENTS.join("`, `")
                        ),
                    },
                };
                let span = hook.span.clone();
                problems.push(Problem { span, message });
            }
        }
        problems
    }
}

/// The first argument that a tool requires and that hooks do not give.
fn unknown_argument(schema: &mcp_servlet_call::JsonObject) -> Option<&str> {
    let required = schema.get("required")?.as_array()?;
    let mut names = required.iter().filter_map(Value::as_str);
    names.find(|name| !OnSession::ARGUMENTS.contains(name))
}
