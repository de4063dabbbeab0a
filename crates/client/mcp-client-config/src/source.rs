//! The clients, and where each keeps its files.

use std::path::PathBuf;

use crate::places::{Places, Platform};

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

    /// The files that the client reads, those of the project first.
    pub fn files(self, places: &Places) -> Vec<PathBuf> {
        let Places {
            platform,
            home,
            folder,
            config,
            codex,
            copilot,
        } = places;
        let dot_config = home.join(".config");
        let on_windows = |there: &str, elsewhere: &str| match platform {
            Platform::Windows => config.join(there),
            _ => dot_config.join(elsewhere),
        };
        let upwards = |name: &str| {
            places
                .upwards()
                .map(|folder| folder.join(name))
                .collect::<Vec<_>>()
        };
        match self {
            Self::ClaudeCode => with(upwards(".mcp.json"), [home.join(".claude.json")]),
            Self::ClaudeDesktop => vec![config.join("Claude/claude_desktop_config.json")],
            Self::Cursor => with(upwards(".cursor/mcp.json"), [home.join(".cursor/mcp.json")]),
            Self::VsCode => {
                let user = ["Code/User/mcp.json", "Code - Insiders/User/mcp.json"];
                with(vec![folder.join(".vscode/mcp.json")], user.map(|path| config.join(path)))
            }
            Self::Copilot => vec![copilot.join("mcp-config.json")],
            Self::Codex => vec![folder.join(".codex/config.toml"), codex.join("config.toml")],
            Self::Gemini => [folder, home].map(|it| it.join(".gemini/settings.json")).to_vec(),
            Self::Windsurf => vec![home.join(".codeium/windsurf/mcp_config.json")],
            Self::Zed => vec![
                folder.join(".zed/settings.json"),
                on_windows("Zed/settings.json", "zed/settings.json"),
            ],
            Self::OpenCode => {
                let folders = [folder.clone(), folder.join(".opencode"), dot_config.join("opencode")];
                let files = |folder: PathBuf| ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name));
                folders.into_iter().flat_map(files).collect()
            }
            Self::Goose => vec![on_windows("Block/goose/config/config.yaml", "goose/config.yaml")],
            Self::Cline => vec![
                home.join(".cline/data/settings/cline_mcp_settings.json"),
                config.join("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            ],
            Self::Neovim => vec![dot_config.join("nvim/mcp.json")],
            Self::Helix => vec![dot_config.join("helix/mcp.json")],
            Self::File => vec![folder.join("mcp.json")],
        }
    }
}

fn with<const N: usize>(mut files: Vec<PathBuf>, more: [PathBuf; N]) -> Vec<PathBuf> {
    files.extend(more);
    files
}
