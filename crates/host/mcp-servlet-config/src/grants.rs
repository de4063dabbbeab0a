//! `allow.tools` and `allow.resources` of servlets: what they may call and read of other servlets and of remotes.
//!
//! See `docs/decisions/0076-servlets-call-tools.md`.

use std::{collections::BTreeSet, ops::Range};

use mcp_servlet_host::{Entry, Loaded, Mount, PossibleCall};
use mcp_servlet_runtime::Grant;
use toml::Spanned;

use super::{
    Config, Problem, Reader,
    bundle::ReadBundles,
    file::{File, ServletSection},
    members::Members,
    named::NamedSection,
};

/// A grant in the file.
#[derive(Clone, Debug)]
pub(super) struct ReadGrant {
    /// The section of the servlet.
    servlet: String,
    grant: Grant,
    is_for_tools: bool,
    span: Range<usize>,
}

impl ServletSection {
    fn grants(&self) -> impl Iterator<Item = (&Spanned<String>, bool)> {
        let tools = self.allow.tools.iter().map(|text| (text, true));
        tools.chain(self.allow.resources.iter().map(|text| (text, false)))
    }
}

impl Reader<'_> {
    /// The grants of a list in `allow`.
    pub(super) fn allowed(&mut self, texts: &[Spanned<String>]) -> Vec<Grant> {
        let mut grants = Vec::new();
        for text in texts {
            match text.get_ref().parse::<Grant>() {
                Ok(grant) => grants.push(grant),
                Err(error) => self.problem(text.span(), error.to_string()),
            }
        }
        grants
    }

    /// Checks whom the grants of all servlets name, and that no servlet can call itself through others: two such calls could wait
    /// for each other's instances.
    pub(super) fn grants(
        &mut self,
        file: &File,
        (bundles, named): (&ReadBundles, &[NamedSection<'_>]),
        (members, entries): (&Members, &[Entry]),
    ) {
        let sections = file.servlet.iter();
        let all = sections.flat_map(|(servlet, section)| {
            let grants = section.get_ref().grants();
            grants.filter_map(|(text, is_for_tools)| {
                Some(ReadGrant {
                    servlet: servlet.clone(),
                    grant: text.get_ref().parse().ok()?,
                    is_for_tools,
                    span: text.span(),
                })
            })
        });
        let mut grants: Vec<_> = all.collect();
        grants.sort_by_key(|one| one.span.start);
        let mut calls = Vec::new();
        for one in &grants {
            let to = one.grant.member();
            if let Some(message) = self.wrong_member(to, bundles, named) {
                self.problem(one.span.clone(), message);
                continue;
            }
            let line = self.line(one.span.start);
            for from in members.names_of(&one.servlet, entries) {
                // Servlets of a directory share their grants.
                if from == to && from != one.servlet {
                    continue;
                }
                let to = to.to_owned();
                let call = PossibleCall {
                    from,
                    to,
                    line: Some(line),
                };
                if let Some(message) = call.circle_with(&calls) {
                    self.problem(one.span.clone(), message);
                }
                calls.push(call);
            }
        }
        self.grants = grants;
    }
}

impl Config {
    /// Grants of tools that are not there. Tools of remotes that were not reached are not checked.
    pub(super) fn problems_of_grants(&self, loaded: &Loaded, remotes: &[Mount]) -> Vec<Problem> {
        let mounts = || loaded.mounts.iter().flatten().chain(remotes);
        let problems = self
            .grants
            .iter()
            .filter(|one| one.is_for_tools)
            .filter_map(|one| {
                let tool = one.grant.exact()?;
                let mount = mounts().find(|mount| mount.member.name() == one.grant.member())?;
                let is_unknown =
                    mount.member.as_remote().is_some() && mount.member.tools().is_empty();
                let is_there = mount.member.tool(tool).is_some();
                (!is_there && !is_unknown).then(|| Problem {
                    span: one.span.clone(),
                    message: mount.member.without_tool(tool),
                })
            });
        problems.collect()
    }

    /// Grants with which a tool that says that it only reads may call one that does not say so.
    pub(super) fn read_only_claims(&self, loaded: &Loaded, remotes: &[Mount]) -> Vec<Problem> {
        let mounts = || loaded.mounts.iter().flatten().chain(remotes);
        let mut problems = Vec::new();
        for one in self.grants.iter().filter(|one| one.is_for_tools) {
            let to = one.grant.member();
            let callee = mounts().find(|mount| mount.member.name() == to);
            let Some(callee) = callee.map(|mount| &mount.member) else {
                continue;
            };
            let callers = self.members.mounts(&one.servlet, loaded, &[]);
            for servlet in callers.iter().filter_map(|mount| mount.member.as_servlet()) {
                let declared = &servlet.module().needs().calls;
                // A servlet that declares its calls makes no others.
                let is_called = |tool: &str| {
                    let mut declared = declared.iter();
                    one.grant.allows_tool(to, tool)
                        && (declared.len() == 0 || declared.any(|one| one.allows_tool(to, tool)))
                };
                let mut tools = callee.tools().iter();
                let write = tools.find(|tool| !tool.is_read_only() && is_called(tool.name()));
                let claims = servlet.tools().iter().find(|tool| tool.is_read_only());
                if let Some((tool, write)) = claims.zip(write) {
                    problems.push(Problem {
                        span: one.span.clone(),
                        message: format!(
                            "tool `{}` of servlet `{}` is read-only, but may call `{to}:{}`, which is not",
                            tool.name(),
                            servlet.name(),
                            write.name()
                        ),
                    });
                }
            }
        }
        problems
    }

    /// The first grant of each servlet that calls nothing.
    pub(super) fn unused_grants(&self, loaded: &Loaded) -> Vec<Problem> {
        let mut seen = BTreeSet::new();
        let first = self.grants.iter().filter(|one| seen.insert(&one.servlet));
        let unused = first.filter(|one| {
            let mounts = self.members.mounts(&one.servlet, loaded, &[]);
            let mut servlets = mounts.iter().filter_map(|mount| mount.member.as_servlet());
            !mounts.is_empty() && servlets.all(|servlet| !servlet.module().calls_tools())
        });
        let problems = unused.map(|one| Problem {
            span: one.span.clone(),
            message: format!("servlet `{}` does not call tools", one.servlet),
        });
        problems.collect()
    }
}
