//! The servers of the comparisons. Their logs are off.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::Gateway;
use crate::http::{Listening, free_port};
use crate::report::Pair;
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
    pub(super) fn start(gateway: &Gateway, folder: &Path) -> anyhow::Result<Self> {
        let weather = format!(
            "[servlet.weather]\nsource = '{}'\n[servlet.calls]\nsource = '{}'\n\
             allow = {{ tools = [\"weather:get_forecast\"] }}\n",
            gateway.weather.display(),
            gateway.calls.display()
        );
        let bundles =
            computing("forecast", HIGHEST) + &computing("forecast_ranges", RANGES) + PATHS;
        let server = configured(gateway, folder, "bundles", &(weather + &bundles))?;
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
    /// A server with a search over many tools.
    pub(super) search: Listening,
    pub(super) proxy: Listening,
    native: Listening,
}

impl Remote {
    pub(super) fn start(gateway: &Gateway, folder: &Path) -> anyhow::Result<Self> {
        let native = Listening::start(&mut Command::new(&gateway.native))?;
        let mut proxy = Command::new(&gateway.native);
        Ok(Self {
            ours: configured(gateway, folder, "remote", &(section(&native) + STEPS))?,
            search: search(gateway, folder, &native)?,
            proxy: Listening::start(proxy.args(["--forward", &native.url]))?,
            native,
        })
    }

    /// Another server with a search over many tools.
    pub(super) fn start_search(
        &self,
        gateway: &Gateway,
        folder: &Path,
    ) -> anyhow::Result<Listening> {
        search(gateway, folder, &self.native)
    }
}

/// The configuration of a remote.
fn section(native: &Listening) -> String {
    let url = &native.url;
    format!("[remote.native]\nurl = \"{url}\"\nrequired = true\n")
}

fn search(gateway: &Gateway, folder: &Path, native: &Listening) -> anyhow::Result<Listening> {
    let sections = [
        "tools = { search = true }\n",
        &section(native),
        &many_tools(),
    ];
    configured(gateway, folder, "search", &sections.concat())
}

/// Bridges from HTTP to the native server as a child process.
pub(super) struct Bridges {
    pub(super) ours: Listening,
    pub(super) mcp_proxy: Option<Listening>,
    pub(super) supergateway: Option<Listening>,
}

impl Bridges {
    pub(super) fn start(gateway: &Gateway, folder: &Path) -> anyhow::Result<Self> {
        let native = gateway.native.display();
        let remote =
            format!("[remote.native]\ncommand = ['{native}', '--stdio']\nrequired = true\n");
        Ok(Self {
            ours: configured(gateway, folder, "bridge", &remote)?,
            mcp_proxy: mcp_proxy(gateway)?,
            supergateway: supergateway(gateway)?,
        })
    }
}

fn mcp_proxy(gateway: &Gateway) -> anyhow::Result<Option<Listening>> {
    let Some(program) = &gateway.mcp_proxy else {
        eprintln!("hosts: without `--mcp-proxy PATH`, it is not compared");
        return Ok(None);
    };
    let port = free_port()?;
    let mut command = Command::new(program);
    command.args(["--log-level", "CRITICAL", "--port", &port.to_string()]);
    command.arg("--").arg(&gateway.native).arg("--stdio");
    Ok(Some(Listening::start_on(port, &mut command)?))
}

fn supergateway(gateway: &Gateway) -> anyhow::Result<Option<Listening>> {
    let Some(npm) = &gateway.npm else {
        eprintln!("hosts: without `--npm FOLDER`, supergateway is not compared");
        return Ok(None);
    };
    let programs = npm.join("node_modules/.bin");
    let port = free_port()?;
    let mut command = Command::new(programs.join("node"));
    command.arg(programs.join("supergateway"));
    command.args(["--logLevel", "none", "--port", &port.to_string()]);
    // Without `--stateful`, it starts a process for each request.
    command.args(["--outputTransport", "streamableHttp", "--stateful"]);
    command.args(["--stdio", &format!("{} --stdio", gateway.native.display())]);
    Ok(Some(Listening::start_on(port, &mut command)?))
}

/// `servlet serve` of this checkout and of the base commit.
pub(super) struct Base {
    /// What starts them over HTTP.
    pub(super) commands: Pair<Command>,
    pub(super) http: Pair<Listening>,
    pub(super) stdio: Pair<Stdio>,
}

impl Base {
    pub(super) fn start(gateway: &Gateway, folder: &Path) -> anyhow::Result<Option<Self>> {
        let Some(base) = &gateway.base else {
            eprintln!("hosts: without `--base PATH`, no earlier version is compared");
            return Ok(None);
        };
        let command = |program: &Path, side: &str| {
            let mut command = serve(program, &folder.join(side));
            command.arg(&gateway.subject.wasm);
            command
        };
        let ours = || command(&gateway.subject.servlet, "ours");
        let base = || command(base, "base");
        let over_http = |mut command: Command| {
            command.args(["--http", "127.0.0.1:0"]);
            command
        };
        let mut commands = [over_http(ours()), over_http(base())];
        let [first, second] = &mut commands;
        let started = |command| Listening::start(command).context("a server over HTTP");
        Ok(Some(Self {
            http: [started(first)?, started(second)?],
            commands,
            stdio: [Stdio::start(&mut ours())?, Stdio::start(&mut base())?],
        }))
    }
}

/// `servlet serve` of this checkout with one endpoint, at `/all`, for these sections.
fn configured(
    gateway: &Gateway,
    folder: &Path,
    name: &str,
    sections: &str,
) -> anyhow::Result<Listening> {
    configured_as(gateway, folder, name, &(endpoint("all", "") + sections))
}

/// `servlet serve` of this checkout for these sections. The URL in the result is that of the first endpoint.
pub(super) fn configured_as(
    gateway: &Gateway,
    folder: &Path,
    name: &str,
    sections: &str,
) -> anyhow::Result<Listening> {
    let config = folder.join(name).with_extension("toml");
    let local = "[listener.local]\naddress = \"127.0.0.1:0\"\n";
    fs::write(&config, format!("{local}{sections}"))?;
    let mut command = serve(&gateway.subject.servlet, &folder.join("ours"));
    Listening::start(command.arg(&config)).with_context(|| format!("a server of {name}"))
}

/// The section of an endpoint at `/NAME`, with these keys.
pub(super) fn endpoint(name: &str, keys: &str) -> String {
    format!("[endpoint.{name}]\nkind = \"http\"\nlistener = \"local\"\npath = \"/{name}\"\n{keys}")
}

/// `servlet serve` without a log, whose compiled modules are in this folder.
fn serve(program: &Path, cache: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("serve")
        .env("RUST_LOG", "off")
        .env("RUST_BACKTRACE", "0")
        .env("XDG_CACHE_HOME", cache);
    command
}
