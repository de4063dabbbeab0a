//! URIs that several members share: resources that are listed twice, and templates that match the
//! same URIs or a resource of another member.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use mcp_servlet_common::normalized_uri;

use super::{Mount, Warning};
use crate::{FeatureKind, Listed, LoadError, Member};

/// Templates are compared in full if that takes at most this many steps. Longer ones, which only a
/// hostile member has, count as overlapping if their literal beginnings do.
const MAX_STEPS: usize = 1 << 20;

/// All comparisons together take at most this many steps. Later pairs are not compared, so the warnings about them are missing.
const MAX_STEPS_OF_ALL: usize = 1 << 24;

/// The maximum number of warnings about URIs that an earlier member also lists.
const MAX_TAKEN: usize = 3;

/// Warnings about resources and templates that an earlier member also has.
pub(crate) fn shared_uris(mounts: &[Mount]) -> Vec<Warning> {
    let mut problems = listed_twice(mounts, FeatureKind::Resource, Member::resources);
    problems.extend(listed_twice(
        mounts,
        FeatureKind::ResourceTemplate,
        Member::resource_templates,
    ));
    let mut problems = summarized(problems);
    problems.extend(overlaps(mounts));
    problems
}

/// One warning instead of many, as if the same servlet is served several times.
fn summarized(problems: Vec<Warning>) -> Vec<Warning> {
    match problems.first() {
        Some((member, _)) if problems.len() > MAX_TAKEN => {
            let member = *member;
            let all = problems.into_iter().map(|(_, problem)| problem).collect();
            vec![(member, LoadError::TakenUris { all })]
        }
        _ => problems,
    }
}

fn listed_twice(
    mounts: &[Mount],
    kind: FeatureKind,
    list: fn(&Member) -> &[Listed],
) -> Vec<Warning> {
    let mut owners = HashMap::new();
    let mut problems = Vec::new();
    for (at, Mount { member, .. }) in mounts.iter().enumerate() {
        for entry in list(member) {
            match owners.entry(entry.key()) {
                Entry::Vacant(free) => {
                    free.insert(member);
                }
                Entry::Occupied(owner) => {
                    let problem = LoadError::Taken {
                        kind,
                        entry: entry.key().to_owned(),
                        origin: member.place().to_owned(),
                        key: entry.key().to_owned(),
                        owner: owner.get().place().to_owned(),
                    };
                    problems.push((at, problem));
                }
            }
        }
    }
    problems
}

/// One warning for each pair of members, about the first two templates that overlap, and one about
/// the first resource of the later member that a template of the earlier one matches.
fn overlaps(mounts: &[Mount]) -> Vec<Warning> {
    let each = mounts.iter().map(|mount| &mount.member);
    let templates: Vec<Vec<_>> = each
        .clone()
        .map(|one| patterns(one.resource_templates()).collect())
        .collect();
    // A resource that an earlier member also lists is skipped.
    let mut seen = HashSet::new();
    let resources: Vec<Vec<_>> = each
        .map(|one| {
            let listed = patterns(one.resources());
            listed.filter(|one| seen.insert(one.text)).collect()
        })
        .collect();
    let origin = |at: usize| mounts[at].member.place().to_owned();
    let mut left = Steps(MAX_STEPS_OF_ALL);
    let mut problems = Vec::new();
    for second in 0..mounts.len() {
        for first in 0..second {
            // Equal templates have a warning already, because they are listed twice.
            if let Some((one, other)) = left.overlap(&templates[second], &templates[first]) {
                let problem = LoadError::Overlap {
                    template: one.text.to_owned(),
                    origin: origin(second),
                    other: other.text.to_owned(),
                    owner: origin(first),
                };
                problems.push((second, problem));
            }
            if let Some((one, other)) = left.overlap(&resources[second], &templates[first]) {
                let problem = LoadError::Covered {
                    uri: one.text.to_owned(),
                    origin: origin(second),
                    template: other.text.to_owned(),
                    owner: origin(first),
                };
                problems.push((second, problem));
            }
        }
    }
    problems
}

fn patterns(listed: &[Listed]) -> impl Iterator<Item = Pattern<'_>> {
    listed.iter().map(|one| Pattern::of(one.key()))
}

/// How many steps comparisons may still take.
struct Steps(usize);

impl Steps {
    /// The first two different patterns that match the same URI, as far as there are steps left.
    fn overlap<'p, 't>(
        &mut self,
        later: &'p [Pattern<'t>],
        earlier: &'p [Pattern<'t>],
    ) -> Option<(&'p Pattern<'t>, &'p Pattern<'t>)> {
        let pairs = later
            .iter()
            .flat_map(|one| earlier.iter().map(move |other| (one, other)));
        for (one, other) in pairs {
            self.0 = self.0.checked_sub(one.steps(other))?;
            if one.text != other.text && one.overlaps(other) {
                return Some((one, other));
            }
        }
        None
    }
}

/// A URI template, as far as all dialects agree: `{name}` matches any text without `/`, and any
/// other expression matches any text.
struct Pattern<'t> {
    text: &'t str,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Literal(u8),
    Segment,
    Any,
}

impl Part {
    /// Whether this part is a variable that can match the other part.
    fn takes(self, other: Self) -> bool {
        match self {
            Self::Literal(_) => false,
            Self::Segment => other != Self::Literal(b'/'),
            Self::Any => true,
        }
    }

    fn is_variable(self) -> bool {
        !matches!(self, Self::Literal(_))
    }
}

impl<'t> Pattern<'t> {
    fn of(text: &'t str) -> Self {
        let mut parts = Vec::new();
        let normalized = normalized_uri(text);
        let mut rest = &*normalized;
        while let Some((literal, after)) = rest.split_once('{') {
            parts.extend(literal.bytes().map(Part::Literal));
            let (expression, after) = after.split_once('}').unwrap_or((after, ""));
            let is_plain = expression.starts_with(|one: char| one.is_ascii_alphanumeric())
                && !expression.contains(['*', ',']);
            parts.push(if is_plain { Part::Segment } else { Part::Any });
            rest = after;
        }
        parts.extend(rest.bytes().map(Part::Literal));
        Self { text, parts }
    }

    fn literal_start(&self) -> impl Iterator<Item = Part> {
        self.parts
            .iter()
            .copied()
            .take_while(|part| !part.is_variable())
    }

    /// The position at which the literal beginnings of both templates differ, if they do.
    fn difference(&self, other: &Self) -> Option<usize> {
        let mut starts = self.literal_start().zip(other.literal_start());
        starts.position(|(one, other)| one != other)
    }

    /// How many steps a comparison takes.
    fn steps(&self, other: &Self) -> usize {
        let all = self.parts.len().saturating_mul(other.parts.len());
        let same = self.difference(other);
        same.map_or_else(|| all.clamp(1, MAX_STEPS), |same| same + 1)
    }

    /// Whether a URI exists that both templates match.
    fn overlaps(&self, other: &Self) -> bool {
        if self.difference(other).is_some() {
            return false;
        }
        if self.parts.len().saturating_mul(other.parts.len()) > MAX_STEPS {
            return true;
        }
        // `reached[j]`: some text matches both the parts of `self` so far and the first `j` parts
        // of `other`.
        let mut reached = vec![false; other.parts.len() + 1];
        reached[0] = true;
        close(&mut reached, None, &other.parts);
        for part in &self.parts {
            let before = reached;
            reached = vec![false; before.len()];
            for (at, _) in before.iter().enumerate().filter(|(_, reached)| **reached) {
                let next = other.parts.get(at);
                if part.is_variable() {
                    reached[at] = true;
                }
                match next {
                    Some(next) if next.is_variable() && next.takes(*part) => reached[at] = true,
                    Some(next) if next == part => reached[at + 1] = true,
                    _ => {}
                }
            }
            close(&mut reached, Some(*part), &other.parts);
        }
        reached[other.parts.len()]
    }
}

/// Adds what is reached if variables of `other` are empty, or if the variable `part` matches
/// literals of `other`.
fn close(reached: &mut [bool], part: Option<Part>, other: &[Part]) {
    for (at, next) in other.iter().enumerate() {
        let is_taken = part.is_some_and(|part| part.takes(*next));
        if reached[at] && (next.is_variable() || is_taken) {
            reached[at + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_overlap_if_some_uri_matches_both() {
        for (one, other, expected) in [
            ("file:///{+path}", "file:///secret/{name}", true),
            ("file:///{name}", "file:///{other}", true),
            ("notes://{id}", "notes://{id}/tags", false),
            ("notes://{+id}", "notes://{id}/tags", true),
            ("notes://{id}", "tags://{id}", false),
            ("db://{table}/rows", "db://{table}/columns", false),
            ("db://{table}/rows", "db://{table}/{what}", true),
            ("x:{a}-{b}", "x:{a}+{b}", true),
            ("x:{a}b", "x:c", false),
            ("x:{a}b", "x:b", true),
            ("x:a", "x:a", true),
            ("x:{/path*}", "x:/a/b/c", true),
            ("x:{a}", "x:a/b", false),
            ("DB://Users/{a}", "db://users/%c3{b}", true),
            ("db://users/A{a}", "db://users/a{b}", false),
        ] {
            for (one, other) in [(one, other), (other, one)] {
                let overlap = Pattern::of(one).overlaps(&Pattern::of(other));
                assert_eq!(overlap, expected, "{one} {other}");
            }
        }
    }

    #[test]
    fn many_hostile_templates_take_no_time() {
        for start in ["{a}".to_owned(), "x".repeat(2_000)] {
            take_no_time(&start);
        }
    }

    fn take_no_time(start: &str) {
        let texts = ["x", "y"].map(|end| {
            let texts = (0..10_000).map(|at| format!("{start}{at}{end}"));
            texts.collect::<Vec<_>>()
        });
        let [later, earlier] = texts.each_ref().map(|texts| {
            let patterns = texts.iter().map(|text| Pattern::of(text));
            patterns.collect::<Vec<_>>()
        });
        let mut left = Steps(MAX_STEPS_OF_ALL);
        assert!(left.overlap(&later, &earlier).is_none());
        assert!(left.0 < MAX_STEPS_OF_ALL / 1000, "no steps are left");
    }

    #[test]
    fn hostile_templates_take_no_time() {
        let long = format!("x:{}", "{a}b".repeat(1 << 20));
        assert!(Pattern::of(&long).overlaps(&Pattern::of(&long)));
    }
}
