//! Reads arguments from JSON into a function's parameters.
//!
//! One table-driven pass, compiled once for all tools, cuts the arguments object into one slice of
//! text per parameter. Each slice is then read by the parameter's type.

pub(crate) mod duration;
mod failure;
pub(crate) mod from_text;
mod limits;
#[cfg(not(feature = "schemars"))]
mod no_schemars;
mod parameters;
pub(crate) mod report;
#[cfg(feature = "schemars")]
mod schemars_types;

use mcp_servlet_json::{Error, ErrorKind};
use serde::de::DeserializeOwned;

pub use self::failure::Failure;
pub(crate) use self::limits::{broken, check_limits};
#[cfg(not(feature = "schemars"))]
pub use self::no_schemars::{schemars_argument, schemars_whole};
pub use self::parameters::Parameters;
pub(crate) use self::parameters::fields_of;
#[cfg(feature = "schemars")]
pub use self::schemars_types::{schemars_argument, schemars_whole};
use crate::const_text::{refuse, same};
use crate::schema::{Limits, Node, Property, Schema};

/// One parameter in a tool's table.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    /// Whether it is a string, which prompts and templates pass without parsing it as JSON.
    pub(crate) text: bool,
}

impl Field {
    /// The table for these properties, without their descriptions, which the wasm does not need there.
    pub const fn table<const N: usize>(properties: &[Property; N]) -> [Self; N] {
        let mut fields = [Self {
            name: "",
            required: false,
            text: false,
        }; N];
        let mut at = 0;
        while at < N {
            fields[at] = Self {
                name: properties[at].name,
                required: properties[at].is_required(),
                text: properties[at].node.is_text(),
            };
            at += 1;
        }
        fields
    }
}

/// One parameter of a tool: its schema, and how to read it.
///
/// Only [`argument`] creates it, so that a type that cannot be an argument causes one error.
#[derive(Debug, Clone, Copy)]
pub struct Argument<T> {
    property: Property,
    /// The JSON of the type's default, if it is known.
    type_default: &'static str,
    /// The variants of the type that have no content, with their JSON.
    units: &'static [(&'static str, &'static str)],
    /// Whether it has a default whose JSON is unknown.
    default_is_lost: bool,
    parse: fn(&str) -> Result<T, Error>,
}

/// A parameter of type `T`.
pub const fn argument<T: Schema + FromJson>(
    name: &'static str,
    description: &'static str,
) -> Argument<T> {
    Argument {
        type_default: T::DEFAULT,
        units: T::UNITS,
        ..Argument::new(Property::new::<T>(name, description))
    }
}

/// A type that serde can read from the JSON of a call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from JSON",
    label = "an argument needs `Deserialize`",
    note = "derive it: `#[derive(Deserialize, Schema)]`",
    note = "the derive needs a dependency in Cargo.toml: `serde = {{ version = \"1\", features = [\"derive\"] }}`"
)]
pub trait FromJson: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> FromJson for T {}

/// A parameter of a type named `Context`, which is most likely meant as the context.
pub const fn argument_or_context<T: ByValue>(
    name: &'static str,
    description: &'static str,
) -> Argument<T> {
    argument::<T>(name, description)
}

/// A type named `Context` that can be an argument, unlike the context itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument",
    label = "the context is taken by reference: take `&Context`",
    note = "a `Context` of your own is an argument with `#[derive(Deserialize, Schema)]`"
)]
pub trait ByValue: Schema + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Schema + DeserializeOwned> ByValue for T {}

/// The value of an absent argument with `#[arg(default)]`. Only this function requires `Default`, so
/// that a type without it causes one error.
pub fn default_of<T: Default>() -> T {
    T::default()
}

fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    mcp_servlet_json::from_str(text)
}

impl<T: FromJson> Argument<T> {
    pub(crate) const fn new(property: Property) -> Self {
        Self {
            property,
            type_default: "",
            units: &[],
            default_is_lost: false,
            parse: from_str::<T>,
        }
    }
}

impl<T> Argument<T> {
    /// The same argument with a default; `json` is its JSON, empty if it is not a constant.
    #[must_use]
    pub const fn with_default(self, json: &'static str) -> Self {
        Self {
            property: self.property.with_default(json),
            default_is_lost: json.is_empty(),
            ..self
        }
    }

    /// The same argument with the default of its type. For an `Option` that is `None`, as for an absent argument.
    #[must_use]
    pub const fn with_type_default(self) -> Self {
        let json = self.type_default;
        Self {
            default_is_lost: json.is_empty() && self.property.required,
            ..self.with_default(json)
        }
    }

    /// Whether it has a default that the schema does not show.
    pub const fn default_is_lost(&self) -> bool {
        self.default_is_lost
    }

    /// The same argument with a path as its default; it is a variant if the type has one with this name.
    #[must_use]
    pub const fn with_variant_default(self, name: &str) -> Self {
        let mut at = 0;
        while at < self.units.len() {
            let (variant, json) = self.units[at];
            if same(variant, name) {
                // `None` of an `Option` has no JSON: it is an absent argument.
                return Self {
                    default_is_lost: false,
                    ..self.with_default(json)
                };
            }
            at += 1;
        }
        self.with_default("")
    }

    /// The same argument with an example value, as JSON text.
    #[must_use]
    pub const fn with_example(self, json: &'static str) -> Self {
        let property = Property {
            example: json,
            ..self.property
        };
        Self { property, ..self }
    }

    /// Stops the build if the schema of the type does not accept the default.
    #[track_caller]
    pub const fn check_default(&self) {
        let Property { node, default, .. } = self.property;
        if !node.accepts_string(default) {
            self.refuse("default", default);
        }
    }

    /// Stops the build if the schema of the type does not accept the example.
    #[track_caller]
    pub const fn check_example(&self) {
        let Property { node, example, .. } = self.property;
        if !node.accepts_literal(example) {
            self.refuse("example", example);
        }
    }

    #[track_caller]
    const fn refuse(&self, what: &str, json: &str) -> ! {
        let Property { name, node, .. } = self.property;
        refuse(&[
            "the ",
            what,
            " of `",
            name,
            "` must be ",
            node.expected(),
            ", found `",
            json,
            "`",
        ])
    }

    /// The same argument with limits. [`Arguments::within`] checks `min` and `max`.
    #[must_use]
    pub const fn with_limits(self, limits: &'static Limits) -> Self {
        let property = self.property.with_checked_limits(limits);
        Self { property, ..self }
    }

    /// Stops the build if a limit other than `min` and `max` does not apply to the type.
    #[track_caller]
    pub const fn check_lengths(&self) {
        self.property.check_lengths();
    }

    /// The parameter as a property of the arguments object.
    pub const fn property(&self) -> Property {
        self.property
    }

    /// Reads the argument of this parameter, number `index` of the tool; an absent one reads as `null`.
    #[inline]
    pub fn get<'a>(&self, arguments: &Arguments<'a>, index: usize) -> Result<T, Failure<'a>> {
        arguments.parse(index, self.parse)
    }

    /// Reads the argument of this parameter. If it is absent or `null`, reads `default_str` instead.
    #[inline]
    pub fn get_or_str<'a>(
        &self,
        arguments: &Arguments<'a>,
        index: usize,
    ) -> Result<T, Failure<'a>> {
        if arguments.text(index) != "null" {
            return self.get(arguments, index);
        }
        let text = self.property.default;
        (self.parse)(text).map_err(|error| Failure::Argument {
            name: self.property.name,
            text,
            error,
        })
    }

    /// Reads the argument of this parameter, or returns the default if it is absent or `null`.
    #[inline]
    pub fn get_or<'a>(
        &self,
        arguments: &Arguments<'a>,
        index: usize,
        default: impl FnOnce() -> T,
    ) -> Result<T, Failure<'a>> {
        if arguments.text(index) == "null" {
            Ok(default())
        } else {
            self.get(arguments, index)
        }
    }
}

/// The parameter that takes all arguments of a tool: its schema, and how to read it.
#[derive(Debug, Clone, Copy)]
pub struct Whole<T> {
    node: Node,
    names: Option<&'static [&'static str]>,
    parse: fn(&str) -> Result<T, Error>,
}

/// A parameter of type `T` that takes all arguments.
pub const fn whole<T: Schema + FromJson>() -> Whole<T> {
    Whole {
        names: T::NAMES,
        ..Whole::new(*T::NODE)
    }
}

/// A parameter of type `T` that takes all arguments, with a schema written by hand.
pub const fn whole_of<T: FromJson>(schema: &'static str) -> Whole<T> {
    Whole::new(Node::unchecked(schema))
}

impl<T: FromJson> Whole<T> {
    pub(crate) const fn new(node: Node) -> Self {
        Self {
            node,
            names: None,
            parse: from_str::<T>,
        }
    }
}

impl<T> Whole<T> {
    /// The schema of the arguments.
    pub const fn node(&self) -> Node {
        self.node.of_arguments()
    }

    /// Stops the build if the schema is not an object schema, since clients send arguments as an object.
    #[track_caller]
    pub const fn check_object(&self) {
        self.node.check_raw();
        assert!(
            self.node.may_be_object(),
            "expected an object schema: the arguments of a tool are a JSON object\nhelp: use a struct, or one parameter for each argument"
        );
    }

    /// How the arguments are split.
    pub const fn parameters(&self) -> Parameters {
        Parameters::whole(self.names)
    }

    /// Reads the arguments.
    #[inline]
    pub fn get<'a>(&self, arguments: &Arguments<'a>) -> Result<T, Failure<'a>> {
        let text = arguments.whole;
        (self.parse)(text).map_err(|error| Failure::Argument {
            name: "",
            text,
            error,
        })
    }
}

/// The arguments of one call.
#[derive(Debug)]
pub struct Arguments<'a> {
    fields: &'static [Field],
    /// JSON text by parameter; `None` for an absent argument.
    texts: Vec<Option<&'a str>>,
    /// The whole object, for a tool that takes all arguments as one value.
    whole: &'a str,
}

impl<'a> Arguments<'a> {
    fn parse<T>(
        &self,
        index: usize,
        parse: fn(&str) -> Result<T, Error>,
    ) -> Result<T, Failure<'a>> {
        let text = self.text(index);
        parse(text).map_err(|error| Failure::Argument {
            name: self.name(index),
            text,
            error,
        })
    }

    /// Returns the argument of parameter `index` if it is within the bounds, both inclusive.
    ///
    /// The bounds come first, so that the compiler infers `B` from them and checks the type of the value against it.
    pub fn within<T: Bounded<B>, B: PartialOrd>(
        &self,
        index: usize,
        min: Option<B>,
        max: Option<B>,
        value: T,
    ) -> Result<T, Failure<'a>> {
        let inside = value.number().is_none_or(|number| {
            min.is_none_or(|min| *number >= min) && max.is_none_or(|max| *number <= max)
        });
        if inside {
            Ok(value)
        } else {
            Err(self.out_of_bounds(index))
        }
    }

    #[cold]
    fn out_of_bounds(&self, index: usize) -> Failure<'a> {
        let error = Error::new(ErrorKind::NumberOutOfRange, 0);
        Failure::Argument {
            name: self.name(index),
            text: self.text(index),
            error,
        }
    }

    /// The names of the required arguments that are absent.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &'static str> {
        let fields = self.fields.iter().zip(&self.texts);
        fields
            .filter(|(field, text)| field.required && text.is_none())
            .map(|(field, _)| field.name)
    }

    fn name(&self, index: usize) -> &'static str {
        self.fields.get(index).map_or("", |field| field.name)
    }

    fn text(&self, index: usize) -> &'a str {
        self.texts.get(index).copied().flatten().unwrap_or("null")
    }
}

/// An argument that can have bounds of type `B`: a number, or an optional one.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be compared with its `min` and `max`",
    label = "bounds are for integers and, written with a point, for floats",
    note = "check any other value in the function, and return a `ToolError`"
)]
pub trait Bounded<B> {
    /// The number, if there is one.
    fn number(&self) -> Option<&B>;
}

#[diagnostic::do_not_recommend]
impl<T: PartialOrd> Bounded<T> for T {
    fn number(&self) -> Option<&T> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: PartialOrd> Bounded<T> for Option<T> {
    fn number(&self) -> Option<&T> {
        self.as_ref()
    }
}
