//! Which tools and prompts are listed, and under which names.

use std::collections::{HashMap, HashSet};

use mcp_servlet_runtime::glob_matches;

use super::{
    Mount, Warning,
    index::{Chosen, Former, Named},
};
use crate::{FeatureKind, Listed, LoadError, Member, Tool};

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
    former: &Former<'_>,
    approved: &ApprovedNames,
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
    let mut tools = choose(mounts, former, &approved.tools, reserved, |mount| {
        let tools = mount.member.tools().iter();
        tools.filter(|tool| mount.filter.lets_pass(tool.name()))
    });
    tools.retain(|tool| match name_problem(&tool.name) {
        None => true,
        Some(problem) => {
            let problem = LoadError::ToolName {
                origin: mounts[tool.member].member.place().to_owned(),
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
pub(super) fn name_prompts<'m>(
    mounts: &'m [Mount],
    former: &Former<'_>,
    approved: &ApprovedNames,
) -> Vec<Chosen<'m, Listed>> {
    let none = std::iter::empty();
    choose(mounts, former, &approved.prompts, none, |mount| {
        mount.member.prompts().iter()
    })
}

/// Whether the list of each member is known, or was known before: a remote has none until it was reached, and may hide it later.
pub(super) fn known(mounts: &[Mount], kind: FeatureKind, former: &Former<'_>) -> Vec<bool> {
    let is_known = |member: &Member| {
        let remote = member.as_remote();
        remote.is_none_or(|remote| remote.has_lists() && !remote.lists().partial.contains(&kind))
    };
    let mounts = mounts.iter().enumerate();
    mounts
        .map(|(at, mount)| former.was_known(at) || is_known(&mount.member))
        .collect()
}

/// Names the entries of all members: with the approved names, with those that clients already know, or else with a
/// prefix if they need one. `reserved` are names that belong to others.
///
/// A list that becomes known counts like one that was known at the start: its names may give those of others a prefix. So names do
/// not depend on which remote is reached first.
fn choose<'m, 'r, T: Named, I: Iterator<Item = &'m T>>(
    mounts: &'m [Mount],
    former: &Former<'_>,
    approved: &NamesOfMembers,
    reserved: impl Iterator<Item = &'r str>,
    list: impl Fn(&'m Mount) -> I,
) -> Vec<Chosen<'m, T>> {
    let mut chosen = Vec::new();
    // The names in lists that were not known before.
    let mut joining = HashSet::new();
    let mut count: HashMap<String, usize> = reserved.map(|name| (name.to_owned(), 1)).collect();
    for (member, mount) in mounts.iter().enumerate() {
        for entry in list(mount) {
            let name = plain_name(mount, entry.name());
            *count.entry(name.clone()).or_default() += 1;
            let was_known = former.was_known(member);
            if !was_known {
                joining.insert(name.clone());
            }
            chosen.push(Chosen {
                member,
                name,
                entry,
                other_name: None,
                is_new: was_known,
                is_approved: false,
            });
        }
    }
    for one in &mut chosen {
        let mount = &mounts[one.member];
        let own = one.entry.name();
        let known = former.names.get(&(one.member, own));
        let with_prefix = || prefixed(mount.member.name(), own);
        one.is_new &= known.is_none();
        if let Some(name) = approved
            .get(mount.member.name())
            .and_then(|all| all.get(own))
        {
            name.clone_into(&mut one.name);
            one.is_approved = true;
        } else if let Some(name) = known.filter(|_| !joining.contains(&one.name)) {
            (*name).clone_into(&mut one.name);
        } else if mount.prefix == Prefix::Auto && count[one.name.as_str()] > 1 {
            one.name = with_prefix();
        }
        let has_own_name = one.name == own;
        let other_name = || {
            if has_own_name {
                with_prefix()
            } else {
                own.to_owned()
            }
        };
        one.other_name = (mount.prefix == Prefix::Auto).then(other_name);
    }
    chosen
}

/// The names of the entries of each member, by the names that they have there.
type NamesOfMembers = HashMap<String, HashMap<String, String>>;

/// The names that the operator has approved. They do not depend on which members are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovedNames {
    tools: NamesOfMembers,
    prompts: NamesOfMembers,
}

impl ApprovedNames {
    /// Adds the name of an entry: the kind, the name of the member and the entry's name there, and its name for clients. Only tools
    /// and prompts have names.
    pub fn add(&mut self, kind: FeatureKind, (member, own): (&str, &str), name: &str) {
        let names = match kind {
            FeatureKind::Tool => &mut self.tools,
            FeatureKind::Prompt => &mut self.prompts,
            FeatureKind::Resource | FeatureKind::ResourceTemplate => return,
        };
        let names = names.entry(member.to_owned()).or_default();
        names.insert(own.to_owned(), name.to_owned());
    }
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
    use std::sync::Arc;

    use serde_json::json;
    use tokio::sync::watch;

    use super::*;
    use crate::{Host, Remote, RemoteLists, described::Described};

    #[test]
    fn accepts_names_that_clients_accept() {
        assert_eq!(name_problem("get_user-by.id2"), None);
        assert_eq!(name_problem(&"x".repeat(64)), None);
        assert!(name_problem(&"x".repeat(65)).is_some_and(|text| text.contains("65 characters")));
        assert!(name_problem("a b").is_some_and(|text| text.contains("' '")));
        assert_eq!(prefixed("my tool (2)", "t"), "my_tool__2__t");
    }

    /// A remote that was not reached yet, and what sets its lists.
    fn remote(name: &str, prefix: Prefix) -> (watch::Sender<Arc<RemoteLists>>, Mount) {
        let (sender, lists) = watch::channel(Arc::default());
        let name = name.to_owned();
        let remote: Arc<dyn Remote> = Arc::new(Described { name, lists });
        let mount = Mount {
            member: remote.into(),
            prefix,
            filter: Filter::default(),
        };
        (sender, mount)
    }

    /// Lists with these tools, and with prompts of the same names.
    fn lists(names: &[&str]) -> Arc<RemoteLists> {
        let entry = |name: &&str| {
            let entry = json!({ "name": name, "inputSchema": { "type": "object" } });
            entry.as_object().cloned().expect("an object")
        };
        let tools = names.iter().map(|name| Tool::new(entry(name)));
        let prompts = names.iter().map(entry);
        Arc::new(RemoteLists {
            protocol: "2025-11-25".to_owned(),
            tools: tools.filter_map(Result::ok).collect(),
            prompts: prompts
                .filter_map(|one| Listed::new(FeatureKind::Prompt, one).ok())
                .collect(),
            ..RemoteLists::default()
        })
    }

    /// The names of tools with their members, and whether prompts have the same ones.
    fn names(host: &Host) -> Vec<(String, String, String)> {
        let of = |kind: FeatureKind| {
            let served = host.served_names().filter(move |one| one.1 == kind);
            let mut names: Vec<_> = served
                .map(|(member, _, own, name)| (name.to_owned(), member.to_owned(), own.to_owned()))
                .collect();
            names.sort();
            names
        };
        assert_eq!(of(FeatureKind::Tool), of(FeatureKind::Prompt));
        of(FeatureKind::Tool)
    }

    fn orders(count: usize) -> Vec<Vec<usize>> {
        let Some(last) = count.checked_sub(1) else {
            return vec![Vec::new()];
        };
        let shorter = orders(last).into_iter();
        let longer = shorter.flat_map(|order| {
            (0..count).map(move |at| {
                let mut order = order.clone();
                order.insert(at, last);
                order
            })
        });
        longer.collect()
    }

    #[test]
    fn names_do_not_depend_on_which_remote_is_reached_first() {
        let some = |text: &str| Prefix::Name(Some(text.to_owned()));
        let (auto, never) = (Prefix::Auto, Prefix::Never);
        for members in [
            [
                ("a", &auto, &["x", "y"][..]),
                ("b", &auto, &["x"]),
                ("c", &auto, &["x", "z"]),
            ],
            [
                ("a", &auto, &["b_x"]),
                ("b", &auto, &["x"]),
                ("c", &auto, &["x"]),
            ],
            [
                ("a", &never, &["x"]),
                ("b", &never, &["x"]),
                ("c", &auto, &["x"]),
            ],
            [
                ("a", &auto, &["x"]),
                ("b", &some("a"), &["x"]),
                ("c", &auto, &["x", "a_x"]),
            ],
            [
                ("a", &auto, &["b_c"]),
                ("a_b", &auto, &["c", "x"]),
                ("d", &auto, &["b_c", "c"]),
            ],
        ] {
            let mut expected = None;
            for order in orders(members.len()) {
                let remotes: Vec<_> = members
                    .iter()
                    .map(|(name, prefix, _)| remote(name, Prefix::clone(prefix)))
                    .collect();
                let mounts = remotes.iter().map(|(_, mount)| mount.clone()).collect();
                let mut host = Host::compose(mounts);
                for at in &order {
                    remotes[*at].0.send_replace(lists(members[*at].2));
                    host = host.relisted();
                }
                let found = names(&host);
                let expected = expected.get_or_insert_with(|| found.clone());
                assert_eq!(found, *expected, "{order:?} of {members:?}");
                let together = host
                    .members()
                    .cloned()
                    .zip(members)
                    .map(|(member, one)| Mount {
                        member,
                        prefix: one.1.clone(),
                        filter: Filter::default(),
                    });
                assert_eq!(
                    names(&Host::compose(together.collect())),
                    *expected,
                    "{members:?}"
                );
            }
        }
    }

    #[test]
    fn an_entry_that_is_added_later_gets_the_prefix_alone() {
        let (a, first) = remote("a", Prefix::Auto);
        let (b, second) = remote("b", Prefix::Auto);
        a.send_replace(lists(&["x"]));
        b.send_replace(lists(&["y"]));
        let host = Host::compose(vec![first, second]).relisted();
        b.send_replace(lists(&["y", "x"]));
        let host = host.relisted();
        let tools: Vec<_> = host.tools().map(Tool::name).collect();
        assert_eq!(tools, ["x", "y", "b_x"]);
        assert_eq!(host.other_name(FeatureKind::Tool, "x"), Some("a_x"));
        assert_eq!(host.other_name(FeatureKind::Tool, "b_x"), Some("x"));
    }

    #[test]
    fn approved_names_hold_while_another_member_is_missing() {
        let (_a, first) = remote("a", Prefix::Auto);
        let (b, second) = remote("b", Prefix::Auto);
        let mut approved = ApprovedNames::default();
        for kind in [FeatureKind::Tool, FeatureKind::Prompt] {
            approved.add(kind, ("a", "x"), "a_x");
            approved.add(kind, ("b", "x"), "b_x");
        }
        let host = Host::compose(vec![first, second]).with_names(Arc::new(approved));
        b.send_replace(lists(&["x"]));
        let found = names(&host.relisted());
        assert_eq!(found, [("b_x".to_owned(), "b".to_owned(), "x".to_owned())]);
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
