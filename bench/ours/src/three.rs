//! One tool of three arguments.

include!("../../tools/one.in");
