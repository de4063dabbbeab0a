//! JSON Schemas as constants, known at compile time.
//!
//! A [`Schema`] is a tree of [`Node`]s built by `const` evaluation. `export!` renders it to JSON text
//! at compile time, so a servlet contains its schemas as plain data, without code that generates them.

/// Implements `Schema` for types: `type => node;`, or `type => node, default "JSON";`.
macro_rules! schemas {
    ($($ty:ty => $node:expr $(, default $default:literal)?;)*) => {
        $(impl $crate::Schema for $ty {
            const NODE: &'static Node = &$node;
            $(const DEFAULT: &'static str = $default;)?
        })*
    };
}

mod accepts;
#[cfg(any(
    feature = "chrono",
    feature = "jiff",
    feature = "serde_json",
    feature = "url",
    feature = "uuid"
))]
mod foreign_types;
pub(crate) mod gaps;
pub(crate) mod kind;
mod limits;
mod object;
pub(crate) mod optional;
pub(crate) mod scalar;
#[cfg(feature = "schemars")]
pub(crate) mod schemars_types;
mod std_types;
pub(crate) mod text;
pub(crate) mod words;

pub(crate) use self::kind::{Kind, Object};
pub use self::limits::Limits;
#[cfg(feature = "schemars")]
pub use self::schemars_types::Schemars;

/// A type whose JSON Schema is known at compile time.
///
/// Derive it together with serde's `Deserialize` (arguments) or `Serialize` (structured results):
///
/// ```
/// use mcp_servlet::prelude::*;
///
/// /// Where to look.
/// #[derive(Deserialize, Schema)]
/// #[serde(rename_all = "camelCase")]
/// struct Search {
///     /// words to look for
///     query: String,
///     /// the most results to return
///     max_results: Option<u32>,
/// }
/// ```
///
/// The derive reads serde's attributes, so the schema describes what serde does, and the doc comments,
/// which become descriptions. Implement it by hand only for a type with a handwritten serde
/// implementation:
///
/// ```
/// use mcp_servlet::schema::{Node, Schema};
///
/// struct Color(u32);
///
/// impl Schema for Color {
///     const NODE: &'static Node = &Node::string().with_format("hex-color");
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema",
    label = "this type cannot be an argument or a structured result",
    note = "derive it: `#[derive(Deserialize, Schema)]` for arguments, `#[derive(Serialize, Schema)]` for results",
    note = "for types of `serde_json`, `chrono`, `jiff`, `uuid` and `url`, turn on the feature of that name in `mcp-servlet`",
    note = "for a type that implements `schemars::JsonSchema`, write `#[arg(schemars)]`; for any JSON, use `RawJson`",
    note = "tuples and 128-bit integers are not supported: use a struct or a string"
)]
pub trait Schema {
    /// The schema of the type.
    const NODE: &'static Node;
    /// Whether a property of this type is optional: true for `Option`.
    const OPTIONAL: bool = false;
    /// Whether a result may contain `null` for this type: true for `Option`.
    const NULLABLE: bool = Self::OPTIONAL;
    /// For an object that rejects unknown properties: the known names.
    const NAMES: Option<&'static [&'static str]> = None;
    /// The JSON of `Default::default()`, empty if it is not known.
    #[doc(hidden)]
    const DEFAULT: &'static str = "";
    /// The variants of an enum that have no content, and the JSON of each.
    #[doc(hidden)]
    const UNITS: &'static [(&'static str, &'static str)] = &[];
}

/// Whether the schema cannot show `Default::default()` of a field of type `T`. An `Option` hides nothing: its default
/// is an absent field.
#[doc(hidden)]
pub const fn hides_default<T: Schema + ?Sized>() -> bool {
    T::DEFAULT.is_empty() && !T::OPTIONAL
}

/// One JSON Schema.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub(crate) kind: Kind,
    pub(crate) description: &'static str,
    /// JSON text, empty for none.
    pub(crate) example: &'static str,
}

/// One property of an object schema.
#[derive(Debug, Clone, Copy)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "they are independent, and none is public"
)]
pub struct Property {
    pub(crate) name: &'static str,
    pub(crate) node: &'static Node,
    pub(crate) description: &'static str,
    pub(crate) nullable: bool,
    /// Whether input must have it.
    pub(crate) required: bool,
    pub(crate) skipped: bool,
    pub(crate) in_input: bool,
    pub(crate) in_output: bool,
    pub(crate) default: &'static str,
    pub(crate) example: &'static str,
    pub(crate) limits: &'static Limits,
    /// Whether its value must not be shown.
    pub(crate) secret: bool,
}

impl Node {
    const fn new(kind: Kind) -> Self {
        Self {
            kind,
            description: "",
            example: "",
        }
    }

    /// The schema of `T`.
    pub const fn of_type<T: Schema + ?Sized>() -> Self {
        *T::NODE
    }

    /// Any JSON.
    pub const fn any() -> Self {
        Self::new(Kind::Any)
    }

    /// `null` only.
    pub const fn null() -> Self {
        Self::new(Kind::Null)
    }

    /// `true` or `false`.
    pub const fn boolean() -> Self {
        Self::new(Kind::Boolean)
    }

    /// An integer between the bounds, both inclusive.
    pub const fn integer(min: Option<i64>, max: Option<i64>) -> Self {
        Self::new(Kind::Integer { min, max })
    }

    /// Any number.
    pub const fn number() -> Self {
        Self::new(Kind::Number)
    }

    /// A string.
    pub const fn string() -> Self {
        Self::new(Kind::String {
            format: "",
            parsed: false,
        })
    }

    /// A string that the type parses; examples cannot be derived from it.
    pub const fn parsed() -> Self {
        Self::new(Kind::String {
            format: "",
            parsed: true,
        })
    }

    /// A string of one character.
    pub const fn character() -> Self {
        Self::new(Kind::Character)
    }

    /// The same string with a `format` of JSON Schema, such as `date-time`. No effect on other kinds.
    #[must_use]
    pub const fn with_format(self, format: &'static str) -> Self {
        match self.kind {
            Kind::String { parsed, .. } => Self {
                kind: Kind::String { format, parsed },
                ..self
            },
            _ => self,
        }
    }

    /// One of these strings.
    pub const fn one_of_strings(values: &'static [&'static str]) -> Self {
        Self::new(Kind::Enum { values, notes: "" })
    }

    /// The same strings with a line for each that needs an explanation, shown after any description. No effect on
    /// other kinds.
    #[must_use]
    pub const fn with_notes(self, notes: &'static str) -> Self {
        match self.kind {
            Kind::Enum { values, .. } => Self {
                kind: Kind::Enum { values, notes },
                ..self
            },
            _ => self,
        }
    }

    /// A list of `T`.
    pub const fn array<T: Schema + ?Sized>() -> Self {
        Self::new(Kind::Array {
            items: T::NODE,
            nullable: T::NULLABLE,
            unique: false,
            count: None,
        })
    }

    /// A list of exactly `count` `T`.
    pub const fn array_of<T: Schema + ?Sized>(count: usize) -> Self {
        Self::new(Kind::Array {
            items: T::NODE,
            nullable: T::NULLABLE,
            unique: false,
            count: Some(count),
        })
    }

    /// A list of `T` without repetitions.
    pub const fn set<T: Schema + ?Sized>() -> Self {
        Self::new(Kind::Array {
            items: T::NODE,
            nullable: T::NULLABLE,
            unique: true,
            count: None,
        })
    }

    /// An object with any keys and values of `T`.
    pub const fn map<T: Schema + ?Sized>() -> Self {
        Self::map_with_keys::<String, T>()
    }

    /// An object with keys that are read as `K`, and values of `T`.
    pub const fn map_with_keys<K: Schema + ?Sized, T: Schema + ?Sized>() -> Self {
        Self::new(Kind::Map {
            keys: K::NODE,
            values: T::NODE,
            nullable: T::NULLABLE,
        })
    }

    /// A value that matches any of these schemas.
    pub const fn any_of(variants: &'static [Node]) -> Self {
        let mut object = true;
        let mut at = 0;
        while at < variants.len() {
            object = object && variants[at].is_object();
            at += 1;
        }
        Self::new(Kind::AnyOf { variants, object })
    }

    /// A schema written as JSON text. Text that is not a JSON object stops the build.
    #[track_caller]
    pub const fn raw(json: &'static str) -> Self {
        text::check_object(json);
        Self::unchecked(json)
    }

    /// The same schema without the check.
    pub(crate) const fn unchecked(json: &'static str) -> Self {
        Self::new(Kind::Raw(json))
    }

    /// Stops the build if it is text that is not a JSON object.
    #[track_caller]
    pub(crate) const fn check_raw(&self) {
        if let Kind::Raw(json) = self.kind {
            text::check_object(json);
        }
    }

    /// The same schema with a description, unless it is empty.
    #[must_use]
    pub const fn with_description(self, description: &'static str) -> Self {
        let description = description.trim_ascii();
        if description.is_empty() {
            self
        } else {
            Self {
                description,
                ..self
            }
        }
    }

    /// The same schema with an example value, as JSON text. Text that is not JSON stops the build.
    #[must_use]
    #[track_caller]
    pub const fn with_example(self, json: &'static str) -> Self {
        text::check_value(json);
        Self {
            example: json,
            ..self
        }
    }
}

impl Property {
    /// A property of type `T`.
    pub const fn new<T: Schema + ?Sized>(name: &'static str, description: &'static str) -> Self {
        let property = Self::with_node(name, description, T::NODE, T::NULLABLE);
        Self {
            required: !T::OPTIONAL,
            ..property
        }
    }

    /// A property with its own schema; `nullable` if `null` means that it is absent.
    pub const fn with_node(
        name: &'static str,
        description: &'static str,
        node: &'static Node,
        nullable: bool,
    ) -> Self {
        Self {
            name,
            node,
            description: description.trim_ascii(),
            nullable,
            required: !nullable,
            skipped: false,
            in_input: true,
            in_output: true,
            default: "",
            example: "",
            limits: &Limits::NONE,
            secret: false,
        }
    }

    /// The same property, optional on input, with a default. `json` is that default, empty if it is not
    /// a constant; text that is not JSON stops the build.
    #[must_use]
    #[track_caller]
    pub const fn with_default(self, json: &'static str) -> Self {
        text::check_value(json);
        Self {
            required: false,
            default: json,
            ..self
        }
    }

    /// The same property, optional on input, with the default of `T`.
    #[must_use]
    pub const fn with_type_default<T: Schema + ?Sized>(self) -> Self {
        self.with_default(T::DEFAULT)
    }

    /// The same property, required on input.
    #[must_use]
    pub const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    /// The same property, which may be absent from output.
    #[must_use]
    pub const fn skipped(self) -> Self {
        Self {
            skipped: true,
            ..self
        }
    }

    /// The same property with a value that must not be shown, such as a password.
    #[must_use]
    pub const fn secret(self) -> Self {
        Self {
            secret: true,
            ..self
        }
    }

    /// The same property for arguments only: results never have it.
    #[must_use]
    pub const fn input_only(self) -> Self {
        Self {
            in_output: false,
            ..self
        }
    }

    /// The same property for results only: arguments never have it.
    #[must_use]
    pub const fn output_only(self) -> Self {
        Self {
            in_input: false,
            ..self
        }
    }

    /// The same property with an example value, as JSON text. Text that is not JSON stops the build.
    #[must_use]
    #[track_caller]
    pub const fn with_example(self, json: &'static str) -> Self {
        text::check_value(json);
        assert!(
            self.node.accepts_literal(json),
            "expected an example of this type: a string in quotes, a number in its range, `true` or `false`, or the name of a variant"
        );
        Self {
            example: json,
            ..self
        }
    }

    /// Whether input must have it.
    pub(crate) const fn is_required(&self) -> bool {
        self.required
    }
}
