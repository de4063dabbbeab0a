//! The schema of `url::Url`.

use url::Url;

use super::{Node, Schema};

impl Schema for Url {
    const NODE: &'static Node = &Node::string()
        .with_description("an absolute URL")
        .with_example("\"https://example.com/\"")
        .with_format("uri");
}
