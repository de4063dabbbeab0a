//! What differs between two locks.

use mcp_catalog::{Catalog, Lists};
use mcp_servlet_config::{Lock, LockedMember, Permissions};
use serde_json::{Value, json};

use crate::catalog::changes;

/// A difference.
#[derive(Debug)]
pub(super) struct Difference {
    /// The name of the servlet or the remote.
    pub(super) member: String,
    /// What it means: one of the rules in [`report::RULES`](super::report::RULES).
    pub(super) rule: &'static str,
    /// Where it is, such as `` tool `search` /description``.
    pub(super) place: String,
    pub(super) before: Option<Value>,
    pub(super) after: Option<Value>,
}

/// What differs, member by member: first permissions, then the origin, the text that models read, schemas and names.
pub(super) fn between(old: &Lock, new: &Lock) -> Vec<Difference> {
    let mut all = Vec::new();
    for (name, member) in &old.members {
        match new.members.get(name) {
            Some(after) => compare(&mut all, name, member, after),
            None => all.push(whole(name, "gone", "no longer in the configuration")),
        }
    }
    let new = new.members.iter();
    for (name, member) in new.filter(|(name, _)| !old.members.contains_key(*name)) {
        add_wider(&mut all, name, &member.permissions, &Permissions::default());
        all.push(whole(name, "new", "not in the lock"));
    }
    all
}

fn whole(member: &str, rule: &'static str, place: &str) -> Difference {
    Difference {
        member: member.to_owned(),
        rule,
        place: place.to_owned(),
        before: None,
        after: None,
    }
}

/// Adds what a member can or may do now and could not do before.
fn add_wider(all: &mut Vec<Difference>, name: &str, new: &Permissions, old: &Permissions) {
    let rights = new.wider_than(old).into_iter();
    all.extend(rights.map(|right| whole(name, "wider", &right)));
}

fn compare(all: &mut Vec<Difference>, name: &str, old: &LockedMember, new: &LockedMember) {
    add_wider(all, name, &new.permissions, &old.permissions);
    for right in old.permissions.wider_than(&new.permissions) {
        all.push(whole(name, "narrower", &right));
    }
    for signer in old.other_signers(new) {
        all.push(whole(name, "signer", &signer));
    }
    for signer in new.other_signers(old) {
        all.push(whole(name, "narrower", &format!("signer: {signer}")));
    }
    let origins = [
        ("kind", json!(old.kind), json!(new.kind)),
        ("source", json!(old.source), json!(new.source)),
        ("image", json!(old.manifest), json!(new.manifest)),
        ("module", json!(old.module), json!(new.module)),
        ("contract", json!(old.contract), json!(new.contract)),
        ("target", json!(old.target), json!(new.target)),
        ("protocol", json!(old.protocol), json!(new.protocol)),
    ]
    .into_iter()
    .filter(|(_, old, new)| old != new);
    all.extend(origins.map(|(place, before, after)| Difference {
        member: name.to_owned(),
        rule: "origin",
        place: place.to_owned(),
        before: Some(before),
        after: Some(after),
    }));
    let mut changes = changes::between(&catalog(old), &catalog(new));
    changes.sort_by_key(|change| change.impact().code() != "text");
    all.extend(changes.into_iter().map(|change| Difference {
        member: name.to_owned(),
        rule: change.impact().code(),
        place: change.place(),
        before: change.before,
        after: change.after,
    }));
    for (key, item) in &old.items {
        let Some(after) = new.items.get(key) else {
            continue;
        };
        for (endpoint, served) in &item.served {
            let now = after.served.get(endpoint);
            if now != Some(served) {
                all.push(Difference {
                    member: name.to_owned(),
                    rule: "name",
                    place: key.clone(),
                    before: Some(json!(served)),
                    after: now.map(|now| json!(now)),
                });
            }
        }
    }
}

/// The entries of a member, as a catalog that can be compared.
fn catalog(member: &LockedMember) -> Catalog {
    let list = |kind: &str| {
        member
            .items
            .iter()
            .filter(|(key, _)| {
                let rest = key.strip_prefix(kind);
                rest.is_some_and(|rest| rest.starts_with(' '))
            })
            .map(|(_, item)| json!(item.entry))
            .collect::<Value>()
    };
    let lists = json!({
        "protocol": "",
        "server": {
            "info": member.server,
            "capabilities": {},
            "instructions": member.instructions,
        },
        "tools": list("tool"),
        "resources": list("resource"),
        "resourceTemplates": list("template"),
        "prompts": list("prompt"),
    });
    let lists: Result<Lists, _> = serde_json::from_str(&lists.to_string());
    Catalog::from(&lists.expect("lists of objects"))
}
