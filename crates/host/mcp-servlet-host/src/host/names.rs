//! Which tools and prompts are listed, and under which names.

use std::collections::HashMap;

use mcp_servlet_runtime::glob_matches;

use super::{
    Mount, Warning,
    index::{Chosen, Named, Names},
};
use crate::{Listed, LoadError, Tool};

/// The maximum length of a tool's name. The models of large providers accept 64 characters, the
/// protocol 128.
pub const MAX_NAME: usize = 64;

/// The prefix for the names of a member's tools and prompts. Resources have no prefix: clients
/// know them by their URIs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// The member's name and `_`, but only for names that another member also has.
    #[default]
    Auto,
    /// No prefix.
    Never,
    /// This name and `_`, for all tools and prompts. `None` uses the member's name.
    Name(Option<String>),
}

/// Which tools of a member are listed. In a pattern, `*` matches any text and `?` matches one character.
///
/// Start with `Filter::default()`, which lists all tools, and set fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only tools that match one of these patterns; all tools if it is empty.
    pub only: Vec<String>,
    /// Tools that match one of these patterns are left out.
    pub except: Vec<String>,
}

impl Filter {
    fn lets_pass(&self, name: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|one| glob_matches(one, name));
        (self.only.is_empty() || any(&self.only)) && !any(&self.except)
    }

    /// Patterns that match no tool, most likely because they are misspelled.
    fn idle<'a>(&'a self, tools: &'a [Tool]) -> impl Iterator<Item = &'a String> {
        let all = self.only.iter().chain(&self.except);
        all.filter(|pattern| !tools.iter().any(|tool| glob_matches(pattern, tool.name())))
    }
}

/// Chooses tools and names them. Also returns problems: tools with names that clients do not
/// accept, and patterns and options without a tool, each with the number of its member. The names
/// may not be unique yet. `reserved` are the names of virtual tools.
pub(super) fn name_tools<'m, 'r>(
    mounts: &'m [Mount],
    former: &Names<'_>,
    reserved: impl Iterator<Item = &'r str>,
) -> (Vec<Chosen<'m, Tool>>, Vec<Warning>) {
    let idle = mounts.iter().enumerate().flat_map(|(at, mount)| {
        // The tools of a remote are unknown until it was reached.
        let is_known = mount.member.as_servlet().is_some() || !mount.member.tools().is_empty();
        let patterns = mount
            .filter
            .idle(mount.member.tools())
            .filter(move |_| is_known)
            .map(|pattern| LoadError::NoSuchTool {
                servlet: mount.member.name().to_owned(),
                pattern: pattern.clone(),
            });
        let problems = patterns.chain(mount.member.unknown_tools());
        problems.map(move |problem| (at, problem))
    });
    let mut problems: Vec<_> = idle.collect();
    let mut tools = choose(mounts, former, reserved, |mount| {
        let tools = mount.member.tools().iter();
        tools.filter(|tool| mount.filter.lets_pass(tool.name()))
    });
    tools.retain(|tool| match name_problem(&tool.name) {
        None => true,
        Some(problem) => {
            let problem = LoadError::ToolName {
                origin: mounts[tool.member].member.origin().to_owned(),
                tool: tool.name.clone(),
                problem,
            };
            problems.push((tool.member, problem));
            false
        }
    });
    (tools, problems)
}

/// Names all prompts. The names may not be unique yet.
pub(super) fn name_prompts<'m>(mounts: &'m [Mount], former: &Names<'_>) -> Vec<Chosen<'m, Listed>> {
    choose(mounts, former, std::iter::empty(), |mount| {
        mount.member.prompts().iter()
    })
}

/// Names the entries of all members: with the names that clients already know, or else with a
/// prefix if they need one. `reserved` are names that belong to others.
fn choose<'m, 'r, T: Named, I: Iterator<Item = &'m T>>(
    mounts: &'m [Mount],
    former: &Names<'_>,
    reserved: impl Iterator<Item = &'r str>,
    list: impl Fn(&'m Mount) -> I,
) -> Vec<Chosen<'m, T>> {
    let mut chosen = Vec::new();
    let mut count: HashMap<String, usize> = reserved.map(|name| (name.to_owned(), 1)).collect();
    for (member, mount) in mounts.iter().enumerate() {
        for entry in list(mount) {
            let name = plain_name(mount, entry.name());
            *count.entry(name.clone()).or_default() += 1;
            chosen.push(Chosen {
                member,
                name,
                entry,
                is_new: true,
            });
        }
    }
    for one in &mut chosen {
        let mount = &mounts[one.member];
        if let Some(name) = former.get(&(one.member, one.entry.name())) {
            (*name).clone_into(&mut one.name);
            one.is_new = false;
        } else if mount.prefix == Prefix::Auto && count[one.name.as_str()] > 1 {
            one.name = prefixed(mount.member.name(), &one.name);
        }
    }
    chosen
}

/// The name of an entry that conflicts with no other one.
fn plain_name(mount: &Mount, name: &str) -> String {
    match &mount.prefix {
        Prefix::Auto | Prefix::Never => name.to_owned(),
        Prefix::Name(None) => prefixed(mount.member.name(), name),
        Prefix::Name(Some(prefix)) => prefixed(prefix, name),
    }
}

/// Adds the prefix. It may come from the name of a file, so characters that tool names cannot have
/// become `_`.
fn prefixed(prefix: &str, name: &str) -> String {
    let prefix = prefix
        .chars()
        .map(|one| if is_allowed(one) { one } else { '_' });
    prefix.chain(['_']).chain(name.chars()).collect()
}

fn is_allowed(one: char) -> bool {
    one.is_ascii_alphanumeric() || "_-.".contains(one)
}

/// Why clients would not accept a name; `None` if they would.
pub fn name_problem(name: &str) -> Option<String> {
    let length = name.chars().count();
    if length > MAX_NAME {
        return Some(format!(
            "it has {length} characters; clients accept at most {MAX_NAME}"
        ));
    }
    let wrong = name.chars().find(|one| !is_allowed(*one))?;
    Some(format!(
        "it contains {wrong:?}; clients accept only letters, digits, `_`, `-` and `.`"
    ))
}

/// What is wrong with the name of the only tool of a servlet that describes no list; `None` if nothing is.
///
/// The interface of the first servlets says that the name should be that of the servlet (its binding). Hosts of that
/// interface list the tool under the name of the servlet. A file may have `_` instead of `-`.
pub fn single_name_problem(servlet: &str, tool: &str) -> Option<String> {
    let same = |name: &str| name.replace('-', "_");
    (same(servlet) != same(tool)).then(|| {
        format!(
            "the servlet `{servlet}` describes a single tool with another name, `{tool}`: some hosts list it as `{servlet}`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_names_that_clients_accept() {
        assert_eq!(name_problem("get_user-by.id2"), None);
        assert_eq!(name_problem(&"x".repeat(64)), None);
        assert!(name_problem(&"x".repeat(65)).is_some_and(|text| text.contains("65 characters")));
        assert!(name_problem("a b").is_some_and(|text| text.contains("' '")));
        assert_eq!(prefixed("my tool (2)", "t"), "my_tool__2__t");
    }

    #[test]
    fn filters_select_and_exclude() {
        let filter = Filter {
            only: vec!["get_*".into(), "put".into()],
            except: vec!["*_secret".into()],
        };
        for (name, passes) in [
            ("get_a", true),
            ("put", true),
            ("puts", false),
            ("get_secret", false),
        ] {
            assert_eq!(filter.lets_pass(name), passes, "{name}");
        }
        assert!(Filter::default().lets_pass("anything"));
    }
}
