//! The clients, and where each keeps its files.

use std::path::{Path, PathBuf};

use crate::places::{Places, Platform};

/// The folder that the Windows package of Claude Desktop uses as `%APPDATA%`. `pzs8sxrjxfjjc` stands for its publisher.
const CLAUDE_PACKAGE: &str = "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming";

/// A client whose configuration is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// The Copilot CLI.
    Copilot,
    /// The Codex CLI.
    Codex,
    /// The Gemini CLI.
    Gemini,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// opencode.
    OpenCode,
    /// Goose.
    Goose,
    /// Cline.
    Cline,
    /// Neovim.
    Neovim,
    /// Helix.
    Helix,
    /// A file that belongs to no known client.
    File,
}

impl Source {
    /// All of them, the first one first. The first server of a name is the one that is used.
    pub const ALL: [Self; 15] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::Copilot,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
        Self::Zed,
        Self::OpenCode,
        Self::Goose,
        Self::Cline,
        Self::Neovim,
        Self::Helix,
        Self::File,
    ];

    /// The name, such as `claude-code`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Copilot => "copilot",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::OpenCode => "opencode",
            Self::Goose => "goose",
            Self::Cline => "cline",
            Self::Neovim => "neovim",
            Self::Helix => "helix",
            Self::File => "file",
        }
    }

    /// The client of a [name](Self::name).
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// The files that the client reads, those of the project first.
    pub fn files(self, places: &Places) -> Vec<PathBuf> {
        let mut files = self.project_files(places);
        files.extend(self.user_files(places));
        files
    }

    /// The files of the project. The first one is in its folder.
    pub fn project_files(self, places: &Places) -> Vec<PathBuf> {
        let folder = &places.folder;
        let upwards = |name: &str| {
            let folders = places.upwards();
            folders.map(|folder| folder.join(name)).collect()
        };
        match self {
            Self::ClaudeCode => upwards(".mcp.json"),
            Self::Cursor => upwards(".cursor/mcp.json"),
            Self::VsCode => vec![folder.join(".vscode/mcp.json")],
            Self::Codex => vec![folder.join(".codex/config.toml")],
            Self::Gemini => vec![folder.join(".gemini/settings.json")],
            Self::Zed => vec![folder.join(".zed/settings.json")],
            Self::OpenCode => {
                let folders = [folder.clone(), folder.join(".opencode")];
                folders.iter().flat_map(|folder| opencode(folder)).collect()
            }
            Self::File => vec![folder.join("mcp.json")],
            _ => Vec::new(),
        }
    }

    /// The files of the user.
    pub fn user_files(self, places: &Places) -> Vec<PathBuf> {
        let Places {
            platform,
            home,
            config,
            xdg,
            local,
            claude,
            codex,
            copilot,
            ..
        } = places;
        match self {
            Self::ClaudeCode => vec![claude.join(".claude.json")],
            Self::ClaudeDesktop => {
                let file = "Claude/claude_desktop_config.json";
                // Windows moves what the installed package has in APPDATA.
                let package = local.join(CLAUDE_PACKAGE).join(file);
                let is_package = *platform == Platform::Windows;
                let package = is_package.then_some(package);
                package.into_iter().chain([config.join(file)]).collect()
            }
            Self::Cursor => vec![home.join(".cursor/mcp.json")],
            Self::VsCode => ["Code/User/mcp.json", "Code - Insiders/User/mcp.json"]
                .map(|path| config.join(path))
                .to_vec(),
            Self::Copilot => vec![copilot.join("mcp-config.json")],
            Self::Codex => vec![codex.join("config.toml")],
            Self::Gemini => vec![home.join(".gemini/settings.json")],
            Self::Windsurf => vec![home.join(".codeium/windsurf/mcp_config.json")],
            Self::Zed => vec![match platform {
                Platform::Linux => xdg.join("zed/settings.json"),
                Platform::MacOs => home.join(".config/zed/settings.json"),
                Platform::Windows => config.join("Zed/settings.json"),
            }],
            Self::OpenCode => opencode(&xdg.join("opencode")).to_vec(),
            Self::Goose => vec![match platform {
                Platform::Windows => config.join("Block/goose/config/config.yaml"),
                _ => xdg.join("goose/config.yaml"),
            }],
            Self::Cline => vec![
                home.join(".cline/data/settings/cline_mcp_settings.json"),
                config.join("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            ],
            Self::Neovim => vec![xdg.join("nvim/mcp.json")],
            Self::Helix => vec![xdg.join("helix/mcp.json")],
            Self::File => Vec::new(),
        }
    }

    /// The format of the client's files, and the members that lead to its servers. None for clients whose files are only
    /// read: YAML, and plugins that share a file.
    pub(crate) fn format(self) -> Option<(Format, &'static [&'static str])> {
        let servers: &[&str] = match self {
            Self::VsCode => &["servers"],
            Self::Zed => &["context_servers"],
            Self::OpenCode => &["mcp"],
            Self::Codex => return Some((Format::Toml, &["mcp_servers"])),
            Self::Goose | Self::Neovim | Self::Helix | Self::File => return None,
            _ => &["mcpServers"],
        };
        Some((Format::Json, servers))
    }

    /// Whether servers can be added to the client's files, with [`ClientFile`](crate::ClientFile).
    pub fn can_be_edited(self) -> bool {
        self.format().is_some()
    }
}

/// How a file is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    /// JSON with comments and trailing commas.
    Json,
    Toml,
}

fn opencode(folder: &Path) -> [PathBuf; 2] {
    ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name))
}
