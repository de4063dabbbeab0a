//! The configuration of the server.

use std::fs;
use std::path::PathBuf;

/// The timeout of a call: far longer than a shared machine may pause the process.
const TIMEOUT: &str = "2s";
/// The paths of the endpoints: one responds with JSON, one with event streams.
pub(super) const PATHS: [&str; 2] = ["/mcp", "/events"];
/// The first words of `welcome`, by which clients tell two configurations apart.
pub(super) const GREETINGS: [&str; 2] = ["Welcome", "Good evening"];
/// The code of the catch of `welcome_by_web`.
pub(super) const CATCH: i64 = -32010;

pub(super) struct Config {
    pub(super) file: PathBuf,
    pub(super) wasm: PathBuf,
    /// The port of the remote `web`.
    pub(super) port: u16,
    /// The programs of the remotes `child` and `shell`.
    pub(super) programs: [PathBuf; 2],
}

impl Config {
    /// Writes the configuration with this greeting. Settings of the servlet and of a remote change with it.
    pub(super) fn write(&self, greeting: &str) -> anyhow::Result<()> {
        let new = self.file.with_extension("new");
        fs::write(&new, self.text(greeting))?;
        // The server never sees half of a file.
        Ok(fs::rename(new, &self.file)?)
    }

    fn text(&self, greeting: &str) -> String {
        let [json, events] = PATHS;
        let [child, shell] = self.programs.each_ref().map(|program| program.display());
        let (wasm, port) = (self.wasm.display(), self.port);
        let seconds = 20 + greeting.len();
        format!(
            r#"
[listener.local]
address = "127.0.0.1:0"
[endpoint.json]
kind = "http"
listener = "local"
path = "{json}"
[endpoint.events]
kind = "http"
listener = "local"
path = "{events}"
response = "sse"

[servlet.greeter]
source = '{wasm}'
config = {{ greeting = "{greeting}" }}
limits = {{ timeout = "{TIMEOUT}" }}

[remote.web]
url = "http://127.0.0.1:{port}/mcp"
required = true
tools.prefix = "web"
[remote.child]
command = ['{child}', '--stdio']
required = true
tools.prefix = "child"
timeout = "{seconds}s"
[remote.shell]
command = ['sh', '-c', '"{shell}" --stdio; exit 1']
required = true
tools.prefix = "shell"

[bundle.ops.tool.welcome]
handler = "greeter:greet"
inputs = {{ name = "${{{{ request.arguments.name.trim() }}}}" }}
arguments = {{ type = "object", properties = {{ name = {{ type = "string" }} }}, required = ["name"] }}
[bundle.ops.tool.welcome.result]
content = [{{ type = "text", text = "{greeting}, ${{{{ result.content.map(block, block.text)[0].substring(7) }}}}" }}]

[bundle.ops.tool.welcome_by_web]
handler = "web:greet"
set = {{}}
[[bundle.ops.tool.welcome_by_web.catches]]
kind = "connectivity"
error = {{ code = {CATCH}, message = "${{{{ error.message }}}}" }}
"#
        )
    }
}
