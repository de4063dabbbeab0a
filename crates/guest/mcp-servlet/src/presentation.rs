//! How clients show resources, prompts and tools, in addition to names and descriptions.

use crate::schema::text::{check_object, has_member};

/// Icons, user interface and `_meta`, each as JSON text that goes into the description unchanged.
#[derive(Debug, Clone, Copy)]
pub struct Presentation {
    /// An array of icons, empty for none.
    pub icons: &'static str,
    /// The object at `ui` in `_meta` (MCP Apps), empty for none.
    pub ui: &'static str,
    /// The object `_meta` without `ui`, empty for none.
    pub meta: &'static str,
}

impl Presentation {
    /// None of these.
    pub const NONE: Self = Self {
        icons: "",
        ui: "",
        meta: "",
    };

    /// Stops the build if `meta` is not a JSON object, or has a member `ui` next to the option `ui`.
    #[track_caller]
    pub const fn check(&self) {
        check_object(self.meta);
        assert!(
            self.ui.is_empty() || !has_member(self.meta, "ui"),
            "`meta` has a member `ui`, and there is the option `ui`\nhelp: keep one of them"
        );
    }

    /// Whether there is a `_meta`.
    pub(crate) const fn has_meta(&self) -> bool {
        !self.ui.is_empty() || !self.meta.is_empty()
    }
}
