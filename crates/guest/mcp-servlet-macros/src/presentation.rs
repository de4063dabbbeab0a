//! How clients show tools, resources and prompts: `icons`, `ui` and `meta`, shared by all attributes.
//!
//! Each is an expression of constants, which the compiler checks and `const` evaluation renders.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;

use crate::attributes::Entry;
use crate::diagnostics::Diagnostics;
use crate::function::emit::located;

/// The kind of item that has the attribute: the type of `ui` depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bearer {
    /// `ui` links to a user interface.
    Tool,
    /// The resource may be a user interface.
    Resource,
}

/// The options in the attribute.
#[derive(Default)]
pub(crate) struct Presentation {
    /// A list of icons.
    icons: Option<TokenStream>,
    /// A `ToolUi` or a `PageUi`.
    ui: Option<TokenStream>,
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

    /// Reads `ui`.
    pub(crate) fn ui(&mut self, entry: &Entry, bearer: Bearer, diagnostics: &mut Diagnostics) {
        let (what, example) = match bearer {
            Bearer::Tool => ("a `ToolUi`", "ToolUi::page(\"ui://…\")"),
            Bearer::Resource => ("a `PageUi`", "PageUi::new().connect(&[\"https://…\"])"),
        };
        self.ui = constant(entry, what, example, diagnostics);
    }

    /// Whether there is a `ui`.
    pub(crate) fn has_ui(&self) -> bool {
        self.ui.is_some()
    }

    /// The constants of the given options, each with a check at its value.
    pub(crate) fn constants(&self, bearer: Bearer, private: &TokenStream) -> TokenStream {
        let icons = self.icons.as_ref().map(|icons| {
            let check = located(quote!(#private::check_icons(__ICONS)), icons.span());
            let reference = reference(icons);
            quote! {
                const __ICONS: &[#private::StaticIcon] = #reference;
                const _: () = #check;
            }
        });
        let ui = self.ui.as_ref().map(|ui| match bearer {
            Bearer::Resource => quote!(const __UI: #private::PageUi = #ui;),
            Bearer::Tool => {
                let check = located(quote!(#private::check_tool_ui(&__UI)), ui.span());
                quote! {
                    const __UI: #private::ToolUi = #ui;
                    const _: () = #check;
                }
            }
        });
        let value = self.ui_value(bearer, private);
        let meta = self.meta.as_ref().map(|meta| {
            let check = located(quote!(#private::check_meta(__META, &#value)), meta.span());
            let reference = reference(meta);
            quote! {
                const __META: &[#private::Meta] = #reference;
                const _: () = #check;
            }
        });
        quote!(#icons #ui #meta)
    }

    /// The value in the description, in terms of the [constants](Self::constants).
    pub(crate) fn value(&self, bearer: Bearer, private: &TokenStream) -> TokenStream {
        if self.icons.is_none() && self.ui.is_none() && self.meta.is_none() {
            return quote!(#private::Presentation::NONE);
        }
        let list = |is_given, name| if is_given { name } else { quote!(&[]) };
        let icons = list(self.icons.is_some(), quote!(__ICONS));
        let meta = list(self.meta.is_some(), quote!(__META));
        let ui = self.ui_value(bearer, private);
        quote!(#private::Presentation { icons: #icons, ui: #ui, meta: #meta })
    }

    fn ui_value(&self, bearer: Bearer, private: &TokenStream) -> TokenStream {
        match (&self.ui, bearer) {
            (None, _) => quote!(#private::Ui::None),
            (Some(_), Bearer::Tool) => quote!(#private::Ui::Tool(&__UI)),
            (Some(_), Bearer::Resource) => quote!(#private::Ui::Page(&__UI)),
        }
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
