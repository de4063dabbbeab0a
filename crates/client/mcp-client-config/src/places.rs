//! Where things are on a computer.

use std::path::{Path, PathBuf};

/// An operating system. Clients keep their files in its usual folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The platform of this program.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// The folders in which clients keep their files.
#[derive(Clone, Debug)]
pub struct Places {
    pub(crate) platform: Platform,
    pub(crate) home: PathBuf,
    /// The folder of the project.
    pub(crate) folder: PathBuf,
    /// The folder for configuration of programs with windows.
    pub(crate) config: PathBuf,
    /// The folder for configuration of programs that follow XDG.
    pub(crate) xdg: PathBuf,
    /// The folder for data that stays on this computer. Only Windows has one.
    pub(crate) local: PathBuf,
    /// The folder of Claude Code's file.
    pub(crate) claude: PathBuf,
    /// The folder of the Codex CLI.
    pub(crate) codex: PathBuf,
    /// The folder of the Copilot CLI.
    pub(crate) copilot: PathBuf,
}

impl Places {
    /// The folders for a user's home and a project. The environment moves some of them.
    pub fn new(
        platform: Platform,
        home: impl Into<PathBuf>,
        folder: impl Into<PathBuf>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let home = home.into();
        let folder_of = |variable: &str, otherwise: &str| {
            let set = environment(variable).filter(|path| !path.is_empty());
            set.map_or_else(|| home.join(otherwise), PathBuf::from)
        };
        Self {
            platform,
            folder: folder.into(),
            config: match platform {
                Platform::Linux => folder_of("XDG_CONFIG_HOME", ".config"),
                Platform::MacOs => home.join("Library/Application Support"),
                Platform::Windows => folder_of("APPDATA", "AppData/Roaming"),
            },
            xdg: folder_of("XDG_CONFIG_HOME", ".config"),
            local: folder_of("LOCALAPPDATA", "AppData/Local"),
            claude: folder_of("CLAUDE_CONFIG_DIR", ""),
            codex: folder_of("CODEX_HOME", ".codex"),
            copilot: folder_of("COPILOT_HOME", ".copilot"),
            home,
        }
    }

    /// The folder of the project.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a text names the folder of the project. On Windows, clients write either slash, and letters in either case.
    pub(crate) fn is_project(&self, text: &str) -> bool {
        let folder = self.folder.to_string_lossy();
        match self.platform {
            Platform::Linux | Platform::MacOs => text == folder,
            Platform::Windows => {
                let [text, folder] = [text, &folder].map(|path| path.replace('\\', "/"));
                text.eq_ignore_ascii_case(&folder)
            }
        }
    }

    /// The folder of the project and those above it. In a home, it ends there.
    pub(crate) fn upwards(&self) -> impl Iterator<Item = &Path> {
        let mut is_above_home = false;
        self.folder.ancestors().take_while(move |folder| {
            let goes_on = !is_above_home;
            is_above_home = *folder == self.home;
            goes_on
        })
    }
}
