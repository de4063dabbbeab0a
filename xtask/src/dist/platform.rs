//! The platforms that packages exist for, and how each format calls them.

use std::env::consts;

use anyhow::Context;

/// A platform.
pub(super) struct Platform {
    pub(super) triple: &'static str,
    /// As `std::env::consts` calls them.
    os: &'static str,
    architecture: &'static str,
    /// `process.platform` and `process.arch` of Node.
    pub(super) node: (&'static str, &'static str),
    /// The platform tags of a wheel.
    pub(super) wheel: &'static [&'static str],
    /// The architecture in Debian packages and in images, if the platform has them.
    pub(super) linux: Option<&'static str>,
}

/// Binaries for Linux are static, so they run with any libc.
const PLATFORMS: [Platform; 5] = [
    Platform {
        triple: "x86_64-unknown-linux-musl",
        os: "linux",
        architecture: "x86_64",
        node: ("linux", "x64"),
        wheel: &[
            "manylinux_2_17_x86_64",
            "manylinux2014_x86_64",
            "musllinux_1_1_x86_64",
        ],
        linux: Some("amd64"),
    },
    Platform {
        triple: "aarch64-unknown-linux-musl",
        os: "linux",
        architecture: "aarch64",
        node: ("linux", "arm64"),
        wheel: &[
            "manylinux_2_17_aarch64",
            "manylinux2014_aarch64",
            "musllinux_1_1_aarch64",
        ],
        linux: Some("arm64"),
    },
    Platform {
        triple: "x86_64-apple-darwin",
        os: "macos",
        architecture: "x86_64",
        node: ("darwin", "x64"),
        wheel: &["macosx_10_12_x86_64"],
        linux: None,
    },
    Platform {
        triple: "aarch64-apple-darwin",
        os: "macos",
        architecture: "aarch64",
        node: ("darwin", "arm64"),
        wheel: &["macosx_11_0_arm64"],
        linux: None,
    },
    Platform {
        triple: "x86_64-pc-windows-msvc",
        os: "windows",
        architecture: "x86_64",
        node: ("win32", "x64"),
        wheel: &["win_amd64"],
        linux: None,
    },
];

impl Platform {
    pub(super) fn find(triple: &str) -> anyhow::Result<&'static Self> {
        let found = PLATFORMS.iter().find(|one| one.triple == triple);
        found.with_context(|| {
            let known = PLATFORMS.map(|one| one.triple).join(", ");
            format!("there are no packages for `{triple}`, only for {known}")
        })
    }

    pub(super) fn of_this_machine() -> anyhow::Result<&'static Self> {
        let found = PLATFORMS.iter().find(|one| one.is_of_this_machine());
        found.context("there are no packages for this machine; name a `--target`")
    }

    pub(super) fn is_of_this_machine(&self) -> bool {
        (self.os, self.architecture) == (consts::OS, consts::ARCH)
    }

    pub(super) fn is_windows(&self) -> bool {
        self.os == "windows"
    }

    /// The file name of the command.
    pub(super) fn program(&self) -> &'static str {
        if self.is_windows() {
            "servlet.exe"
        } else {
            "servlet"
        }
    }

    /// Every package of npm for a platform.
    pub(super) fn all_of_npm() -> impl Iterator<Item = String> {
        PLATFORMS.iter().map(Self::npm)
    }

    /// The package of npm.
    pub(super) fn npm(&self) -> String {
        let (os, cpu) = self.node;
        format!("@mcp-servlet/{os}-{cpu}")
    }
}
