//! The expansion of `export!`: a static, and the wasm exports that the sections need.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, LitStr};

use super::{Declaration, Function, Host, Sections};
use crate::function::emit::located;

/// Everything that `export!` expands to.
pub(super) fn servlet(declaration: &Declaration, sections: &Sections) -> TokenStream {
    let Declaration {
        krate,
        attributes,
        visibility,
        name,
        ..
    } = declaration;
    let private = quote!(#krate::__private);
    let description = description(sections, &private);
    let rendered = rendered("Description", &quote!(__DESCRIPTION), &private);
    let servlet = Ident::new("servlet", Span::mixed_site());
    let features = features(sections, &private);
    let needs = native_needs(sections, &private);
    let errors =
        conversion(&sections.errors, &private).map(|conversion| quote!(.with_errors(#conversion)));
    let exports = exports(name, sections, krate, &private);
    quote! {
        #[allow(dead_code, reason = "only the wasm exports and tests read it")]
        #[allow(long_running_const_eval, reason = "long descriptions take long to look through")]
        #(#attributes)*
        #visibility static #name: #krate::Servlet = {
            #description
            let #servlet = #krate::Servlet::new(
                #rendered,
                &#private::entries::<_, { __TOOLS.len() }>(__TOOLS),
            )
            .with_generators(const { &__DESCRIPTION.generators() });
            #[cfg(not(target_family = "wasm"))]
            let #servlet = #servlet
                .with_features({
                    #features
                    &__FEATURES
                })
                #needs
                #errors;
            #servlet
        };

        // A macro that is exported exists once in a crate, so a second `export!` is an error natively, too. A test has
        // one crate for several.
        #[cfg(not(test))]
        #[doc(hidden)]
        #[allow(non_local_definitions, reason = "`export!` may be used in a function")]
        #[macro_export]
        macro_rules! one_export_per_crate {
            () => {};
        }

        #[cfg(target_family = "wasm")]
        const _: () = {
            #exports
        };
    }
}

/// The constants `__TOOLS` and `__DESCRIPTION`.
fn description(sections: &Sections, private: &TokenStream) -> TokenStream {
    let tools = items("tool", &sections.tools, private);
    let or = |value: &Option<Expr>, default: TokenStream| match value {
        Some(value) => value.to_token_stream(),
        None => default,
    };
    let name = or(&sections.name, quote!(::core::env!("CARGO_PKG_NAME")));
    let version = or(&sections.version, quote!(::core::env!("CARGO_PKG_VERSION")));
    let instructions = or(&sections.instructions, quote!(""));
    quote! {
        const __TOOLS: &[#private::Item<#private::kind::tool>] = #tools;
        const __DESCRIPTION: #private::Description = #private::Description {
            name: #name,
            version: #version,
            instructions: #instructions,
            tools: __TOOLS,
        };
    }
}

/// The static `__FEATURES`, with the functions of the sections other than `tools`.
fn features(sections: &Sections, private: &TokenStream) -> TokenStream {
    let resources = items("resource", &sections.resources, private);
    let prompts = items("prompt", &sections.prompts, private);
    let completions = items("completion", &sections.completions, private);
    let list = |list: TokenStream| {
        let rendered = rendered("List", &quote!(#private::List::#list), private);
        quote!(#private::text(#rendered))
    };
    let resource_list = list(quote!(Resources(__RESOURCES)));
    let template_list = list(quote!(Templates(__RESOURCES)));
    let prompt_list = list(quote!(Prompts(__PROMPTS)));
    quote! {
        #[allow(dead_code, reason = "without sections, no export reads it")]
        #[allow(long_running_const_eval, reason = "many entries take long to compare")]
        static __FEATURES: #private::Features = {
            const __RESOURCES: &[#private::Item<#private::kind::resource>] = #resources;
            const __PROMPTS: &[#private::Item<#private::kind::prompt>] = #prompts;
            const __COMPLETIONS: &[#private::Item<#private::kind::completion>] = #completions;
            #private::Features::new(
                #private::Lists {
                    resources: #resource_list,
                    templates: #template_list,
                    prompts: #prompt_list,
                },
                &#private::ResourceEntry::in_order(
                    #private::entries::<_, { __RESOURCES.len() }>(__RESOURCES),
                ),
                &#private::entries::<_, { __PROMPTS.len() }>(__PROMPTS),
                &#private::entries::<_, { __COMPLETIONS.len() }>(__COMPLETIONS),
            )
        };
    }
}

/// The items of a list of functions of this kind, with a check of each one at its name.
fn items(kind: &str, functions: &[Function], private: &TokenStream) -> TokenStream {
    let marker = format_ident!("each_function_needs_{kind}_attribute");
    let check = format_ident!("unique_{kind}");
    let kind = Ident::new(kind, Span::call_site());
    let attributes: Vec<_> = functions
        .iter()
        .map(|function| &function.attributes)
        .collect();
    let items = functions.iter().map(|function| {
        quote!(<#private::#marker!(#function) as #private::Exported<#private::kind::#kind>>::ITEM)
    });
    let numbers: Vec<_> = (0..functions.len()).collect();
    let checks = functions
        .iter()
        .zip(&numbers)
        .skip(1)
        .map(|(function, number)| {
            let attributes = &function.attributes;
            let call = quote!(#private::#check(__ITEMS, __NUMBERS, #number));
            let check = located(call, function.span());
            quote!(#(#attributes)* const _: () = #check;)
        });
    quote! {{
        const __ITEMS: &[#private::Item<#private::kind::#kind>] = &[#(#(#attributes)* #items),*];
        const __NUMBERS: &[::core::primitive::usize] = &[#(#(#attributes)* #numbers),*];
        #(#checks)*
        __ITEMS
    }}
}

/// A reference to the JSON of a constant of this type.
fn rendered(ty: &str, value: &TokenStream, private: &TokenStream) -> TokenStream {
    let ty = Ident::new(ty, Span::call_site());
    quote! {{
        const __VALUE: #private::#ty = #value;
        #[allow(long_running_const_eval, reason = "long descriptions take long to render")]
        const __LENGTH: ::core::primitive::usize = __VALUE.length();
        #[allow(long_running_const_eval, reason = "long descriptions take long to render")]
        static __TEXT: [::core::primitive::u8; __LENGTH] = __VALUE.render::<__LENGTH>();
        &__TEXT
    }}
}

/// The constant `__NEEDS`, with a check of each entry; `None` without any of the sections.
fn needs(sections: &Sections, private: &TokenStream) -> Option<TokenStream> {
    let Sections {
        config,
        hosts,
        paths,
        calls,
        reads,
        ..
    } = sections;
    let is_empty = hosts.is_empty() && paths.is_empty() && calls.is_empty() && reads.is_empty();
    if config.is_none() && is_empty {
        return None;
    }
    let node = config.as_ref().map_or_else(
        || quote!(::core::option::Option::None),
        |ty| {
            located(
                quote!(::core::option::Option::Some(#private::config_node::<#ty>())),
                ty.span(),
            )
        },
    );
    let check_config = config
        .as_ref()
        .map(|ty| located(quote!(#private::check_config(__CONFIG)), ty.span()));
    let hosts_of_config = hosts.iter().filter_map(|host| match host {
        Host::OfConfig(key) => {
            let name = key.to_string();
            let check = quote!(#private::check_config_host(__CONFIG, #name));
            Some(located(check, key.span()))
        }
        Host::Fixed(_) => None,
    });
    let fixed_hosts = hosts.iter().filter_map(|host| match host {
        Host::Fixed(host) => Some(host),
        Host::OfConfig(_) => None,
    });
    let checks = hosts_of_config
        .chain(check_config)
        .chain(entry_checks("check_host", fixed_hosts, private))
        .chain(entry_checks("check_path", paths, private))
        .chain(entry_checks("check_call", calls, private))
        .chain(entry_checks("check_read", reads, private));
    let hosts = hosts.iter().map(|host| match host {
        Host::Fixed(host) => host.to_token_stream(),
        Host::OfConfig(key) => {
            LitStr::new(&format!("config.{key}"), key.span()).into_token_stream()
        }
    });
    Some(quote! {
        const __CONFIG: ::core::option::Option<&#private::Node> = #node;
        #(const _: () = #checks;)*
        const __NEEDS: #private::Needs = #private::Needs {
            config: __CONFIG,
            hosts: &[#(#hosts),*],
            paths: &[#(#paths),*],
            calls: &[#(#calls),*],
            reads: &[#(#reads),*],
        };
    })
}

/// Calls of this check for each entry, at the entry.
fn entry_checks<'a>(
    check: &str,
    entries: impl IntoIterator<Item = &'a Expr>,
    private: &TokenStream,
) -> impl Iterator<Item = TokenStream> {
    let check = Ident::new(check, Span::call_site());
    entries
        .into_iter()
        .map(move |entry| located(quote!(#private::#check(#entry)), entry.span()))
}

/// The servlet's method that sets its needs, for native tests.
fn native_needs(sections: &Sections, private: &TokenStream) -> Option<TokenStream> {
    let needs = needs(sections, private)?;
    let rendered = rendered("Needs", &quote!(__NEEDS), private);
    Some(quote! {
        .with_needs({
            #needs
            #rendered
        })
    })
}

/// The custom section with the needs. It is part of the module, but not of its data.
fn needs_section(sections: &Sections, private: &TokenStream) -> Option<TokenStream> {
    let needs = needs(sections, private)?;
    Some(quote! {
        #needs
        #[allow(long_running_const_eval, reason = "long descriptions take long to render")]
        const __NEEDS_LENGTH: ::core::primitive::usize = __NEEDS.length();
        #[unsafe(link_section = "mcp-servlet:needs")]
        static __NEEDS_SECTION: [::core::primitive::u8; __NEEDS_LENGTH] = __NEEDS.render::<__NEEDS_LENGTH>();
    })
}

/// The conversion of errors with the functions of the section `errors`, if there are any.
fn conversion(functions: &[Function], private: &TokenStream) -> Option<TokenStream> {
    if functions.is_empty() {
        return None;
    }
    let conversions = functions.iter().map(|function| {
        let attributes = &function.attributes;
        let error = Ident::new("error", Span::mixed_site());
        let convert = quote_spanned!(function.span()=> #private::converted(#error, #function));
        quote!(#(#attributes)* |#error| #convert)
    });
    let error = Ident::new("error", Span::mixed_site());
    Some(quote! {{
        const __CONVERSIONS: &[#private::Conversion] = &[#(#conversions),*];
        |#error| #private::converted_by(__CONVERSIONS, #error)
    }})
}

/// The wasm exports: those by which hosts recognize a servlet, and what the sections need.
fn exports(
    servlet: &Ident,
    sections: &Sections,
    krate: &TokenStream,
    private: &TokenStream,
) -> TokenStream {
    let needs = needs_section(sections, private);
    let features = features(sections, private);
    let conversion = conversion(&sections.errors, private);
    let begin = conversion.map(|conversion| quote!(#private::set_conversion(#conversion);));
    let call = (!sections.tools.is_empty()).then(|| quote!(call));
    let Sections {
        resources,
        prompts,
        completions,
        ..
    } = sections;
    let exports = [
        ("list_resources", resources),
        ("list_resource_templates", resources),
        ("read_resource", resources),
        ("list_prompts", prompts),
        ("get_prompt", prompts),
        ("complete", completions),
    ]
    .into_iter()
    .filter(|(_, functions)| !functions.is_empty())
    .map(|(name, _)| {
        let function = Ident::new(name, Span::call_site());
        quote!(#krate::__wasm_export! { __begin #name #function(&__FEATURES) })
    });
    quote! {
        #needs
        fn __begin() {
            #begin
        }
        #krate::__tool_exports! { #servlet __begin #call }
        #features
        #(#exports)*
    }
}

/// The marker type of a function: its path with the hygiene of this macro and the location of the author's path.
///
/// So rustc names the macro in an error about the path, and `export!` calls it by a name that says which attribute is
/// missing. Names of items mean the same in both cases, except `$crate`: its hygiene says which crate it is.
///
/// The path is used as a type instead of being imported: an import is ambiguous if a crate has the same name, as the
/// servlet's own crate may have in its doctests.
pub(crate) fn marker(path: TokenStream) -> TokenStream {
    let path = path.into_iter().map(|mut token| {
        if token.to_string() != "$crate" {
            token.set_span(Span::mixed_site().located_at(token.span()));
        }
        token
    });
    path.collect()
}
