//! Plugins of any other interface than MCP's: what the code that `xtp-codegen` generates builds upon.

mod bytes;

pub use self::bytes::Bytes;
