//! `servlet inspect`: shows the structure of a servlet, and what a server would offer of it.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::Arc,
};

use clap::Args;
use mcp_servlet_host::{Filter, Host, Listed, LoadError, Mount, Offer, Prefix, Servlet};
use mcp_servlet_oci::Digest;
use mcp_servlet_runtime::{Abi, Contract, Isolation, Module, Source};
use serde_json::{Value, json};

use crate::{
    can,
    failure::{Failure, Kind, chain},
    format::Format,
    limits::Limits,
    needs,
    sign::named_keys,
    terminal::{self, Style, Visible, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct Inspect {
    /// A `.wasm` file, a folder of them, a URL or an `oci://` reference
    file: String,

    /// `json` prints a list
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

/// The report on one servlet.
struct ServletReport<'a> {
    source: &'a Source,
    module: Option<Module>,
    servlet: Option<&'a Servlet>,
    /// The keys that its signatures name, or why they cannot be read.
    signers: Option<Result<Vec<String>, String>>,
    /// What a host that serves all servlets of the directory offers of this one.
    offer: Offer<'a>,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let sources = self
            .limits
            .under_policy(Source::parse(&self.file))?
            .expand()?;
        let mut options = self.limits.options()?;
        options.from_contract = true;
        let load = |source: &Source| Servlet::load(source.clone(), &options).map(Arc::new);
        let loaded: Vec<_> = sources.iter().map(load).collect();
        let host = Host::compose(loaded.iter().flatten().map(mount).collect());
        let reports: Vec<_> = sources
            .iter()
            .zip(&loaded)
            .map(|(source, servlet)| ServletReport::of(source, servlet.as_ref(), &host))
            .collect();
        let mut out = terminal::out();
        match self.format {
            Format::Json => {
                let all: Vec<_> = reports.iter().map(ServletReport::to_json).collect();
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
        if reports.iter().all(|report| report.servlet.is_none()) {
            return Err(Failure::new(Kind::Servlet, "no servlet could be loaded"));
        }
        Ok(())
    }
}

/// A servlet as a server mounts it by default.
fn mount(servlet: &Arc<Servlet>) -> Mount {
    Mount {
        member: Arc::clone(servlet).into(),
        prefix: Prefix::default(),
        filter: Filter::default(),
    }
}

impl<'a> ServletReport<'a> {
    fn of(
        source: &'a Source,
        servlet: Result<&'a Arc<Servlet>, &'a LoadError>,
        host: &'a Host,
    ) -> Self {
        let (module, offer) = match servlet {
            Ok(servlet) => (Some(servlet.module().clone()), host.offer(servlet)),
            Err(error) => {
                let mut offer = Offer::default();
                offer.problems.push(error);
                (source.module().ok(), offer)
            }
        };
        Self {
            source,
            module,
            servlet: servlet.ok().map(Arc::as_ref),
            signers: named_keys(source),
            offer,
        }
    }

    /// Each name or URI that is served, with its kind.
    fn served(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let tools = self.offer.tools.iter();
        let listed = [
            ("resource", &self.offer.resources),
            ("template", &self.offer.resource_templates),
            ("prompt", &self.offer.prompts),
        ]
        .into_iter();
        tools.map(|tool| ("tool", tool.name())).chain(
            listed.flat_map(|(kind, entries)| entries.iter().map(move |one| (kind, one.key()))),
        )
    }

    fn contract_digest(&self) -> Option<String> {
        let digest = self.servlet?.contract_digest()?;
        Some(Digest::from(digest).to_string())
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

    fn write<W: Write>(&self, out: &mut Visible<W>) -> io::Result<()> {
        out.styled(Style::Name, &self.source.to_string())?;
        match &self.module {
            Some(module) => writeln!(out, ": {} bytes", module.size)?,
            None => writeln!(out)?,
        }
        if let Some(servlet) = self.servlet {
            if let Some(image) = servlet.image() {
                writeln!(out, "  image    {image}")?;
            }
            writeln!(out, "  sha256   {}", Digest::from(servlet.digest()).hex())?;
        }
        write_signers(out, self.signers.as_ref())?;
        if let Some(abi) = self.abi() {
            writeln!(out, "  abi      {abi}")?;
        }
        if let Some(module) = &self.module {
            writeln!(out, "  calls    {}", share(Isolation::of(module)))?;
            writeln!(out, "  exports  {}", list(self.exports()))?;
            writeln!(out, "  can      {}", can::in_words(can::imports(module)))?;
        }
        if let Some(contract) = self.module.as_ref().and_then(Module::contract) {
            if !contract.package.is_empty() {
                writeln!(out, "  package  {}", package(contract))?;
            }
            let digest = self.contract_digest();
            writeln!(
                out,
                "  contract {}; the `serves` lines are read from it, `servlet describe` runs the servlet and compares",
                digest.as_deref().unwrap_or("yes")
            )?;
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
        for (kind, key) in self.served() {
            writeln!(out, "  serves   {kind:<8}  {}", one_line(key))?;
        }
        for problem in &self.offer.problems {
            write!(out, "  ")?;
            out.styled(Style::Problem, "problem")?;
            writeln!(out, "  {}", one_line(&chain(problem)))?;
            if let Some(help) = problem.help() {
                writeln!(out, "           help: {}", one_line(&help))?;
            }
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let sections = self
            .module
            .iter()
            .flat_map(|module| &module.sections)
            .map(|section| json!({ "name": section.name, "size": section.size }));
        let contract = self.module.as_ref().and_then(Module::contract);
        let tools = self.offer.tools.iter().map(|tool| tool.name());
        let signers = self.signers.as_ref().and_then(|keys| keys.as_ref().ok());
        let signatures = signers.map(|keys| keys.iter().map(|key| json!({ "key": key })));
        let problems = self
            .offer
            .problems
            .iter()
            .map(|problem| json!({ "message": chain(problem), "help": problem.help() }));
        json!({
            "source": self.source.to_string(),
            "image": self.servlet.and_then(Servlet::image),
            "module": self.servlet.map(|servlet| Digest::from(servlet.digest()).to_string()),
            "signatures": signatures.map(Iterator::collect::<Vec<_>>),
            "size": self.module.as_ref().map(|module| module.size),
            "abi": self.abi().map(|abi| abi.to_string()),
            "isolation": self.module.as_ref().map(|module| Isolation::of(module).name()),
            "exports": self.exports().collect::<Vec<_>>(),
            "imports": self.imports(),
            "can": self.module.as_ref().map(|module| can::abilities(can::imports(module)).collect::<Vec<_>>()),
            "sections": sections.collect::<Vec<_>>(),
            "contract": contract.map(|contract| json!({
                "digest": self.contract_digest(),
                "package": contract.package,
            })),
            "needs": self.module.as_ref().map(Module::needs),
            "tools": tools.collect::<Vec<_>>(),
            "resources": keys(&self.offer.resources),
            "resourceTemplates": keys(&self.offer.resource_templates),
            "prompts": keys(&self.offer.prompts),
            "problems": problems.collect::<Vec<_>>(),
        })
    }
}

/// Prints the keys that signatures name, if the source can have signatures.
pub(crate) fn write_signers<W: Write>(
    out: &mut Visible<W>,
    signers: Option<&Result<Vec<String>, String>>,
) -> io::Result<()> {
    match signers {
        Some(Ok(keys)) if keys.is_empty() => writeln!(out, "  signed   by nobody"),
        Some(Ok(keys)) => keys.iter().try_for_each(|key| {
            let key = one_line(key);
            writeln!(
                out,
                "  signed   with the key {key}, as its signature says; `servlet verify` checks it"
            )
        }),
        Some(Err(problem)) => writeln!(out, "  signed   unknown: {}", one_line(problem)),
        None => Ok(()),
    }
}

/// The package of a contract, such as `mine 0.1.0, MIT, https://example.com/mine`.
pub(crate) fn package(contract: &Contract) -> String {
    let text = |key: &str| contract.package.get(key).and_then(Value::as_str);
    let name = [text("name"), text("version")]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ");
    let parts = [Some(&*name), text("license"), text("repository")]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty());
    one_line(&parts.collect::<Vec<_>>().join(", ")).into_owned()
}

/// What calls share by default.
fn share(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Shared => "share instances",
        Isolation::Call => "have a fresh instance each",
    }
}

fn keys<'a>(entries: &[&'a Listed]) -> Vec<&'a str> {
    entries.iter().map(|entry| entry.key()).collect()
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return "nothing".to_owned();
    }
    one_line(&names.join(", ")).into_owned()
}
