//! `[bundle.NAME.tool.NAME]`: virtual tools.

mod places;
mod section;

use std::{collections::BTreeMap, fs, ops::Range, sync::Arc, time::Duration};

use mcp_servlet_host::{
    NAMES_OF_SEARCH,
    bundle::{CatchSpec, ErrorSpec, Place, Problem as ToolProblem, Spec, StepSpec, VirtualTool},
    name_problem,
};
use mcp_servlet_schema::similar;
use mcp_servlet_server::Endpoint;
use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{IN_DIRECTORY, Problem, Reader, named::NamedSection, units::ShortTime};
use places::Places;
pub(super) use places::secrets;
pub(super) use section::{BundleSection, ToolSection};

/// The bundles in the file.
#[derive(Debug, Default)]
pub(super) struct ReadBundles {
    /// Their names, and where these are. A bundle may have no tools.
    names: BTreeMap<String, Range<usize>>,
    /// All tools, in the order of the file.
    pub(super) tools: Vec<ReadTool>,
}

/// A tool of a bundle in the file. Its keys and types are valid.
#[derive(Debug)]
pub(super) struct ReadTool {
    bundle: String,
    name: String,
    /// All of its table.
    json: Value,
    places: Places,
    timeout: Option<Duration>,
    /// The limits of time of the steps, by their names.
    step_timeouts: BTreeMap<String, ShortTime>,
}

impl ReadTool {
    /// Whether it calls this tool of a member, and is in a bundle of this name.
    pub(super) fn calls(&self, bundle: &str, member: &str, tool: &str) -> bool {
        let mut targets = self.targets().into_iter();
        self.bundle == bundle && targets.any(|(_, target)| target == (member, tool))
    }

    /// The members that it calls, and the tools or resources; and where they are.
    fn targets(&self) -> Vec<(Place, (&str, &str))> {
        let steps = self.json["step"].as_object().into_iter().flatten();
        let places = steps.map(|(name, step)| (Place::of("step").key(name), step));
        let tables = std::iter::once((Place::default(), &self.json)).chain(places);
        let targets = tables.flat_map(|(place, table)| {
            let targets = ["handler", "resource"].into_iter();
            targets.filter_map(move |key| {
                let target = table.get(key)?.as_str()?.split_once(':')?;
                Some((place.key(key), target))
            })
        });
        targets.collect()
    }
}

/// A schema cannot be read, which was reported.
struct Unreadable;

/// The virtual tools of a configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct Bundles {
    tools: Arc<[VirtualTool]>,
    /// The positions of the values of each tool, by bundle and tool.
    places: Arc<BTreeMap<(String, String), Places>>,
}

impl ReadBundles {
    /// The names of the bundles.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.keys()
    }
}

impl Bundles {
    /// All tools, in the order of the file.
    pub(super) fn tools(&self) -> Arc<[VirtualTool]> {
        Arc::clone(&self.tools)
    }

    /// The byte range of the name of a tool in the file.
    pub(super) fn name_of(&self, bundle: &str, tool: &str) -> Option<Range<usize>> {
        let key = (bundle.to_owned(), tool.to_owned());
        Some(self.places.get(&key)?.name())
    }

    /// A problem of a tool, at its place in the file, which has this text.
    pub(super) fn problem(
        &self,
        (bundle, tool): (&str, &str),
        problem: &ToolProblem,
        text: &str,
    ) -> Problem {
        let key = (bundle.to_owned(), tool.to_owned());
        match self.places.get(&key) {
            Some(places) => places.problem(problem, text),
            None => Problem {
                span: 0..0,
                message: problem.to_string(),
            },
        }
    }
}

/// Takes the bundles out of the section `bundle`. `read` checks the table of one tool, and returns
/// what is valid of it.
pub(super) fn read<'t>(
    bundles: DeTable<'t>,
    text: &str,
    problems: &mut Vec<Problem>,
    mut read: impl FnMut(Spanned<DeValue<'t>>, &mut Vec<Problem>) -> Option<ToolSection>,
) -> ReadBundles {
    let mut names = BTreeMap::new();
    let mut tools = Vec::new();
    for (bundle, value) in bundles {
        names.insert(bundle.get_ref().to_string(), bundle.span());
        let Some(section) = tools_of(value, problems) else {
            continue;
        };
        for (name, value) in section {
            let places = Places::of(name.span(), &value, text);
            let json = places::json(value.get_ref());
            let before = problems.len();
            problems.extend(
                places::wrong_numbers(&value)
                    .into_iter()
                    .map(|span| Problem {
                        span,
                        message: "JSON has no such number".to_owned(),
                    }),
            );
            let Some(section) = read(value, problems) else {
                continue;
            };
            if problems.len() == before {
                tools.push(ReadTool {
                    bundle: bundle.get_ref().to_string(),
                    name: name.get_ref().to_string(),
                    json,
                    places,
                    timeout: section.timeout.map(|timeout| timeout.0),
                    step_timeouts: section.step_timeouts(),
                });
            }
        }
    }
    tools.sort_by_key(|tool| tool.places.start());
    ReadBundles { names, tools }
}

/// The tables of the tools of a bundle. A bundle without tools serves nothing.
fn tools_of<'t>(value: Spanned<DeValue<'t>>, problems: &mut Vec<Problem>) -> Option<DeTable<'t>> {
    let span = value.span();
    let mut wrong = |span, message: String| problems.push(Problem { span, message });
    let DeValue::Table(mut bundle) = value.into_inner() else {
        wrong(
            span,
            "expected a table, such as [bundle.ops.tool.search]".to_owned(),
        );
        return None;
    };
    let tools = bundle.remove("tool");
    for (key, _) in &bundle {
        let message = format!("unknown key `{}`, expected `tool`", key.get_ref());
        wrong(key.span(), message);
    }
    let tools = tools?;
    let span = tools.span();
    if let DeValue::Table(tools) = tools.into_inner() {
        return Some(tools);
    }
    let message = "expected a table, such as [bundle.ops.tool.search]".to_owned();
    wrong(span, message);
    None
}

impl Reader<'_> {
    /// Compiles the virtual tools, which can call tools of `members`.
    pub(super) fn bundles(
        &mut self,
        bundles: &ReadBundles,
        members: &[NamedSection<'_>],
    ) -> Bundles {
        self.bundle_names(bundles, members);
        let mut compiled = Vec::new();
        let mut places = BTreeMap::new();
        for tool in &bundles.tools {
            self.tool_name(tool);
            let Some(spec) = self.spec(tool) else {
                continue;
            };
            self.handlers(tool, bundles, members);
            let compiled_tool = self.compile(&spec);
            let mistakes = compiled_tool
                .mistakes()
                .iter()
                .map(|problem| tool.places.problem(problem, self.text));
            self.problems.extend(mistakes);
            compiled.push(compiled_tool);
            places.insert(
                (tool.bundle.clone(), tool.name.clone()),
                tool.places.clone(),
            );
        }
        Bundles {
            tools: compiled.into(),
            places: Arc::new(places),
        }
    }

    fn compile(&mut self, spec: &Spec) -> VirtualTool {
        VirtualTool::compile_with_mistakes(spec, &mut |text| self.expand(text))
    }

    /// Reports bundles with the name of another member.
    fn bundle_names(&mut self, bundles: &ReadBundles, members: &[NamedSection<'_>]) {
        for (bundle, span) in &bundles.names {
            let mut others = members.iter();
            if let Some(other) = others.find(|member| member.name == bundle) {
                let position = self.position(other.start);
                let message = format!(
                    "`{bundle}` is a bundle here, and a {} at {position}",
                    other.kind
                );
                self.problem(span.clone(), message);
            } else if self.in_directories.contains(bundle) {
                let message = format!("`{bundle}` is a bundle here, and {IN_DIRECTORY}");
                self.problem(span.clone(), message);
            }
        }
    }

    /// Reports a name that clients do not accept.
    fn tool_name(&mut self, tool: &ReadTool) {
        let name = &tool.name;
        if let Some(problem) = name_problem(name) {
            let message = format!("invalid name `{name}`: {problem}");
            self.problem(tool.places.name(), message);
        }
    }

    /// Reports tools with the same name in these bundles, or in all bundles.
    pub(super) fn repeated_tools_of(
        &mut self,
        tools: &[ReadTool],
        bundles: Option<&[String]>,
        subject: &str,
    ) {
        let mut first = BTreeMap::new();
        let is_listed = |tool: &&ReadTool| bundles.is_none_or(|names| names.contains(&tool.bundle));
        for tool in tools.iter().filter(is_listed) {
            let (name, bundle) = (&tool.name, &tool.bundle);
            let Some(other) = first.get(name) else {
                first.insert(name, tool);
                continue;
            };
            let ReadTool {
                bundle: owner,
                places,
                ..
            } = other;
            let position = self.position(places.start());
            let message = format!(
                "{subject} two tools `{name}`: of bundle `{bundle}` here, and of bundle `{owner}` at {position}"
            );
            self.problem(tool.places.name(), message);
        }
    }

    /// Reports tools with the name of a tool of a search, if an endpoint has both.
    pub(super) fn names_of_search(&mut self, tools: &[ReadTool], endpoints: &[Endpoint]) {
        for tool in tools {
            let ReadTool { name, bundle, .. } = tool;
            let is_searched = |endpoint: &Endpoint| {
                let members = endpoint.members.as_deref();
                endpoint.search.is_some() && members.is_none_or(|names| names.contains(bundle))
            };
            if NAMES_OF_SEARCH.contains(&&**name) && endpoints.iter().any(is_searched) {
                let message = format!(
                    "a tool `{name}` of bundle `{bundle}` has the name of a tool of `search`; give it another name"
                );
                self.problem(tool.places.name(), message);
            }
        }
    }

    /// Reports handlers whose servlet or remote is not in the file.
    fn handlers(&mut self, tool: &ReadTool, bundles: &ReadBundles, members: &[NamedSection<'_>]) {
        for (place, (member, _)) in tool.targets() {
            if let Some(message) = self.wrong_member(member, bundles, members) {
                self.problem(tool.places.at(&place), message);
            }
        }
    }

    /// What is wrong with the name of a servlet or remote.
    pub(super) fn wrong_member(
        &self,
        member: &str,
        bundles: &ReadBundles,
        members: &[NamedSection<'_>],
    ) -> Option<String> {
        // The servlets of a directory are named after its files.
        let in_directories = || self.in_directories.iter().map(String::as_str);
        let known = || members.iter().map(|one| one.name).chain(in_directories());
        let is_section = members.iter().any(|one| one.name == member);
        match (is_section, self.in_directories.contains(member)) {
            (true, false) | (false, true) => None,
            (false, false) => Some(no_member(member, bundles, known())),
            (true, true) => Some(format!(
                "`{member}` is the name of two members, one of them {IN_DIRECTORY}"
            )),
        }
    }

    fn spec(&mut self, tool: &ReadTool) -> Option<Spec> {
        let json = &tool.json;
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        let object = |key: &str| json[key].as_object().cloned();
        let catches = json["catches"].as_array().into_iter().flatten();
        let steps = json["step"].as_object().into_iter().flatten();
        Some(Spec {
            bundle: tool.bundle.clone(),
            name: tool.name.clone(),
            handler: text("handler"),
            steps: steps
                .map(|(name, step)| step_spec(tool, name, step))
                .collect(),
            description: text("description"),
            title: text("title"),
            annotations: json.get("annotations").cloned(),
            arguments: self.schema(tool, "arguments").ok()?,
            output: self.schema(tool, "output").ok()?,
            inputs: object("inputs"),
            set: object("set"),
            result: object("result"),
            catches: catches.map(catch).collect(),
            timeout: tool.timeout,
        })
    }

    /// A schema in the file, or in a file of its own.
    fn schema(&mut self, tool: &ReadTool, key: &str) -> Result<Option<Value>, Unreadable> {
        let Some(Value::String(path)) = tool.json.get(key) else {
            return Ok(tool.json.get(key).cloned());
        };
        let path = self.folder.join(path);
        self.files.add(path.clone());
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        let schema =
            text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
        match schema {
            Ok(schema) => Ok(Some(schema)),
            Err(error) => {
                let message = format!("cannot read `{}`: {error}", path.display());
                self.problem(tool.places.at(&Place::of(key)), message);
                Err(Unreadable)
            }
        }
    }
}

/// The message about a handler of a member that does not exist.
fn no_member<'n>(
    member: &str,
    bundles: &ReadBundles,
    known: impl Iterator<Item = &'n str>,
) -> String {
    if bundles.names.contains_key(member) {
        return format!("`{member}` is a bundle; expected a servlet or remote");
    }
    match similar(member, known) {
        Some(name) => format!("there is no servlet or remote `{member}`; there is `{name}`"),
        None => format!("there is no servlet or remote `{member}`"),
    }
}

fn step_spec(tool: &ReadTool, name: &str, json: &Value) -> StepSpec {
    let text = |key: &str| json[key].as_str().map(str::to_owned);
    let after = json["after"].as_array().map(|names| {
        let names = names.iter().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    });
    StepSpec {
        name: name.to_owned(),
        handler: text("handler"),
        resource: text("resource"),
        inputs: json["inputs"].as_object().cloned(),
        when: text("when"),
        each: text("each"),
        parallel: json["parallel"].as_i64(),
        most: json["most"].as_i64(),
        after,
        may_fail: json["may_fail"] == true,
        timeout: tool.step_timeouts.get(name).map(|timeout| timeout.0),
    }
}

fn catch(json: &Value) -> CatchSpec {
    let text = |json: &Value, key: &str| json[key].as_str().map(str::to_owned);
    let empty = Map::new().into();
    let error = json.get("error").unwrap_or(&empty);
    CatchSpec {
        code: json.get("code").cloned(),
        kind: text(json, "kind"),
        when: text(json, "when"),
        error: ErrorSpec {
            code: error["code"].as_i64().unwrap_or_default(),
            message: text(error, "message"),
            data: error.get("data").cloned(),
        },
    }
}
