//! Contracts: what a servlet says about itself in its module, compared with what it describes.

use std::borrow::Cow;

use mcp_catalog::canonical_json;
use mcp_servlet_call::JsonObject;
use mcp_servlet_common::escape_pointer;
use mcp_servlet_runtime::{Contract, Guest};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{FeatureKind, LoadError, Servlet, features::fixed_resources};

impl Servlet {
    /// What the servlet says about itself: the outputs of the exports that list what it offers. This runs them.
    ///
    /// # Errors
    /// [`LoadError`] if one of them fails.
    pub fn to_contract(&self) -> Result<Contract, LoadError> {
        let guest = self.guest();
        let mut contract = Contract::default();
        for (_, export) in listing_exports(guest) {
            let failed = |source| LoadError::List {
                servlet: guest.name().to_owned(),
                export,
                source: Box::new(source),
            };
            let output = guest.list(export).map_err(failed)?;
            let added = contract.add(export, &always_listed(&output));
            added.map_err(|problem| LoadError::BadList {
                servlet: guest.name().to_owned(),
                export,
                at: "top level".to_owned(),
                problem,
            })?;
        }
        Ok(contract)
    }

    /// The SHA-256 digest of what the module promises in its contract: what models read, and what the servlet needs. It does not
    /// change with the code or the version. None if the module has no contract.
    ///
    /// See decision 67.
    pub fn contract_digest(&self) -> Option<[u8; 32]> {
        self.module().contract()?;
        let items = self.entries().map(|(kind, key, entry)| {
            let key = format!("{kind} {key}");
            (key, Value::from(entry.clone()))
        });
        let promised = json!({
            "abi": self.abi().to_string(),
            "instructions": self.instructions(),
            "items": items.collect::<JsonObject>(),
            "needs": self.module().needs(),
        });
        Some(Sha256::digest(canonical_json(&promised)).into())
    }
}

/// The exports of a module that list what the servlet offers.
fn listing_exports(guest: &Guest) -> impl Iterator<Item = (FeatureKind, &'static str)> {
    let exports = FeatureKind::ALL
        .into_iter()
        .map(|kind| (kind, kind.list(guest.abi()).export));
    exports.filter(|(_, export)| guest.module().can_call(export))
}

/// Checks that a contract can be read and has the output of each export that lists something.
pub(crate) fn check_exports(guest: &Guest) -> Result<(), LoadError> {
    let module = guest.module();
    if let Some(problem) = module.contract_problem() {
        return Err(wrong(guest, format!("cannot be read: {problem}")));
    }
    let Some(contract) = module.contract() else {
        return Ok(());
    };
    let mut listing = listing_exports(guest).map(|(_, export)| export);
    if let Some(export) = listing.find(|export| contract.output(export).is_none()) {
        return Err(wrong(guest, format!("has no output of `{export}`")));
    }
    let lists = |export: &str| listing_exports(guest).any(|(_, listing)| listing == export);
    let mut exports = contract.exports();
    match exports.find(|export| !lists(export)) {
        None => Ok(()),
        Some(export) => {
            let problem = format!("has an output of `{export}`, which the servlet does not have");
            Err(wrong(guest, problem))
        }
    }
}

/// The output of an export that lists something, without the resources that functions of the servlet list: these change while the
/// servlet runs, and only their templates are a part of the contract.
fn always_listed(output: &[u8]) -> Cow<'_, [u8]> {
    let list = serde_json::from_slice(output).ok();
    let fixed = list.and_then(|mut list: JsonObject| {
        let count = fixed_resources(&list)?;
        list.shift_remove("_meta");
        list.get_mut("resources")?.as_array_mut()?.truncate(count);
        serde_json::to_vec(&list).ok()
    });
    fixed.map_or(Cow::Borrowed(output), Cow::Owned)
}

/// Checks that the output of an export is the one in the contract, except for the resources that functions list.
pub(crate) fn check_output(guest: &Guest, export: &str, output: &[u8]) -> Result<(), LoadError> {
    let contract = guest.module().contract();
    let Some(expected) = contract.and_then(|contract| contract.output(export)) else {
        return Ok(());
    };
    // Most outputs are the same text.
    if expected.as_bytes() == output {
        return Ok(());
    }
    let output = &*always_listed(output);
    // The output is valid JSON: it was read before.
    let (Ok(expected), Ok(found)) = (
        serde_json::from_str(expected),
        serde_json::from_slice(output),
    ) else {
        return Ok(());
    };
    match difference("", &expected, &found) {
        None => Ok(()),
        Some((pointer, how)) => {
            let place = place(export, &pointer, [&expected, &found]);
            let problem = format!("does not match the servlet: {place}: {how}");
            Err(wrong(guest, problem))
        }
    }
}

fn wrong(guest: &Guest, problem: String) -> LoadError {
    LoadError::Contract {
        origin: guest.origin().to_owned(),
        problem,
    }
}

/// The first place where an output differs from the contract, and how.
pub(crate) fn difference(
    at: &str,
    contract: &Value,
    output: &Value,
) -> Option<(String, &'static str)> {
    let pair = |pointer: String, contract: Option<&Value>, output: Option<&Value>| match (
        contract, output,
    ) {
        (Some(contract), Some(output)) => difference(&pointer, contract, output),
        (Some(_), None) => Some((pointer, "only in the contract")),
        (None, _) => Some((pointer, "not in the contract")),
    };
    match (contract, output) {
        (Value::Object(contract), Value::Object(output)) => {
            let added = output.keys().filter(|key| !contract.contains_key(*key));
            contract.keys().chain(added).find_map(|key| {
                let pointer = format!("{at}/{}", escape_pointer(key));
                pair(pointer, contract.get(key), output.get(key))
            })
        }
        (Value::Array(contract), Value::Array(output)) => {
            let longest = contract.len().max(output.len());
            (0..longest)
                .find_map(|one| pair(format!("{at}/{one}"), contract.get(one), output.get(one)))
        }
        _ if contract == output => None,
        _ => Some((at.to_owned(), "differs from the contract")),
    }
}

/// A place in the output of an export: within an item if there is one, such as `` tool `add`, /description``.
fn place(export: &str, pointer: &str, outputs: [&Value; 2]) -> String {
    let item = FeatureKind::ALL.into_iter().find_map(|kind| {
        let (member, key) = kind.members();
        let within = pointer.strip_prefix(&format!("/{member}/"))?;
        let (index, rest) = within.split_once('/').unwrap_or((within, ""));
        let at = index.parse::<usize>().ok()?;
        let key = outputs
            .iter()
            .find_map(|list| list[member][at][key].as_str())?;
        let slash = if rest.is_empty() { "" } else { ", /" };
        Some(format!("{kind} `{key}`{slash}{rest}"))
    });
    item.unwrap_or_else(|| format!("output of `{export}`, {pointer}"))
}
