//! Several processes behind a load balancer, under load.

use crate::shell::{cargo, run};

/// Runs the tests of the command that take too long for each change, one after the other. They need HAProxy.
pub(super) fn check_processes() -> anyhow::Result<()> {
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--test", "machines"]);
    run(tests.args(["--", "--test-threads", "1", "--nocapture"]))
}
