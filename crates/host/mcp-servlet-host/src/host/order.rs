//! The order in which a host lists its tools.

use super::{index::Index, virtual_tools::VirtualTools};
use crate::Tool;

/// A tool by its number: one of a member, or a virtual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Member(usize),
    Virtual(usize),
}

/// The places of all tools. A virtual tool is listed after the members that its bundle follows.
pub(super) fn order(tools: &Index<Tool>, virtual_tools: &VirtualTools) -> Vec<Place> {
    let mut waiting = virtual_tools.places().enumerate().peekable();
    let mut order = Vec::new();
    for (number, member) in tools.members().enumerate() {
        while let Some((earlier, _)) = waiting.next_if(|(_, after)| *after <= member) {
            order.push(Place::Virtual(earlier));
        }
        order.push(Place::Member(number));
    }
    order.extend(waiting.map(|(number, _)| Place::Virtual(number)));
    order
}
