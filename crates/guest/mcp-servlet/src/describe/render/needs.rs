//! Renders the needs of a servlet, as hosts read them from its custom section.

use super::Side;
use super::json::Text;
use crate::describe::needs::Needs;

impl Needs {
    /// The length of the rendered needs in bytes.
    pub const fn length(&self) -> usize {
        let mut text = Text::<0>::new();
        text.needs(self);
        text.length
    }

    /// The needs as JSON; `N` is their [`length`](Self::length).
    pub const fn render<const N: usize>(&self) -> [u8; N] {
        let mut text = Text::<N>::new();
        text.needs(self);
        text.bytes
    }
}

impl<const N: usize> Text<N> {
    const fn needs(&mut self, needs: &Needs) {
        self.byte(b'{');
        if let Some(node) = needs.config {
            self.key("config");
            self.node(node, "", false, Side::Input);
        }
        self.strings("hosts", needs.hosts);
        self.strings("paths", needs.paths);
        self.strings("calls", needs.calls);
        self.strings("reads", needs.reads);
        self.byte(b'}');
    }

    /// A member with a list of strings, unless it is empty.
    pub(super) const fn strings(&mut self, name: &str, values: &[&str]) {
        if values.is_empty() {
            return;
        }
        self.key(name);
        self.byte(b'[');
        self.each_string(values);
        self.byte(b']');
    }
}
