//! The schemas of `serde_json`'s types.

use serde_json::{Map, Number, Value};

use super::{Node, Schema};

impl Schema for Value {
    const NODE: &'static Node = &Node::any();
}

impl Schema for Map<String, Value> {
    const NODE: &'static Node = &Node::map::<Value>();
}

impl Schema for Number {
    const NODE: &'static Node = &Node::number();
}
