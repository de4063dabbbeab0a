//! The catalogue of problems.

use std::fmt;

/// What kind of problem a [`Diagnostic`](crate::Diagnostic) reports.
///
/// The number is stable: `XTP0xx` is about the text, `XTP1xx` about the shape of the document,
/// `XTP2xx` about types, `XTP3xx` about names, `XTP4xx` about the overlay, `XTP9xx` about the
/// generator itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The text is neither YAML nor JSON.
    Syntax,
    /// A key appears twice in one map.
    DuplicateKey,
    /// The text holds no document, or several.
    DocumentCount,
    /// The document is nested too deeply.
    TooDeep,
    /// The YAML says something that JSON cannot say.
    BeyondJson,
    /// Aliases repeat too much.
    Aliases,
    /// A value is of another kind than its place wants.
    WrongKind,
    /// A key has no meaning at its place.
    UnknownKey,
    /// A key is missing.
    MissingKey,
    /// The version is not one of XTP.
    Version,
    /// The construct is part of a proposal, and this generator does not know this use of it.
    Unsupported,
    /// The published rules do not have the construct; the official library does.
    BeyondPublished,
    /// The official library does not have the construct; this generator does.
    BeyondLibrary,
    /// The official library refuses the schema, for a reason that only concerns itself.
    Library,
    /// The type is not one of XTP.
    UnknownType,
    /// The format does not fit the type.
    Format,
    /// Keys that exclude each other, or one that needs another.
    TypeKeys,
    /// A `$ref` that does not point into the schemas.
    RefForm,
    /// A `$ref` to a schema that does not exist.
    RefTarget,
    /// A required property that does not exist, or is listed twice.
    Required,
    /// An enum without values, or with one twice.
    EnumValues,
    /// The content type is not one of XTP.
    ContentType,
    /// A schema that contains itself, as trees do.
    Cycle,
    /// A schema that no value can have, since none would ever end.
    Endless,
    /// A union whose members cannot be told apart.
    Union,
    /// A content type that cannot carry the type.
    Payload,
    /// A name that is no identifier.
    Identifier,
    /// Two names would be the same in Rust, so that one of them gets a number.
    Collision,
    /// A name that is a keyword in other languages.
    Keyword,
    /// An export whose name WebAssembly keeps for itself.
    ReservedName,
    /// The overlay addresses something that does not exist.
    OverlayAddress,
    /// The overlay says something that it cannot say yet.
    OverlayFragment,
    /// The generator failed, which is its own fault.
    Internal,
    /// An option of the generator is not Rust.
    Options,
}

impl Code {
    /// The stable number, such as `XTP205`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "XTP001",
            Self::DuplicateKey => "XTP002",
            Self::DocumentCount => "XTP003",
            Self::TooDeep => "XTP004",
            Self::BeyondJson => "XTP005",
            Self::Aliases => "XTP006",
            Self::WrongKind => "XTP101",
            Self::UnknownKey => "XTP102",
            Self::MissingKey => "XTP103",
            Self::Version => "XTP104",
            Self::Unsupported => "XTP105",
            Self::BeyondPublished => "XTP106",
            Self::BeyondLibrary => "XTP107",
            Self::Library => "XTP108",
            Self::UnknownType => "XTP201",
            Self::Format => "XTP202",
            Self::TypeKeys => "XTP203",
            Self::RefForm => "XTP204",
            Self::RefTarget => "XTP205",
            Self::Required => "XTP206",
            Self::EnumValues => "XTP207",
            Self::ContentType => "XTP208",
            Self::Cycle => "XTP209",
            Self::Endless => "XTP210",
            Self::Union => "XTP211",
            Self::Payload => "XTP212",
            Self::Identifier => "XTP301",
            Self::Collision => "XTP302",
            Self::Keyword => "XTP303",
            Self::ReservedName => "XTP304",
            Self::OverlayAddress => "XTP401",
            Self::OverlayFragment => "XTP402",
            Self::Internal => "XTP901",
            Self::Options => "XTP902",
        }
    }

    /// What to do about a problem of this kind where nothing better can be said.
    pub(crate) const fn advice(self) -> &'static str {
        match self {
            Self::Syntax => {
                "quote text that has `: `, `#` or brackets in it, and indent with blanks"
            }
            Self::DuplicateKey => "remove one of the two entries",
            Self::DocumentCount => "write one document, without `---` between parts",
            Self::TooDeep => "give inner types names under `components.schemas`",
            Self::BeyondJson => "write what JSON could say too: no tags, and strings as keys",
            Self::Aliases => {
                "write what is repeated once, under `components.schemas`, and use `$ref`"
            }
            Self::WrongKind => "write a value of that kind",
            Self::UnknownKey => "remove the key",
            Self::MissingKey => "add the key",
            Self::Version => "write `version: v1-draft`",
            Self::Unsupported => "give the type a name under `components.schemas` and use `$ref`",
            Self::Library => "remove what stands there and means nothing",
            Self::BeyondPublished | Self::BeyondLibrary => "keep it only if no other tool reads it",
            Self::UnknownType | Self::Format => "use a type and a format of XTP",
            Self::TypeKeys => "remove one of the keys",
            Self::RefForm => "write `#/components/schemas/<Name>`",
            Self::RefTarget => "define it under `components.schemas`",
            Self::Required => "keep `required` and `properties` alike",
            Self::EnumValues => "list each value once",
            Self::ContentType | Self::Payload => "use `application/json`",
            Self::Cycle | Self::Endless => "leave out a property on the way round",
            Self::Union => "give each member a value of the tag that no other has",
            Self::Identifier | Self::Collision | Self::Keyword | Self::ReservedName => {
                "choose another name"
            }
            Self::OverlayAddress => "write `Type.property`, as the schema spells them",
            Self::OverlayFragment => "write `{}` for any JSON value",
            Self::Internal => "the schema is fine; please report it together with this message",
            Self::Options => "give the path of a type, such as `::serde_json::Value`",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
