//! How clients show tools, resources and prompts, in addition to names and descriptions: the values of `icons`, `ui` and `meta`.
//!
//! All of them are constants, which `const` evaluation renders into the description.

use mcp_servlet_types::IconTheme;

use crate::const_text::{begins, refuse, same};
use crate::schema::text::problem;

/// An icon, for the option `icons`.
///
/// ```
/// use mcp_servlet::{IconTheme, StaticIcon};
///
/// const ICONS: [StaticIcon; 2] = [
///     StaticIcon::new("https://example.com/sales.png").sizes(&["48x48"]),
///     StaticIcon::new("data:image/svg+xml,…").mime_type("image/svg+xml").theme(IconTheme::Dark),
/// ];
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StaticIcon {
    pub(crate) src: &'static str,
    pub(crate) mime_type: &'static str,
    pub(crate) sizes: &'static [&'static str],
    pub(crate) theme: Option<IconTheme>,
}

impl StaticIcon {
    /// An icon at an `https:` or `data:` URI. Clients load icons from no other URIs.
    #[must_use]
    pub const fn new(src: &'static str) -> Self {
        Self {
            src,
            mime_type: "",
            sizes: &[],
            theme: None,
        }
    }

    /// With a media type, such as `image/png`.
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'static str) -> Self {
        self.mime_type = mime_type;
        self
    }

    /// With the sizes that it has, such as `48x48`, or `any`.
    #[must_use]
    pub const fn sizes(mut self, sizes: &'static [&'static str]) -> Self {
        self.sizes = sizes;
        self
    }

    /// For backgrounds of this theme.
    #[must_use]
    pub const fn theme(mut self, theme: IconTheme) -> Self {
        self.theme = Some(theme);
        self
    }
}

/// The user interface of a tool, for the option `ui` of [`#[tool]`](macro@crate::tool) (MCP Apps).
///
/// ```
/// use mcp_servlet::{ToolUi, UiVisibility};
///
/// const UI: ToolUi = ToolUi::page("ui://sales/chart.html").visible_to(&[UiVisibility::App]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ToolUi {
    pub(crate) page: Option<&'static str>,
    pub(crate) visibility: &'static [UiVisibility],
}

impl ToolUi {
    /// No page: for a tool that only has a [visibility](Self::visible_to).
    pub const NO_PAGE: Self = Self {
        page: None,
        visibility: &[],
    };

    /// The page that shows the results: the `ui://` URI of a resource.
    #[must_use]
    pub const fn page(uri: &'static str) -> Self {
        Self {
            page: Some(uri),
            visibility: &[],
        }
    }

    /// Sets the callers of the tool. Default: the model and pages.
    #[must_use]
    pub const fn visible_to(mut self, visibility: &'static [UiVisibility]) -> Self {
        self.visibility = visibility;
        self
    }
}

/// A caller of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UiVisibility {
    /// The model.
    Model,
    /// Pages of the same server.
    App,
}

/// What a page may load and use, for the option `ui` of [`#[resource]`](macro@crate::resource) (MCP Apps). Clients deny
/// everything else.
///
/// ```
/// use mcp_servlet::{PageUi, UiPermission};
///
/// const UI: PageUi = PageUi::new()
///     .connect(&["https://api.example.com"])
///     .permissions(&[UiPermission::ClipboardWrite])
///     .prefers_border(true);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PageUi {
    /// Origins by the keys of the content security policy.
    pub(crate) connect: Option<&'static [&'static str]>,
    pub(crate) resource: Option<&'static [&'static str]>,
    pub(crate) frame: Option<&'static [&'static str]>,
    pub(crate) base_uri: Option<&'static [&'static str]>,
    pub(crate) permissions: &'static [UiPermission],
    pub(crate) domain: &'static str,
    pub(crate) prefers_border: Option<bool>,
}

impl Default for PageUi {
    fn default() -> Self {
        Self::new()
    }
}

impl PageUi {
    /// A page that loads and uses nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            connect: None,
            resource: None,
            frame: None,
            base_uri: None,
            permissions: &[],
            domain: "",
            prefers_border: None,
        }
    }

    /// The origins that it sends requests to.
    #[must_use]
    pub const fn connect(mut self, origins: &'static [&'static str]) -> Self {
        self.connect = Some(origins);
        self
    }

    /// The origins that it loads scripts, styles, images and fonts from.
    #[must_use]
    pub const fn resource(mut self, origins: &'static [&'static str]) -> Self {
        self.resource = Some(origins);
        self
    }

    /// The origins that it shows in frames.
    #[must_use]
    pub const fn frame(mut self, origins: &'static [&'static str]) -> Self {
        self.frame = Some(origins);
        self
    }

    /// The origins that may be its base URI.
    #[must_use]
    pub const fn base_uri(mut self, origins: &'static [&'static str]) -> Self {
        self.base_uri = Some(origins);
        self
    }

    /// What it uses of the browser.
    #[must_use]
    pub const fn permissions(mut self, permissions: &'static [UiPermission]) -> Self {
        self.permissions = permissions;
        self
    }

    /// The origin that it runs in, in the form that the client expects.
    #[must_use]
    pub const fn domain(mut self, domain: &'static str) -> Self {
        self.domain = domain;
        self
    }

    /// Whether the client should draw a border around it.
    #[must_use]
    pub const fn prefers_border(mut self, prefers_border: bool) -> Self {
        self.prefers_border = Some(prefers_border);
        self
    }
}

/// What a page uses of the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UiPermission {
    /// The camera.
    Camera,
    /// The microphone.
    Microphone,
    /// The location.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

/// A member of `_meta`, for the option `meta`.
///
/// ```
/// use mcp_servlet::Meta;
///
/// const META: [Meta; 2] = [
///     Meta::integer("example.com/cost", 2),
///     Meta::json("example.com/units", r#"["EUR", "USD"]"#),
/// ];
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    pub(crate) key: &'static str,
    pub(crate) value: MetaValue,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum MetaValue {
    Bool(bool),
    Integer(i64),
    String(&'static str),
    Json(&'static str),
}

impl Meta {
    /// A boolean.
    #[must_use]
    pub const fn bool(key: &'static str, value: bool) -> Self {
        let value = MetaValue::Bool(value);
        Self { key, value }
    }

    /// An integer.
    #[must_use]
    pub const fn integer(key: &'static str, value: i64) -> Self {
        let value = MetaValue::Integer(value);
        Self { key, value }
    }

    /// A string.
    #[must_use]
    pub const fn string(key: &'static str, value: &'static str) -> Self {
        let value = MetaValue::String(value);
        Self { key, value }
    }

    /// Any value, as JSON.
    #[must_use]
    pub const fn json(key: &'static str, json: &'static str) -> Self {
        let value = MetaValue::Json(json);
        Self { key, value }
    }
}

/// The values of `icons`, `ui` and `meta`.
#[derive(Debug, Clone, Copy)]
pub struct Presentation {
    /// The icons.
    pub icons: &'static [StaticIcon],
    /// The member `ui` of `_meta`.
    pub ui: Option<Ui>,
    /// The other members of `_meta`.
    pub meta: &'static [Meta],
}

/// The value of `ui`.
#[derive(Debug, Clone, Copy)]
pub enum Ui {
    /// Of a tool.
    Tool(&'static ToolUi),
    /// Of a resource.
    Page(&'static PageUi),
}

impl Presentation {
    /// None of these.
    pub const NONE: Self = Self {
        icons: &[],
        ui: None,
        meta: &[],
    };

    /// Whether there is a `_meta`.
    pub(crate) const fn has_meta(&self) -> bool {
        self.ui.is_some() || !self.meta.is_empty()
    }
}

/// Stops the build if clients would not load an icon.
#[track_caller]
pub const fn check_icons(icons: &[StaticIcon]) {
    let mut at = 0;
    while at < icons.len() {
        let src = icons[at].src;
        if !begins(src.as_bytes(), b"https://") && !begins(src.as_bytes(), b"data:") {
            refuse(&[
                "clients do not load the icon `",
                src,
                "`\nhelp: use an `https://` or a `data:` URI",
            ]);
        }
        at += 1;
    }
}

/// Stops the build if the page of a tool is not the URI of a user interface.
#[track_caller]
pub const fn check_tool_ui(ui: &ToolUi) {
    let Some(page) = ui.page else { return };
    if !begins(page.as_bytes(), b"ui://") {
        refuse(&[
            "`",
            page,
            "` is not the URI of a user interface\nhelp: such a URI begins with `ui://`",
        ]);
    }
}

/// Stops the build if a member of `meta` is not JSON, or if there are two of one name.
#[track_caller]
pub const fn check_meta(meta: &[Meta], has_ui: bool) {
    let mut at = 0;
    while at < meta.len() {
        let key = meta[at].key;
        if let MetaValue::Json(json) = meta[at].value {
            if let Some(problem) = problem(json) {
                refuse(&[
                    "`",
                    key,
                    "` in `meta`: ",
                    problem,
                    "\nhelp: for text, write `Meta::string`",
                ]);
            }
        }
        if has_ui && same(key, "ui") {
            refuse(&[
                "`meta` has a member `ui`, and there is the option `ui`\nhelp: keep one of them",
            ]);
        }
        let mut before = 0;
        while before < at {
            if same(meta[before].key, key) {
                refuse(&["`meta` has two members `", key, "`\nhelp: keep one of them"]);
            }
            before += 1;
        }
        at += 1;
    }
}
