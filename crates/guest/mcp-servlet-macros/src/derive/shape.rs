//! The shape of a type: what serde's derived code reads and writes, and the options of each part.
//!
//! It has no tokens but the author's, so that one function reads a type and another one writes its schema.

use proc_macro2::TokenStream;
use syn::{Field, Type, Variant};

use super::options::{FieldOptions, VariantOptions};

/// A valid type.
pub(crate) enum Shape<'a> {
    /// The JSON of another type.
    Like {
        ty: &'a Type,
        /// Whether serde reads it exactly as that type, including when it is absent.
        is_transparent: bool,
    },
    /// JSON with this schema, which the author has written.
    Json(TokenStream),
    /// `null`
    Null,
    /// A struct with named fields.
    Object(Object<'a>),
    /// An enum, without the variants that serde skips.
    Enum(Vec<ValidVariant<'a>>),
}

/// Named fields, without those that serde skips.
pub(crate) struct Object<'a> {
    pub(crate) members: Vec<Member<'a>>,
}

/// One field of an object.
pub(crate) enum Member<'a> {
    /// A property of the object.
    Property(Box<Property<'a>>),
    /// A type whose properties become properties of the object.
    Flattened(&'a Type),
}

/// A field that is a property.
pub(crate) struct Property<'a> {
    /// The name in JSON.
    pub(crate) name: String,
    pub(crate) field: &'a Field,
    pub(crate) options: FieldOptions,
}

/// A variant of an enum.
pub(crate) struct ValidVariant<'a> {
    /// The name in JSON.
    pub(crate) name: String,
    pub(crate) variant: &'a Variant,
    pub(crate) options: VariantOptions,
    pub(crate) content: Option<Content<'a>>,
}

/// The content of a variant.
pub(crate) enum Content<'a> {
    /// One field of this type.
    Type(&'a Type),
    /// One field with this schema, which the author has written.
    Json(TokenStream),
    /// Named fields.
    Object(Object<'a>),
}

impl Object<'_> {
    /// Whether the object has a flattened type.
    pub(crate) fn has_flattened(&self) -> bool {
        let is_flattened = |member: &Member<'_>| matches!(member, Member::Flattened(_));
        self.members.iter().any(is_flattened)
    }

    /// Whether serde reads a property under another name, too.
    pub(crate) fn has_aliases(&self) -> bool {
        self.read_properties()
            .any(|property| !property.options.aliases.is_empty())
    }

    /// The names that serde reads, including aliases.
    pub(crate) fn names(&self) -> Vec<String> {
        self.read_properties()
            .flat_map(|Property { name, options, .. }| {
                let aliases = options.aliases.iter().map(syn::LitStr::value);
                std::iter::once(name.clone()).chain(aliases)
            })
            .collect()
    }

    fn read_properties(&self) -> impl Iterator<Item = &Property<'_>> {
        self.members.iter().filter_map(|member| match member {
            Member::Property(property) if !property.options.skip_deserializing => Some(&**property),
            _ => None,
        })
    }
}
