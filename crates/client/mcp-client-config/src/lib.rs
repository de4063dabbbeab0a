//! Reads MCP servers from the configuration files of MCP clients, and adds servers to them.
//!
//! [`Places`] knows where the clients keep their files on a computer. [`discover`] reads those that
//! exist, through a function of the caller, and returns the [`Server`]s of all files. It starts
//! nothing, and writes nothing; [`ClientFile`] changes the text of a file, and keeps its comments. A file that cannot be read is a [`Warning`] and hides no other.
//!
//! ```
//! use std::{collections::HashMap, io, path::Path};
//!
//! use mcp_client_config::{Connection, Places, Platform, Variables, discover};
//!
//! let files = HashMap::from([(
//!     Path::new("/home/user/project/.mcp.json"),
//!     r#"{ "mcpServers": { "demo": { "command": "demo", "args": ["--key", "${KEY}"] } } }"#,
//! )]);
//! let read = |path: &Path| match files.get(path) {
//!     Some(text) => Ok(text.as_bytes().to_owned()),
//!     None => Err(io::ErrorKind::NotFound.into()),
//! };
//! let environment = |name: &str| (name == "KEY").then(|| "secret".to_owned());
//!
//! let places = Places::new(Platform::Linux, "/home/user", "/home/user/project", &environment);
//! let found = discover(&places, read);
//! let demo = found.find("demo").unwrap();
//! assert_eq!(demo.source.name(), "claude-code");
//!
//! let variables = Variables::new(&places, &environment);
//! let Connection::Command { args, .. } = demo.connection.resolve(&variables)? else {
//!     unreachable!()
//! };
//! assert_eq!(args, ["--key", "secret"]);
//! # Ok::<(), mcp_client_config::ResolveError>(())
//! ```
//!
//! # Files
//!
//! [`Source::files`] has the paths on Linux, macOS and Windows. In JSON, comments and trailing commas are allowed.
//! Files are UTF-8, or UTF-16 with a byte order mark.
//!
//! | client | files | servers are in |
//! |---|---|---|
//! | `claude-code` | `.mcp.json` in the folder and above it, `.claude.json` in `$CLAUDE_CONFIG_DIR` or the home | `projects.<folder>.mcpServers`, `mcpServers` |
//! | `claude-desktop` | `Claude/claude_desktop_config.json` in the configuration folder; on Windows first in `%LOCALAPPDATA%\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming` | `mcpServers` |
//! | `cursor` | `.cursor/mcp.json` in the folder and above it, and in the home | `mcpServers` |
//! | `vscode` | `.vscode/mcp.json`; `Code/User/mcp.json` and `Code - Insiders/User/mcp.json` in the configuration folder | `servers` |
//! | `copilot` | `mcp-config.json` in `$COPILOT_HOME` or `~/.copilot` | `mcpServers` |
//! | `codex` | `.codex/config.toml`, `config.toml` in `$CODEX_HOME` or `~/.codex` | `mcp_servers` |
//! | `gemini` | `.gemini/settings.json` in the folder and the home | `mcpServers` |
//! | `windsurf` | `~/.codeium/windsurf/mcp_config.json` | `mcpServers` |
//! | `zed` | `.zed/settings.json`, `zed/settings.json` in `$XDG_CONFIG_HOME`, on macOS always `~/.config/zed/settings.json`, on Windows `%APPDATA%\Zed\settings.json` | `context_servers` |
//! | `opencode` | `opencode.json` or `opencode.jsonc`, in the folder, in `.opencode` or in `$XDG_CONFIG_HOME/opencode` | `mcp`, `mcp.servers` |
//! | `goose` | `$XDG_CONFIG_HOME/goose/config.yaml`, on Windows `%APPDATA%\Block\goose\config\config.yaml` | `extensions` |
//! | `cline` | `~/.cline/data/settings/cline_mcp_settings.json`, and the older `Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json` in the configuration folder | `mcpServers` |
//! | `neovim`, `helix` | `mcp.json` in `$XDG_CONFIG_HOME/nvim` or `$XDG_CONFIG_HOME/helix` | `mcpServers` |
//! | `file` | `mcp.json`, and files that the user names | any of these |
//!
//! The configuration folder is `$XDG_CONFIG_HOME` or `~/.config` on Linux, `~/Library/Application Support` on macOS, and
//! `%APPDATA%` on Windows. `~` is the home of the user on all of them, and `$XDG_CONFIG_HOME` is `~/.config` if it is not set.
//!
//! Neovim and Helix have no file for MCP servers themselves. The two paths are the ones that other tools search for their
//! plugins.
//!
//! # Placeholders
//!
//! [`Connection::resolve`] replaces them. A variable that is not set is an error.
//!
//! | placeholder | value |
//! |---|---|
//! | `${NAME}`, `${env:NAME}`, `{env:NAME}` | an environment variable |
//! | `${NAME:-default}`, `${env:NAME:-default}` | an environment variable, or a default if it is not set or empty |
//! | `${input:id}` | a value that the user passes |
//! | `${userHome}`, `${workspaceFolder}` | a folder |

mod discover;
mod document;
mod edit;
mod entry;
mod inputs;
mod places;
mod resolve;
mod server;
mod source;
mod write;

pub use discover::{Found, Warning, discover, read_file};
pub use document::Position;
pub use edit::{ClientFile, EditError};
pub use places::{Places, Platform};
pub use resolve::{ResolveError, Variables};
pub use server::{Connection, Secret, Server, Transport};
pub use source::Source;
