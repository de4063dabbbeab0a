//! Parts of a module that are not needed to run it.

use mcp_servlet_runtime::Module;

use super::{finding::Finding, findings::Findings};

/// Custom sections for debuggers and people.
const FOR_PEOPLE: [&str; 3] = [".debug_", "name", "producers"];

/// The minimum size of a finding in bytes. It must also be more than a tenth of the module.
const MIN_REPORTED_BYTES: u64 = 4096;

pub(super) fn check_size(findings: &mut Findings, module: &Module) {
    let for_people = module.sections.iter().filter(|section| {
        let mut names = FOR_PEOPLE.iter();
        names.any(|name| section.name.starts_with(name))
    });
    let size: u64 = for_people.map(|section| section.size).sum();
    if size > MIN_REPORTED_BYTES && size * 10 > module.size as u64 {
        let problem = format!(
            "{size} of {} bytes are the names of functions and other help for debuggers",
            module.size
        );
        let finding = Finding::new("size", problem);
        findings.add(finding.help("`servlet build` leaves them out").note());
    }
}
