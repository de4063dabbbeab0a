//! The tree of an earlier commit.

use std::path::PathBuf;
use std::process::Command;

use crate::shell::{root, run, target};

/// Checks a commit out into a folder of the target directory.
pub(super) fn checkout(folder: &str, commit: &str) -> anyhow::Result<PathBuf> {
    let tree = target().join(folder);
    if tree.join(".git").exists() {
        let checkout = ["checkout", "--quiet", "--force", "--detach", commit];
        run(Command::new("git").args(checkout).current_dir(&tree))?;
    } else {
        let mut add = Command::new("git");
        add.args(["worktree", "add", "--quiet", "--force", "--detach"]);
        run(add.arg(&tree).arg(commit).current_dir(root()))?;
    }
    Ok(tree)
}
