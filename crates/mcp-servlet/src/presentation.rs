//! How clients show what a servlet offers, beyond names and descriptions.

use crate::schema::text::{check_object, has_member};

/// Icons, user interface and `_meta`, each as JSON text, which the description holds as it is.
#[derive(Debug, Clone, Copy)]
pub struct Presentation {
    /// An array of icons, empty for none.
    pub icons: &'static str,
    /// The object at `ui` in `_meta` (MCP Apps), empty for none.
    pub ui: &'static str,
    /// The object `_meta` but for `ui`, empty for none.
    pub meta: &'static str,
}

impl Presentation {
    /// Nothing of all that.
    pub const NONE: Self = Self {
        icons: "",
        ui: "",
        meta: "",
    };

    /// Whether there is a `_meta`. One that is not a JSON object stops the build.
    pub(crate) const fn has_meta(&self) -> bool {
        if !self.meta.is_empty() {
            assert!(
                matches!(self.meta.trim_ascii().as_bytes().first(), Some(b'{')),
                "`meta` must be a JSON object: it must start with `{{`"
            );
            check_object(self.meta);
            assert!(
                self.ui.is_empty() || !has_member(self.meta, "ui"),
                "`meta` has a member `ui` beside the option `ui`"
            );
        }
        !self.ui.is_empty() || !self.meta.is_empty()
    }
}
