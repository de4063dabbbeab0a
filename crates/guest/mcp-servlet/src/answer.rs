//! What a call answers: a result, an error for the model, or a fault.

pub(crate) mod error;
mod strict;
pub(crate) mod tool_result;
