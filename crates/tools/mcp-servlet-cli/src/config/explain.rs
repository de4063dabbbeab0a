//! `servlet config explain`: why the rules of an endpoint allow or deny a call.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::Args;
use mcp_servlet_config::{
    Config, ExplainedReject, ExplainedRule, Explanation, Served, ServedEndpoint,
};
use mcp_servlet_server::{Caller, Remotes};
use serde_json::json;

use crate::{
    arguments::{ArgumentOptions, Arguments},
    failure::{Failure, Kind},
    format::Format,
    session::run_until_signal,
    terminal::{self, note, one_line},
};

#[derive(Args, Debug)]
pub(super) struct ConfigExplain {
    /// The configuration
    file: PathBuf,
    /// The tool, by its name in the list of the endpoint
    tool: String,
    #[command(flatten)]
    arguments: ArgumentOptions,
    /// The endpoint; needed if there are several
    #[arg(long, value_name = "NAME")]
    endpoint: Option<String>,
    /// The caller: a file with a JSON object of `kind`, `subject`, `issuer`, `client`, `scopes`, `roles` and `claims`; by default, a caller without credentials
    #[arg(long, value_name = "FILE")]
    caller: Option<PathBuf>,
    /// Also connect to the remotes, for their tools
    #[arg(long)]
    connect: bool,
    /// `json` prints the rules with `line`, `name`, `effect`, `holds` and `reason`
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl ConfigExplain {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let config = Config::check(&self.file)?;
        let caller = self.caller.as_deref().map(caller).transpose()?;
        let words = self.arguments.words([&None, &None]);
        let arguments = self.arguments.read(&words)?;
        let loaded = config.load(None)?;
        let explain = |remotes: &[_]| {
            let served = Served {
                loaded: &loaded,
                remotes: Some(remotes),
                not_ready: &[],
            };
            let endpoint = config.served_endpoint(served, self.endpoint.as_deref());
            self.explain(
                &endpoint.map_err(usage)?,
                caller.as_ref(),
                arguments.clone(),
            )
        };
        let explanation = if self.connect {
            run_until_signal(async {
                let remotes = Remotes::default();
                let members = remotes
                    .update(&config.settings.remotes)
                    .await
                    .map_err(Failure::of_remote);
                let explanation = members.and_then(|members| explain(&members));
                remotes.close().await;
                explanation
            })?
        } else {
            explain(&[])?
        };
        let mut out = terminal::out();
        match self.format {
            Format::Json => writeln!(terminal::json(), "{:#}", json!(explanation))?,
            Format::Human => out.write_all(human(caller.as_ref(), &explanation).as_bytes())?,
        }
        if explanation.allowed == Some(true) {
            Ok(())
        } else {
            Err(Failure::CheckFailed)
        }
    }

    fn explain(
        &self,
        endpoint: &ServedEndpoint<'_>,
        caller: Option<&Caller>,
        arguments: Arguments<'_>,
    ) -> Result<Explanation, Failure> {
        let tool = endpoint.tool(&self.tool).map_err(usage)?;
        let arguments = arguments.parse(Some(tool.input_schema()))?;
        if caller.is_none() && endpoint.has_auth() {
            note(format_args!(
                "help: the endpoint has `auth`, so clients need credentials; `--caller FILE` explains a call of one of them"
            ));
        }
        let explanation = endpoint.explain(caller, tool, &arguments);
        explanation.ok_or_else(|| usage("the endpoint has no such tool".to_owned()))
    }
}

fn usage(message: String) -> Failure {
    Failure::new(Kind::Usage, message)
}

fn caller(path: &Path) -> Result<Caller, Failure> {
    let shown = path.display();
    let text = fs::read(path).map_err(|error| usage(format!("cannot read `{shown}`: {error}")))?;
    serde_json::from_slice(&text)
        .map_err(|error| usage(format!("`{shown}` is not a caller: {error}")))
}

fn human(caller: Option<&Caller>, explanation: &Explanation) -> String {
    let mut text = format!("caller  {}\n", caller_in_words(caller));
    for reject in &explanation.reject {
        let ExplainedReject {
            line,
            status,
            holds,
        } = reject;
        let _ = writeln!(
            text,
            "  reject with {status} (line {line})  {holds}{}",
            match *holds {
                "maybe" => ": it depends on the client, its headers or its session",
                _ => "",
            }
        );
    }
    if let Some(tool) = &explanation.on_session {
        let _ = writeln!(text, "  on_session  maybe: `{}` decides", one_line(tool));
    }
    let listed = if explanation.listed { "yes" } else { "no" };
    let _ = writeln!(text, "listed  {listed}");
    rules(&mut text, &explanation.list);
    let verdict = match explanation.allowed {
        Some(true) => "allowed".to_owned(),
        Some(false) => "denied".to_owned(),
        None => {
            let steps = explanation.steps.iter();
            let open = steps.filter(|step| step.allowed.is_none());
            let open: Vec<_> = open.map(|step| format!("`{}`", step.handler)).collect();
            format!("depends on what it sends to {}", open.join(" and "))
        }
    };
    let _ = writeln!(text, "call    {}", one_line(&verdict));
    if let Some(reason) = &explanation.refused {
        let _ = writeln!(text, "  before the rules: {}", one_line(reason));
    }
    rules(&mut text, &explanation.call);
    for step in &explanation.steps {
        let _ = writeln!(text, "  it calls {}", one_line(&step.handler));
        rules(&mut text, &step.rules);
    }
    text
}

fn caller_in_words(caller: Option<&Caller>) -> String {
    let Some(caller) = caller else {
        return "nobody".to_owned();
    };
    let all = |what: &str, names: &std::collections::BTreeSet<String>| {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        match names.as_slice() {
            [] => format!("no {what}"),
            names => format!("{what} {}", names.join(" ")),
        }
    };
    let (scopes, roles) = (all("scopes", &caller.scopes), all("roles", &caller.roles));
    let text = format!(
        "{} {}, {scopes}, {roles}",
        caller.kind.name(),
        caller.subject
    );
    one_line(&text).into_owned()
}

/// The rules that the server checked. The last one decides if it holds.
fn rules(text: &mut String, rules: &[ExplainedRule]) {
    for rule in rules {
        let line = format!("line {}", rule.line);
        let name = if rule.name == line {
            line
        } else {
            format!("{line}, {}", rule.name)
        };
        let reason = if rule.reason.is_empty() {
            String::new()
        } else {
            format!(": {}", rule.reason)
        };
        let shown = format!("{} ({name})  {}{reason}", rule.effect, rule.holds);
        let _ = writeln!(text, "  {}", one_line(&shown));
    }
    if rules.is_empty() {
        text.push_str("  no rule is about it\n");
    }
}
