//! The lists of a servlet, read without validation.

use mcp_servlet_call::JsonObject;
use mcp_servlet_host::{FeatureKind, FeatureList};
use mcp_servlet_runtime::{Abi, DESCRIBE, Guest};
use mcp_servlet_schema::Problem;
use serde_json::Value;

use super::finding::Location;

/// All items that a servlet lists.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The items of all kinds, each in the servlet's order.
    pub(super) items: Vec<Item>,
    /// Whether the servlet describes a single tool, without a list.
    pub(super) is_single: bool,
    /// The other members of each list.
    pub(super) answers: Vec<JsonObject>,
    /// The exports whose output is not a list, each with what is wrong.
    pub(super) wrong: Vec<(&'static str, Problem)>,
}

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kind: FeatureKind,
    /// The name or URI of the item, or its position if it has none.
    pub(super) key: String,
    pub(super) json: JsonObject,
}

impl Lists {
    /// Calls all exports that list something.
    ///
    /// An export that traps is skipped: loading the servlet reports it.
    pub(super) fn ask(guest: &Guest) -> Self {
        let abi = guest.abi();
        let mut lists = Self::default();
        for kind in FeatureKind::ALL {
            let list = kind.list(abi);
            if !guest.module().can_call(list.export) {
                continue;
            }
            if let Ok(output) = guest.list(list.export) {
                lists.read(kind, list, &output);
            }
        }
        lists
    }

    fn read(&mut self, kind: FeatureKind, list: FeatureList, output: &[u8]) {
        let mut read = || {
            let json = serde_json::from_slice(output).map_err(|error| Problem::syntax(&error))?;
            let Value::Object(mut answer) = json else {
                return Err(Problem::expected("", "an object", Some(&json)));
            };
            let items = match answer.shift_remove(list.member) {
                Some(Value::Array(items)) => items,
                // The first servlets described a single tool without a list.
                None | Some(Value::Null) if list.export == DESCRIBE => {
                    self.is_single = true;
                    vec![Value::from(answer.clone())]
                }
                other => {
                    let at = format!("/{}", list.member);
                    return Err(Problem::expected(at, "an array", other.as_ref()));
                }
            };
            self.answers.push(answer);
            for (at, item) in items.into_iter().enumerate() {
                let Value::Object(json) = item else {
                    let at = format!("/{}/{at}", list.member);
                    return Err(Problem::expected(at, "an object", Some(&item)));
                };
                self.items.push(Item::new(kind, list, at, json));
            }
            Ok(())
        };
        if let Err(problem) = read() {
            self.wrong.push((list.export, problem));
        }
    }

    /// The tools of a server.
    pub(super) fn of_tools(tools: impl IntoIterator<Item = JsonObject>) -> Self {
        let kind = FeatureKind::Tool;
        let list = kind.list(Abi::Servlet);
        let items = tools
            .into_iter()
            .enumerate()
            .map(|(at, json)| Item::new(kind, list, at, json));
        Self {
            items: items.collect(),
            ..Self::default()
        }
    }

    /// The items of one kind.
    pub(super) fn items_of(&self, kind: FeatureKind) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.kind == kind)
    }
}

impl Item {
    fn new(kind: FeatureKind, list: FeatureList, at: usize, json: JsonObject) -> Self {
        let key = json
            .get(list.key)
            .and_then(Value::as_str)
            .filter(|key| !key.is_empty());
        Self {
            kind,
            key: key.map_or_else(|| format!("/{}/{at}", list.member), str::to_owned),
            json,
        }
    }

    /// The string in the member `member`.
    pub(super) fn text(&self, member: &str) -> Option<&str> {
        self.json.get(member)?.as_str()
    }

    /// A location in this item.
    pub(super) fn location(&self, pointer: impl Into<String>) -> Location {
        Location {
            kind: self.kind,
            items: vec![self.key.clone()],
            pointer: pointer.into(),
        }
    }
}
