//! What a servlet says about itself: the functions that `export!` lists, their descriptions, and these as JSON.

pub(crate) mod completion;
pub(crate) mod exported;
pub(crate) mod needs;
pub(crate) mod presentation;
pub(crate) mod prompt;
pub(crate) mod render;
pub(crate) mod resource;
pub(crate) mod tool;
pub(crate) mod unique;
