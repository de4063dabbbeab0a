//! `servlet inspect`: shows the structure of a servlet, and what a server would offer of it.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::Arc,
};

use clap::Args;
use mcp_servlet_host::{Entry, Host, Listed, LoadError, Loaded, Servlet, Tool};
use mcp_servlet_runtime::{Abi, Module, Source};
use serde_json::{Value, json};

use crate::{
    failure::{Failure, Kind, chain},
    format::Format,
    limits::Limits,
    needs,
    terminal::{self, one_line},
};

/// Show exports, imports and sizes of servlets, and what a server would serve of them or skip
#[derive(Args, Debug)]
pub(crate) struct Inspect {
    /// A `.wasm` file, a directory of them, or a URL
    file: String,

    /// `json` prints a list
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

/// The report on one servlet.
struct Report {
    source: String,
    module: Option<Module>,
    served: Served,
    problems: Vec<LoadError>,
}

/// What clients see of a servlet: names of tools and prompts, URIs of resources.
#[derive(Default)]
struct Served {
    tools: Vec<String>,
    resources: Vec<String>,
    resource_templates: Vec<String>,
    prompts: Vec<String>,
}

impl Served {
    fn of(host: &Host) -> Self {
        let key = |listed: &Listed| listed.key().to_owned();
        Self {
            tools: host.tools().map(|tool| tool.name().to_owned()).collect(),
            resources: host.resources().map(key).collect(),
            resource_templates: host.resource_templates().map(key).collect(),
            prompts: host.prompts().map(key).collect(),
        }
    }

    /// What a host that also serves other servlets offers of this one.
    fn among(&mut self, servlet: &Arc<Servlet>, host: &Host) {
        let is_it = |owner: Option<&Servlet>| {
            owner.is_some_and(|one| std::ptr::eq(one, Arc::as_ptr(servlet)))
        };
        let tools = host.tools().map(Tool::name);
        let tools = tools.filter(|tool| is_it(host.servlet_of(tool)));
        self.tools = tools.map(str::to_owned).collect();
        let prompts = host.prompts().map(Listed::key);
        let prompts = prompts.filter(|prompt| is_it(host.servlet_of_prompt(prompt)));
        self.prompts = prompts.map(str::to_owned).collect();
        let is_listed = |of: fn(&Servlet) -> &[Listed], key: &String| {
            let mut servlets = host.servlets().iter();
            let owner = servlets.find(|servlet| of(servlet).iter().any(|one| one.key() == key));
            is_it(owner.map(|owner| &**owner))
        };
        self.resources
            .retain(|key| is_listed(Servlet::resources, key));
        self.resource_templates
            .retain(|key| is_listed(Servlet::resource_templates, key));
    }

    /// Each name or URI, with its kind.
    fn all(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let kinds = [
            ("tool", &self.tools),
            ("resource", &self.resources),
            ("template", &self.resource_templates),
            ("prompt", &self.prompts),
        ];
        kinds
            .into_iter()
            .flat_map(|(kind, keys)| keys.iter().map(move |key| (kind, key)))
    }
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let sources = Source::parse(&self.file).expand()?;
        let of = |source: &Source| Report::of(source.clone(), &self.limits);
        let mut reports: Vec<_> = sources.iter().map(of).collect();
        if sources.len() > 1 {
            serve_together(&sources, &self.limits, &mut reports);
        }
        let mut out = terminal::out();
        match self.format {
            Format::Json => {
                let all: Vec<_> = reports.iter().map(Report::to_json).collect();
                writeln!(terminal::json(), "{}", Value::from(all))?;
            }
            Format::Human => {
                for (at, report) in reports.iter().enumerate() {
                    if at > 0 {
                        writeln!(out)?;
                    }
                    report.write(&mut out)?;
                }
            }
        }
        if reports
            .iter()
            .all(|report| report.served.all().next().is_none())
        {
            return Err(Failure::new(Kind::Servlet, "nothing would be served"));
        }
        Ok(())
    }
}

/// Shows what the servlets would offer together: prefixed names, and entries that are left out
/// because another servlet has the same name.
fn serve_together(sources: &[Source], limits: &Limits, reports: &mut [Report]) {
    let entries = sources.iter().cloned();
    let entries: Vec<_> = entries
        .map(|source| Entry::of(source, limits.options()))
        .collect();
    let Ok(Loaded { host, .. }) = Loaded::load(&entries, None) else {
        return;
    };
    for servlet in host.servlets() {
        let mut reports = reports.iter_mut();
        if let Some(report) = reports.find(|report| report.source == servlet.origin()) {
            report.served.among(servlet, &host);
        }
    }
    for problem in host.into_problems() {
        let (LoadError::Taken { origin, .. } | LoadError::Overlap { origin, .. }) = &problem else {
            continue;
        };
        let mut reports = reports.iter_mut();
        let report = reports.find(|report| report.source == *origin);
        if let Some(report) = report.filter(|report| !report.has(&problem)) {
            report.problems.push(problem);
        }
    }
}

impl Report {
    /// Whether the report already has this problem.
    fn has(&self, problem: &LoadError) -> bool {
        let text = chain(problem);
        self.problems.iter().any(|known| chain(known) == text)
    }

    fn of(source: Source, limits: &Limits) -> Self {
        let entry = Entry::of(source.clone(), limits.options());
        let mut report = Self {
            source: source.to_string(),
            module: None,
            served: Served::default(),
            problems: Vec::new(),
        };
        match Loaded::load(&[entry], None) {
            Ok(Loaded { host, skipped, .. }) => {
                report.served = Served::of(&host);
                let first = host.servlets().first();
                report.module = first.map(|servlet| Servlet::module(servlet).clone());
                report.problems = skipped;
                report.problems.extend(host.into_problems());
            }
            Err(error) => report.problems.push(error),
        }
        report.module = report.module.or_else(|| source.module().ok());
        report
    }

    /// The ABI of the module.
    fn abi(&self) -> Option<Abi> {
        self.module.as_ref().and_then(Module::abi)
    }

    /// The names of the imports, by module.
    fn imports(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut imports: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for import in self.module.iter().flat_map(|module| &module.imports) {
            imports
                .entry(&import.module)
                .or_default()
                .push(&import.name);
        }
        imports
    }

    fn exports(&self) -> impl Iterator<Item = &str> {
        let exports = self.module.iter().flat_map(|module| &module.exports);
        exports
            .filter(|export| export.function)
            .map(|export| export.name.as_str())
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match &self.module {
            Some(module) => writeln!(out, "{}: {} bytes", self.source, module.size)?,
            None => writeln!(out, "{}", self.source)?,
        }
        if let Some(abi) = self.abi() {
            writeln!(out, "  abi      {abi}")?;
        }
        if self.module.is_some() {
            writeln!(out, "  exports  {}", list(self.exports()))?;
        }
        for (module, names) in self.imports() {
            let module = one_line(module);
            writeln!(out, "  imports  {module}: {}", list(names.into_iter()))?;
        }
        for section in self.module.iter().flat_map(|module| &module.sections) {
            let name = one_line(&section.name);
            writeln!(out, "  section  {name:<12} {:>9}", section.size)?;
        }
        for need in self
            .module
            .iter()
            .flat_map(|module| needs::lines(module.needs()))
        {
            writeln!(out, "  needs    {need}")?;
        }
        for (kind, key) in self.served.all() {
            writeln!(out, "  serves   {kind:<8}  {}", one_line(key))?;
        }
        for problem in &self.problems {
            writeln!(out, "  problem  {}", one_line(&chain(problem)))?;
            if let Some(help) = problem.help() {
                writeln!(out, "           help: {}", one_line(&help))?;
            }
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let sections = self.module.iter().flat_map(|module| &module.sections);
        let sections =
            sections.map(|section| json!({ "name": section.name, "size": section.size }));
        let problem =
            |problem: &LoadError| json!({ "message": chain(problem), "help": problem.help() });
        json!({
            "source": self.source,
            "size": self.module.as_ref().map(|module| module.size),
            "abi": self.abi().map(|abi| abi.to_string()),
            "exports": self.exports().collect::<Vec<_>>(),
            "imports": self.imports(),
            "sections": sections.collect::<Vec<_>>(),
            "needs": self.module.as_ref().map(Module::needs),
            "tools": self.served.tools,
            "resources": self.served.resources,
            "resourceTemplates": self.served.resource_templates,
            "prompts": self.served.prompts,
            "problems": self.problems.iter().map(problem).collect::<Vec<_>>(),
        })
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return "nothing".to_owned();
    }
    one_line(&names.join(", ")).into_owned()
}
