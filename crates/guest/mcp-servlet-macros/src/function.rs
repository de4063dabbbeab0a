//! The code that the attributes on functions share: signature, parameters, marker type.

pub(crate) mod arg;
pub(crate) mod attribute;
pub(crate) mod check;
pub(crate) mod default;
pub(crate) mod emit;
pub(crate) mod head;
pub(crate) mod limits;
pub(crate) mod parameters;
pub(crate) mod strip;
pub(crate) mod undocumented;

pub(crate) use self::arg::{json_literal, json_string, json_token};
pub(crate) use self::head::FnHead;
pub(crate) use self::parameters::ValidParam;
