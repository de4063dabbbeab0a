//! MCP bundles: <https://github.com/modelcontextprotocol/mcpb>.

use std::{collections::BTreeMap, io};

use mcp_servlet_package::{File, zip};
use mcp_servlet_runtime::{ConfigKey, Needs};
use serde_json::{Map, Value, json};

use super::{COMPRESSION_LEVEL, Packed, Platform, Program, variables};

/// The newest version of the format for programs.
const MANIFEST_VERSION: &str = "0.3";

/// The path of the icon in a bundle.
const ICON: &str = "icon.png";

/// The licenses of the command.
const LICENSES: [(&str, &str); 2] = [
    (
        "server/LICENSE-APACHE",
        include_str!("../../LICENSE-APACHE"),
    ),
    ("server/LICENSE-MIT", include_str!("../../LICENSE-MIT")),
];

/// How a client starts the server, and what it asks the user for.
#[derive(Default)]
struct Start {
    args: Vec<String>,
    env: BTreeMap<String, String>,
    asked: Map<String, Value>,
}

/// The bytes of a bundle: the same for the same servlet and program.
pub(super) fn bundle(
    packed: &Packed,
    program: Option<&Program>,
    author: &str,
    icon: Option<Vec<u8>>,
) -> io::Result<Vec<u8>> {
    let mut manifest = manifest(packed, program, author);
    if icon.is_some() {
        manifest["icon"] = ICON.into();
    }
    let mut files = vec![
        File::text("manifest.json", &format!("{manifest:#}\n")),
        File::new(&format!("server/{}.wasm", packed.name), &*packed.wasm),
    ];
    if let Some(program) = program {
        files.push(File::program(
            entry_point(program.platform),
            &*program.bytes,
        ));
        files.extend(LICENSES.map(|(path, text)| File::text(path, text)));
    }
    files.extend(icon.map(|icon| File::new(ICON, icon)));
    zip(&files, COMPRESSION_LEVEL)
}

/// The path of the command in a bundle.
fn entry_point(platform: Platform) -> &'static str {
    match platform {
        Platform::Windows => "server/servlet.exe",
        Platform::Linux | Platform::MacOs => "server/servlet",
    }
}

fn manifest(packed: &Packed, program: Option<&Program>, author: &str) -> Value {
    let module = format!("server/{}.wasm", packed.name);
    let start = Start::of(packed, &module);
    let program =
        program.map(|program| (entry_point(program.platform), platform(program.platform)));
    let command = program.map_or("servlet".to_owned(), |(path, _)| {
        format!("${{__dirname}}/{path}")
    });
    let mut manifest = json!({
        "manifest_version": MANIFEST_VERSION,
        "name": packed.name,
        "display_name": packed.servlet.server_text("title").unwrap_or(&packed.name),
        "version": packed.version,
        "description": packed.description(),
        "author": { "name": author },
        "server": {
            "type": "binary",
            // The packer requires a file.
            "entry_point": program.map_or(&*module, |(path, _)| path),
            "mcp_config": { "command": command, "args": start.args, "env": start.env },
        },
        "tools": packed.servlet.tools().iter().map(|tool| {
            let mut entry = json!({ "name": tool.name() });
            if let Some(description) = tool.description() {
                entry["description"] = description.into();
            }
            entry
        }).collect::<Vec<_>>(),
    });
    if let Some((_, platform)) = program {
        manifest["compatibility"] = json!({ "platforms": [platform] });
    }
    if !packed.servlet.prompts().is_empty() {
        manifest["prompts_generated"] = true.into();
    }
    if !start.asked.is_empty() {
        manifest["user_config"] = start.asked.into();
    }
    manifest
}

fn platform(platform: Platform) -> &'static str {
    match platform {
        Platform::Linux => "linux",
        Platform::MacOs => "darwin",
        Platform::Windows => "win32",
    }
}

impl Start {
    fn of(packed: &Packed, module: &str) -> Self {
        let Needs { config, paths, .. } = packed.servlet.module().needs();
        let mut start = Self {
            args: vec!["serve".to_owned(), format!("${{__dirname}}/{module}")],
            ..Self::default()
        };
        for (key, variable) in config.iter().zip(variables(config)) {
            let asked = start.ask(&key.name, question(key));
            start.env.insert(variable.name, asked);
        }
        start.args.extend(packed.options());
        for path in paths {
            let question = json!({
                "type": "directory",
                "title": format!("Directory for {path}"),
                "description": format!("The servlet reads and writes it as `{path}`."),
                "required": true,
            });
            let asked = start.ask(path, question);
            start.args.push(format!("--allow-path={asked}:{path}"));
        }
        start
    }

    /// Asks the user for a value. Returns its placeholder.
    fn ask(&mut self, name: &str, question: Value) -> String {
        let plain = name.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '_',
        });
        let mut key = plain.collect::<String>().trim_matches('_').to_owned();
        while key.is_empty() || self.asked.contains_key(&key) {
            key.push('x');
        }
        let placeholder = format!("${{user_config.{key}}}");
        self.asked.insert(key, question);
        placeholder
    }
}

/// A value of the configuration as a question.
fn question(key: &ConfigKey) -> Value {
    let schema = &key.schema;
    let kind = match schema["type"].as_str() {
        Some("integer" | "number") => "number",
        Some("boolean") => "boolean",
        _ => "string",
    };
    let title = schema["title"].as_str().map(str::to_owned);
    let mut question = json!({
        "type": kind,
        "title": title.unwrap_or_else(|| as_title(&key.name)),
        "description": key.description().unwrap_or(&key.name),
        "required": key.required,
    });
    if key.secret {
        question["sensitive"] = true.into();
    }
    if kind == "number" {
        for (bound, keyword) in [("min", "minimum"), ("max", "maximum")] {
            if schema[keyword].is_number() {
                question[bound] = schema[keyword].clone();
            }
        }
    }
    match &schema["default"] {
        default @ (Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            question["default"] = default.clone();
        }
        // Without a default, clients leave the placeholder in place of a value that the user has not set.
        _ if !key.required => question["default"] = "".into(),
        _ => {}
    }
    question
}

/// `api-key` as a title: `Api key`.
fn as_title(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
