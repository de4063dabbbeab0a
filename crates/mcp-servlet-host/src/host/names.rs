//! Which tools and prompts appear, and under which names.

use std::collections::HashMap;

use mcp_servlet_runtime::glob_matches;

use super::{
    Mount,
    index::{Chosen, Named, Names},
};
use crate::{Listed, LoadError, Tool};

/// What clients accept as the name of a tool: those of the big models take 64 characters, the protocol itself 128.
pub const MAX_NAME: usize = 64;

/// What stands before the names of a servlet's tools and prompts. Resources have none: clients know them by their
/// addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// The servlet's name and `_`, for those that another servlet has too.
    #[default]
    Auto,
    /// Nothing.
    Never,
    /// A name and `_`, for all of them; the servlet's name if there is none.
    Name(Option<String>),
}

/// Which tools of a servlet appear. In a pattern, `*` stands for any text and `?` for one character.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those that match one of these patterns; all if there are no patterns.
    pub only: Vec<String>,
    /// But not those that match one of these.
    pub except: Vec<String>,
}

impl Filter {
    fn lets_pass(&self, name: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|one| glob_matches(one, name));
        (self.only.is_empty() || any(&self.only)) && !any(&self.except)
    }

    /// Patterns that no tool matches: most likely they are misspelled.
    fn idle<'a>(&'a self, tools: &'a [Tool]) -> impl Iterator<Item = &'a String> {
        let all = self.only.iter().chain(&self.except);
        all.filter(|pattern| !tools.iter().any(|tool| glob_matches(pattern, tool.name())))
    }
}

/// Chooses tools and gives them names; tells of tools that do not appear, and of patterns and limits without tools. Whether
/// names are unique is not decided here.
pub(super) fn name_tools<'m>(
    mounts: &'m [Mount],
    former: &Names<'_>,
) -> (Vec<Chosen<'m, Tool>>, Vec<LoadError>) {
    let idle = mounts.iter().flat_map(|mount| {
        let patterns = mount.filter.idle(mount.servlet.tools());
        let patterns = patterns.map(|pattern| LoadError::NoSuchTool {
            servlet: mount.servlet.name().to_owned(),
            pattern: pattern.clone(),
        });
        patterns.chain(mount.servlet.unknown_tools())
    });
    let mut problems: Vec<_> = idle.collect();
    let mut tools = choose(mounts, former, |mount| {
        let tools = mount.servlet.tools().iter();
        tools.filter(|tool| mount.filter.lets_pass(tool.name()))
    });
    tools.retain(|tool| match name_problem(&tool.name) {
        None => true,
        Some(problem) => {
            problems.push(LoadError::ToolName {
                origin: mounts[tool.servlet].servlet.origin().to_owned(),
                tool: tool.name.clone(),
                problem,
            });
            false
        }
    });
    (tools, problems)
}

/// Gives names to all prompts; whether they are unique is not decided here.
pub(super) fn name_prompts<'m>(mounts: &'m [Mount], former: &Names<'_>) -> Vec<Chosen<'m, Listed>> {
    choose(mounts, former, |mount| mount.servlet.prompts().iter())
}

/// Entries of one list of every servlet: under the names that they have, or with the prefixes that they need.
fn choose<'m, T: Named, I: Iterator<Item = &'m T>>(
    mounts: &'m [Mount],
    former: &Names<'_>,
    list: impl Fn(&'m Mount) -> I,
) -> Vec<Chosen<'m, T>> {
    let mut chosen = Vec::new();
    let mut count: HashMap<String, usize> = HashMap::new();
    for (servlet, mount) in mounts.iter().enumerate() {
        for entry in list(mount) {
            let name = plain_name(mount, entry.name());
            *count.entry(name.clone()).or_default() += 1;
            chosen.push(Chosen {
                servlet,
                name,
                entry,
                is_new: true,
            });
        }
    }
    for one in &mut chosen {
        let mount = &mounts[one.servlet];
        if let Some(name) = former.get(&(one.servlet, one.entry.name())) {
            (*name).clone_into(&mut one.name);
            one.is_new = false;
        } else if mount.prefix == Prefix::Auto && count[one.name.as_str()] > 1 {
            one.name = prefixed(mount.servlet.name(), &one.name);
        }
    }
    chosen
}

/// The name of an entry if no other one has it.
fn plain_name(mount: &Mount, name: &str) -> String {
    match &mount.prefix {
        Prefix::Auto | Prefix::Never => name.to_owned(),
        Prefix::Name(None) => prefixed(mount.servlet.name(), name),
        Prefix::Name(Some(prefix)) => prefixed(prefix, name),
    }
}

/// A servlet may be called as a file is; what names of tools cannot have becomes `_`.
fn prefixed(prefix: &str, name: &str) -> String {
    let prefix = prefix
        .chars()
        .map(|one| if is_allowed(one) { one } else { '_' });
    prefix.chain(['_']).chain(name.chars()).collect()
}

fn is_allowed(one: char) -> bool {
    one.is_ascii_alphanumeric() || "_-.".contains(one)
}

/// Why clients would not take a name.
pub fn name_problem(name: &str) -> Option<String> {
    let length = name.chars().count();
    if length > MAX_NAME {
        return Some(format!(
            "it has {length} characters, and clients take {MAX_NAME}"
        ));
    }
    let wrong = name.chars().find(|one| !is_allowed(*one))?;
    Some(format!(
        "clients do not take {wrong:?} in it, only letters, digits, `_`, `-` and `.`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_clients_take() {
        assert_eq!(name_problem("get_user-by.id2"), None);
        assert_eq!(name_problem(&"x".repeat(64)), None);
        assert!(name_problem(&"x".repeat(65)).is_some_and(|text| text.contains("65 characters")));
        assert!(name_problem("a b").is_some_and(|text| text.contains("' '")));
        assert_eq!(prefixed("my tool (2)", "t"), "my_tool__2__t");
    }

    #[test]
    fn filters_choose_and_leave_out() {
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
