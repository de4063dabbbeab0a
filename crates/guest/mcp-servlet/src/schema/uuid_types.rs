//! The schema of `uuid::Uuid`.

use uuid::Uuid;

use super::{Node, Schema};

impl Schema for Uuid {
    const NODE: &'static Node = &Node::string()
        .with_description("a UUID")
        .with_example("\"67e55044-10b1-426f-9247-bb680e5fe0c8\"")
        .with_format("uuid");
}
