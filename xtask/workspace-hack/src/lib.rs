//! This package only has dependencies. `Cargo.toml` says what they are for.
