//! Twenty-one tools of three arguments each.

include!("../../tools/many.in");
