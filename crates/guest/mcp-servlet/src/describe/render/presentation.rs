//! Renders icons, user interfaces and `_meta`.

use mcp_servlet_types::IconTheme;

use super::json::Text;
use crate::describe::presentation::{
    Meta, MetaValue, PageUi, Presentation, StaticIcon, ToolUi, Ui, UiPermission, UiVisibility,
};

impl PageUi {
    /// The length of the rendered `_meta` in bytes.
    pub const fn length(&self) -> usize {
        let mut text = Text::<0>::new();
        text.page_meta(self);
        text.length
    }

    /// The `_meta` of the page's contents as JSON; `N` is its [`length`](Self::length).
    pub const fn render<const N: usize>(&self) -> [u8; N] {
        let mut text = Text::<N>::new();
        text.page_meta(self);
        text.bytes
    }
}

impl<const N: usize> Text<N> {
    /// Icons and `_meta`, if there are any.
    pub(super) const fn presentation(&mut self, presentation: &Presentation) {
        if !presentation.icons.is_empty() {
            self.key("icons");
            self.icons(presentation.icons);
        }
        if presentation.has_meta() {
            self.key("_meta");
            self.meta(presentation.ui, presentation.meta);
        }
    }

    const fn icons(&mut self, icons: &[StaticIcon]) {
        self.byte(b'[');
        let mut at = 0;
        while at < icons.len() {
            let icon = &icons[at];
            self.separate();
            self.byte(b'{');
            self.key("src");
            self.string(icon.src);
            self.text("mimeType", icon.mime_type);
            self.strings("sizes", icon.sizes);
            match icon.theme {
                Some(IconTheme::Light) => self.text("theme", "light"),
                Some(IconTheme::Dark) => self.text("theme", "dark"),
                None => {}
            }
            self.byte(b'}');
            at += 1;
        }
        self.byte(b']');
    }

    const fn meta(&mut self, ui: Option<Ui>, members: &[Meta]) {
        self.byte(b'{');
        match ui {
            None => {}
            Some(Ui::Tool(ui)) => self.tool_ui(ui),
            Some(Ui::Page(ui)) => self.page_ui(ui),
        }
        let mut at = 0;
        while at < members.len() {
            self.key(members[at].key);
            match members[at].value {
                MetaValue::Bool(true) => self.raw("true"),
                MetaValue::Bool(false) => self.raw("false"),
                MetaValue::Integer(value) => self.signed(value),
                MetaValue::String(value) => self.string(value),
                MetaValue::Json(json) => self.raw(json),
            }
            at += 1;
        }
        self.byte(b'}');
    }

    const fn page_meta(&mut self, ui: &PageUi) {
        self.byte(b'{');
        self.page_ui(ui);
        self.byte(b'}');
    }

    const fn tool_ui(&mut self, ui: &ToolUi) {
        self.key("ui");
        self.byte(b'{');
        if let Some(page) = ui.page {
            self.text("resourceUri", page);
        }
        if !ui.visibility.is_empty() {
            self.key("visibility");
            self.byte(b'[');
            let mut at = 0;
            while at < ui.visibility.len() {
                self.separate();
                self.string(match ui.visibility[at] {
                    UiVisibility::Model => "model",
                    UiVisibility::App => "app",
                });
                at += 1;
            }
            self.byte(b']');
        }
        self.byte(b'}');
    }

    const fn page_ui(&mut self, ui: &PageUi) {
        self.key("ui");
        self.byte(b'{');
        let origins = [
            ("connectDomains", ui.connect),
            ("resourceDomains", ui.resource),
            ("frameDomains", ui.frame),
            ("baseUriDomains", ui.base_uri),
        ];
        self.policy(&origins);
        if !ui.permissions.is_empty() {
            self.key("permissions");
            self.byte(b'{');
            let mut at = 0;
            while at < ui.permissions.len() {
                self.key(match ui.permissions[at] {
                    UiPermission::Camera => "camera",
                    UiPermission::Microphone => "microphone",
                    UiPermission::Geolocation => "geolocation",
                    UiPermission::ClipboardWrite => "clipboardWrite",
                });
                self.raw("{}");
                at += 1;
            }
            self.byte(b'}');
        }
        self.text("domain", ui.domain);
        match ui.prefers_border {
            Some(true) => self.json("prefersBorder", "true"),
            Some(false) => self.json("prefersBorder", "false"),
            None => {}
        }
        self.byte(b'}');
    }

    /// The member `csp`, if any of its keys is set.
    const fn policy(&mut self, origins: &[(&str, Option<&[&str]>)]) {
        let mut is_open = false;
        let mut at = 0;
        while at < origins.len() {
            if let (key, Some(values)) = origins[at] {
                if !is_open {
                    self.key("csp");
                    self.byte(b'{');
                    is_open = true;
                }
                self.key(key);
                self.byte(b'[');
                self.each_string(values);
                self.byte(b']');
            }
            at += 1;
        }
        if is_open {
            self.byte(b'}');
        }
    }
}
