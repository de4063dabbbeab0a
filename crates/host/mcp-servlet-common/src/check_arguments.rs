//! How arguments of tools are checked.

use serde::Deserialize;

/// How the arguments of calls are checked against the schema of the tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckArguments {
    /// If arguments do not match the tool's schema, the model gets a result with `isError` that
    /// explains why.
    #[default]
    Check,
    /// Like [`Check`](Self::Check), but a string such as `"10"` is read as a number, a boolean or
    /// null if only that matches.
    Coerce,
    /// Arguments are not checked.
    Off,
}
