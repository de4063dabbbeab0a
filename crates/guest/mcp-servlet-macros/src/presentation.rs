//! How clients show tools, resources and prompts: `icons`, `ui` and `meta`, shared by all attributes.
//!
//! Each is an expression of constants, which the compiler checks and `const` evaluation renders.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;

use crate::attributes::Entry;
use crate::diagnostics::Diagnostics;
use crate::function::emit::{located, option};

/// The option `ui`, by the type that it takes.
enum Ui {
    /// A `ToolUi`.
    Tool(TokenStream),
    /// A `PageUi`.
    Page(TokenStream),
}

/// The options in the attribute.
#[derive(Default)]
pub(crate) struct Presentation {
    /// A list of icons.
    icons: Option<TokenStream>,
    ui: Option<Ui>,
    /// A list of members.
    meta: Option<TokenStream>,
}

impl Presentation {
    /// Reads `icons`.
    pub(crate) fn icons(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let example = "[StaticIcon::new(\"https://…\")]";
        self.icons = constant(entry, "a list of icons", example, diagnostics);
    }

    /// Reads `meta`.
    pub(crate) fn meta(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let example = "[Meta::json(\"example.com/key\", \"1\")]";
        self.meta = constant(entry, "a list of members", example, diagnostics);
    }

    /// Reads the `ui` of a tool, which links to a page.
    pub(crate) fn tool_ui(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let example = "ToolUi::page(\"ui://…\")";
        self.ui = constant(entry, "a `ToolUi`", example, diagnostics).map(Ui::Tool);
    }

    /// Reads the `ui` of a resource, which is a page.
    pub(crate) fn page_ui(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let example = "PageUi::new().connect(&[\"https://…\"])";
        self.ui = constant(entry, "a `PageUi`", example, diagnostics).map(Ui::Page);
    }

    /// Whether there is a `ui`.
    pub(crate) fn has_ui(&self) -> bool {
        self.ui.is_some()
    }

    /// The constants of the given options, each with a check at its value.
    pub(crate) fn constants(&self, private: &TokenStream) -> TokenStream {
        let icons = self.icons.as_ref().map(|icons| {
            let check = located(quote!(#private::check_icons(__ICONS)), icons.span());
            let reference = reference(icons);
            quote! {
                const __ICONS: &[#private::StaticIcon] = #reference;
                const _: () = #check;
            }
        });
        let ui = self.ui.as_ref().map(|ui| match ui {
            Ui::Page(ui) => quote!(const __UI: #private::PageUi = #ui;),
            Ui::Tool(ui) => {
                let check = located(quote!(#private::check_tool_ui(&__UI)), ui.span());
                quote! {
                    const __UI: #private::ToolUi = #ui;
                    const _: () = #check;
                }
            }
        });
        let has_ui = self.has_ui();
        let meta = self.meta.as_ref().map(|meta| {
            let check = located(quote!(#private::check_meta(__META, #has_ui)), meta.span());
            let reference = reference(meta);
            quote! {
                const __META: &[#private::Meta] = #reference;
                const _: () = #check;
            }
        });
        quote!(#icons #ui #meta)
    }

    /// The value in the description, in terms of the [constants](Self::constants).
    pub(crate) fn value(&self, private: &TokenStream) -> TokenStream {
        if self.icons.is_none() && self.ui.is_none() && self.meta.is_none() {
            return quote!(#private::Presentation::NONE);
        }
        let list = |is_given, name| if is_given { name } else { quote!(&[]) };
        let icons = list(self.icons.is_some(), quote!(__ICONS));
        let meta = list(self.meta.is_some(), quote!(__META));
        let kind = self.ui.as_ref().map(|ui| match ui {
            Ui::Tool(_) => quote!(#private::Ui::Tool(&__UI)),
            Ui::Page(_) => quote!(#private::Ui::Page(&__UI)),
        });
        let ui = option(kind.as_ref());
        quote!(#private::Presentation { icons: #icons, ui: #ui, meta: #meta })
    }
}

/// A reference to a list, so that an error about its type is at the value.
fn reference(list: &TokenStream) -> TokenStream {
    let and = located(quote!(&), list.span());
    quote!(#and #list)
}

/// The value as an expression. A string or an object in braces, as in JSON, gets an error with an example.
fn constant(
    entry: &Entry,
    what: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Option<TokenStream> {
    let value = entry.expression(diagnostics)?;
    let key = &entry.key;
    let is_data = value.to_string().starts_with(['{', '"']);
    if is_data {
        diagnostics.error(
            &value,
            format!("`{key}` takes {what}\nhelp: write `{key} = {example}`"),
        );
    }
    (!is_data).then_some(value)
}
