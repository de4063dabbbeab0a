//! The servers of the comparisons. Their logs are off.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use bench_table::Pair;

use super::Starter;
use crate::http::{Listening, free_port};
use crate::stdio::Stdio;

/// A virtual tool over `get_forecast` whose expressions compute. `content` is its structured content.
fn computing(name: &str, content: &str) -> String {
    format!(
        r#"
[bundle.ops.tool.{name}]
handler = "weather:get_forecast"
[bundle.ops.tool.{name}.arguments]
type = "object"
properties = {{ place = {{ type = "string" }}, weeks = {{ type = "integer" }}, metric = {{ type = "boolean" }} }}
required = ["place", "weeks", "metric"]
[bundle.ops.tool.{name}.inputs]
city = "${{{{ request.arguments.place.trim() }}}}"
days = "${{{{ request.arguments.weeks * 7 }}}}"
units = "${{{{ request.arguments.metric ? 'metric' : 'imperial' }}}}"
[bundle.ops.tool.{name}.result]
content = [{{ type = "text", text = "${{{{ result.summary }}}}" }}]
structuredContent = {content}
"#
    )
}

/// The structured content of `forecast`: one member of each item of a list.
const HIGHEST: &str = r#"{ highest = "${{ result.days.map(day, day.high) }}" }"#;

/// The structured content of `forecast_ranges`: an expression for each item of a list.
const RANGES: &str = r#"{ ranges = "${{ result.days.map(day, day.high - day.low) }}" }"#;

/// A virtual tool whose expressions are paths.
const PATHS: &str = r#"
[bundle.ops.tool.forecast_of]
handler = "weather:get_forecast"
[bundle.ops.tool.forecast_of.inputs]
city = "${{ request.arguments.city }}"
days = "${{ request.arguments.days }}"
units = "${{ request.arguments.units }}"
[bundle.ops.tool.forecast_of.result]
content = [{ type = "text", text = "${{ result.summary }}" }]
structuredContent = { days = "${{ result.days }}" }
"#;

/// A server with a servlet, another servlet that calls it, and virtual tools over it.
pub(super) struct Bundles {
    pub(super) server: Listening,
}

impl Bundles {
    pub(super) fn start(starter: &Starter<'_>) -> anyhow::Result<Self> {
        let weather = format!(
            "[servlet.weather]\nsource = '{}'\n[servlet.calls]\nsource = '{}'\n\
             allow = {{ tools = [\"weather:get_forecast\"] }}\n",
            starter.artifacts.wasm("weather").display(),
            starter.artifacts.wasm("calls").display()
        );
        let bundles =
            computing("forecast", HIGHEST) + &computing("forecast_ranges", RANGES) + PATHS;
        let server = starter.configured("bundles", &(weather + &bundles))?;
        Ok(Self { server })
    }
}

/// Two steps that take 20 ms each, and 100 calls that take 5 ms each.
const STEPS: &str = r#"
[bundle.ops.tool.both]
result = { content = [] }
step.one = { handler = "native:wait", inputs = { microseconds = 20000 } }
step.two = { handler = "native:wait", inputs = { microseconds = 20000 } }
[bundle.ops.tool.many]
result = { content = [] }
arguments = { properties = { items = { type = "array" } }, required = ["items"] }
[bundle.ops.tool.many.step.all]
handler = "native:wait"
each = "${{ request.arguments.items }}"
parallel = 16
most = 100
inputs = { microseconds = 5000 }
"#;

/// 5,000 tools that call the native greeting, with descriptions of about 20 words.
fn many_tools() -> String {
    const VERBS: [&str; 5] = ["list", "create", "close", "move", "export"];
    const THINGS: [&str; 8] = [
        "issue", "page", "file", "label", "user", "team", "invoice", "release",
    ];
    let tools = (0..5_000).map(|number| {
        let (verb, thing) = (VERBS[number % 5], THINGS[number % 8]);
        format!(
            "[bundle.many.tool.{verb}_{thing}_{number}]\nhandler = \"native:greet\"\n\
             description = \"Use this to {verb} the {thing} with the number {number} of a project, with everything that belongs to it.\"\n"
        )
    });
    tools.collect()
}

/// Two ways to the same native server.
pub(super) struct Remote {
    /// Also has tools with steps.
    pub(super) ours: Listening,
    pub(super) proxy: Listening,
    native: Listening,
}

impl Remote {
    pub(super) fn start(starter: &Starter<'_>) -> anyhow::Result<Self> {
        let program = starter.artifacts.native();
        let native = Listening::start(&mut Command::new(&program))?;
        let mut proxy = Command::new(&program);
        Ok(Self {
            ours: starter.configured("remote", &(section(&native) + STEPS))?,
            proxy: Listening::start(proxy.args(["--forward", &native.url]))?,
            native,
        })
    }

    /// Another server, with a search over many tools.
    pub(super) fn start_search(&self, starter: &Starter<'_>) -> anyhow::Result<Listening> {
        let sections = section(&self.native) + &many_tools();
        starter.configured(
            "search",
            &format!("tools = {{ search = true }}\n{sections}"),
        )
    }
}

/// The configuration of the native server as a remote.
fn section(native: &Listening) -> String {
    let url = &native.url;
    format!("[remote.native]\nurl = \"{url}\"\nrequired = true\n")
}

/// Bridges from HTTP to the native server as a child process.
pub(super) struct Bridges {
    pub(super) ours: Listening,
    pub(super) mcp_proxy: Listening,
    pub(super) supergateway: Listening,
}

impl Bridges {
    pub(super) fn start(starter: &Starter<'_>) -> anyhow::Result<Self> {
        let program = starter.artifacts.native();
        let native = program.display();
        let remote =
            format!("[remote.native]\ncommand = ['{native}', '--stdio']\nrequired = true\n");

        let port = free_port()?;
        let mut mcp_proxy = Command::new(starter.artifacts.python("mcp-proxy"));
        mcp_proxy.args(["--log-level", "CRITICAL", "--port", &port.to_string()]);
        mcp_proxy.args(["--", &native.to_string(), "--stdio"]);
        let mcp_proxy = Listening::start_on(port, &mut mcp_proxy)?;

        let port = free_port()?;
        let mut supergateway = Command::new(starter.artifacts.npm("node"));
        supergateway.arg(starter.artifacts.npm("supergateway"));
        supergateway.args(["--logLevel", "none", "--port", &port.to_string()]);
        // Without `--stateful`, it starts a process for each request.
        supergateway.args(["--outputTransport", "streamableHttp", "--stateful"]);
        supergateway.args(["--stdio", &format!("{native} --stdio")]);
        Ok(Self {
            ours: starter.configured("bridge", &remote)?,
            mcp_proxy,
            supergateway: Listening::start_on(port, &mut supergateway)?,
        })
    }
}

/// `servlet serve` of this checkout and of an earlier version.
pub(super) struct Base {
    pub(super) http: Pair<Listening>,
    pub(super) stdio: Pair<Stdio>,
}

impl Base {
    pub(super) fn start(starter: &Starter<'_>, base: &Path) -> anyhow::Result<Self> {
        let ours = starter.artifacts.servlet();
        let command = |program: &Path, cache: &str| {
            let mut command = starter.serve(program, cache);
            command.arg(starter.artifacts.wasm("spin"));
            command
        };
        let over_http =
            |mut command: Command| Listening::start(command.args(["--http", "127.0.0.1:0"]));
        Ok(Self {
            http: [
                over_http(command(&ours, "ours"))?,
                over_http(command(base, "base"))?,
            ],
            stdio: [
                Stdio::start(&mut command(&ours, "ours"))?,
                Stdio::start(&mut command(base, "base"))?,
            ],
        })
    }
}

impl Starter<'_> {
    /// `servlet serve` of this checkout with one endpoint, at `/all`, for these sections.
    fn configured(&self, name: &str, sections: &str) -> anyhow::Result<Listening> {
        self.configured_as(name, &(endpoint("all", "") + sections))
    }

    /// `servlet serve` of this checkout for these sections. The URL in the result is that of the first endpoint.
    pub(super) fn configured_as(&self, name: &str, sections: &str) -> anyhow::Result<Listening> {
        let config = self.folder.join(name).with_extension("toml");
        let local = "[listener.local]\naddress = \"127.0.0.1:0\"\n";
        fs::write(&config, format!("{local}{sections}"))?;
        let mut command = self.serve(&self.artifacts.servlet(), "ours");
        Listening::start(command.arg(&config)).with_context(|| format!("a server of {name}"))
    }

    /// `servlet serve` without a log, whose compiled modules are in this folder.
    fn serve(&self, program: &Path, cache: &str) -> Command {
        let mut command = Command::new(program);
        command
            .arg("serve")
            .env("RUST_LOG", "off")
            .env("RUST_BACKTRACE", "0")
            .env("XDG_CACHE_HOME", self.folder.join(cache));
        command
    }
}

/// The section of an endpoint at `/NAME`, with these keys.
pub(super) fn endpoint(name: &str, keys: &str) -> String {
    format!("[endpoint.{name}]\nkind = \"http\"\nlistener = \"local\"\npath = \"/{name}\"\n{keys}")
}
