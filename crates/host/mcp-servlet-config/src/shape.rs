//! `shape` of a tool: what clients get of its results.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use mcp_servlet_host::{Loaded, Mount, Shape, ShapePath, ShapeProblem};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{
    Config, Problem, Reader,
    file::ServletSection,
    units::{Count, MAX_COUNT},
};

/// What clients get of the results of a tool.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { most = 20 }"
)]
pub(super) struct ShapeSection {
    /// JSON pointers to what stays of objects and lists, in which `*` stands for any item or member. Default: everything.
    #[schemars(with = "Vec<String>")]
    take: Vec<Spanned<String>>,
    /// How many items a list may have.
    most: Option<Count<1, MAX_COUNT>>,
    /// How many characters a text may have.
    chars: Option<Count<1, MAX_COUNT>>,
    /// The argument with which a model gets the rest.
    #[schemars(with = "Option<String>")]
    more: Option<Spanned<String>>,
}

/// A shape in the file.
#[derive(Clone, Debug)]
pub(super) struct ReadShape {
    /// The section of its servlet or remote.
    member: String,
    tool: String,
    shape: Shape,
    /// Where the paths of `take` are.
    take: Vec<Range<usize>>,
    /// Where `more` is.
    more: Option<Range<usize>>,
}

impl Reader<'_> {
    /// The shapes of the tools of a servlet.
    pub(super) fn shapes(
        &mut self,
        servlet: &str,
        section: &ServletSection,
    ) -> BTreeMap<String, Shape> {
        let mut shapes = BTreeMap::new();
        for (tool, limits) in &section.tool {
            let tool = tool.get_ref();
            if let Some(section) = &limits.shape
                && let Some(shape) = self.shape((servlet, tool), section)
            {
                shapes.insert(tool.clone(), shape);
            }
        }
        shapes
    }

    /// The shape of a tool of a servlet or remote. `None` if it has a problem.
    pub(super) fn shape(
        &mut self,
        (member, tool): (&str, &str),
        section: &ShapeSection,
    ) -> Option<Shape> {
        let before = self.problems.len();
        let cuts = section.most.is_some() || section.chars.is_some();
        if let Some(more) = section.more.as_ref().filter(|_| !cuts) {
            let message = "`more` needs `most` or `chars`: without them, nothing is cut";
            self.problem(more.span(), message.to_owned());
        }
        let mut shape = Shape::default();
        for pointer in &section.take {
            match pointer.get_ref().parse::<ShapePath>() {
                Ok(path) => shape.take.push(path),
                Err(error) => self.problem(pointer.span(), error.to_string()),
            }
        }
        shape.most = section.most.map(|count| count.0);
        shape.chars = section.chars.map(|count| count.0);
        shape.more = section.more.as_ref().map(|more| more.get_ref().clone());
        if self.problems.len() > before {
            return None;
        }
        self.shapes.push(ReadShape {
            member: member.to_owned(),
            tool: tool.to_owned(),
            shape: shape.clone(),
            take: section.take.iter().map(Spanned::span).collect(),
            more: section.more.as_ref().map(Spanned::span),
        });
        Some(shape)
    }
}

impl Config {
    /// Leaves the results of tools as their servlets and remotes write them.
    pub fn without_shapes(&mut self) {
        self.shapes.clear();
        for entry in &mut self.entries {
            entry.shapes = Arc::default();
        }
        for remote in &mut self.settings.remotes {
            for texts in remote.options.tools.values_mut() {
                texts.shape = None;
            }
        }
    }

    /// Shapes that do not fit their tools. Tools of remotes that were not reached are not checked.
    pub(super) fn problems_of_shapes(&self, loaded: &Loaded, remotes: &[Mount]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for read in &self.shapes {
            for mount in self.members.mounts(&read.member, loaded, remotes) {
                let mut tools = mount.member.tools().iter();
                let Some(tool) = tools.find(|tool| tool.name() == read.tool) else {
                    continue;
                };
                let found = read.shape.problems(mount.member.name(), tool);
                problems.extend(found.into_iter().map(|problem| read.located(problem)));
            }
        }
        problems
    }
}

impl ReadShape {
    fn located(&self, problem: ShapeProblem) -> Problem {
        let (span, message) = match problem {
            ShapeProblem::Take(at, message) => (self.take.get(at).cloned(), message),
            ShapeProblem::More(message) => (self.more.clone(), message),
        };
        Problem {
            span: span.unwrap_or_default(),
            message,
        }
    }
}
