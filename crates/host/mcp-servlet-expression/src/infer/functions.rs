//! The types that functions take and give.

use crate::types::Kinds;

/// The types of a function.
pub(super) struct FunctionTypes {
    name: &'static str,
    /// The kinds of the first argument, or of the value on which the function is called.
    pub(super) takes: Kinds,
    /// The kinds of the result; `None` if that is not known.
    pub(super) gives: Option<Kinds>,
}

const fn function(name: &'static str, takes: Kinds, gives: Kinds) -> FunctionTypes {
    FunctionTypes {
        name,
        takes,
        gives: Some(gives),
    }
}

const STRING: Kinds = Kinds::STRING;
const LIST: Kinds = Kinds::LIST;

/// The functions whose types do not depend on more than their first argument. `split` gives strings.
const FUNCTIONS: [FunctionTypes; 28] = [
    function("bool", Kinds::BOOLEAN.with(STRING), Kinds::BOOLEAN),
    function("double", Kinds::NUMBER.with(STRING), Kinds::NUMBER),
    function("int", Kinds::NUMBER.with(STRING), Kinds::INTEGER),
    function("uint", Kinds::NUMBER.with(STRING), Kinds::INTEGER),
    function("string", Kinds::SCALAR, STRING),
    function("text", Kinds::JSON, STRING),
    function("hasValue", Kinds::JSON, Kinds::BOOLEAN),
    function(
        "size",
        STRING.with(LIST).with(Kinds::OBJECT),
        Kinds::INTEGER,
    ),
    function("join", LIST, STRING),
    function("split", STRING, LIST),
    function("charAt", STRING, STRING),
    function("format", STRING, STRING),
    function("lowerAscii", STRING, STRING),
    function("quote", STRING, STRING),
    function("replace", STRING, STRING),
    function("reverse", STRING, STRING),
    function("substring", STRING, STRING),
    function("trim", STRING, STRING),
    function("upperAscii", STRING, STRING),
    function("indexOf", STRING, Kinds::INTEGER),
    function("lastIndexOf", STRING, Kinds::INTEGER),
    function("contains", STRING, Kinds::BOOLEAN),
    function("endsWith", STRING, Kinds::BOOLEAN),
    function("matches", STRING, Kinds::BOOLEAN),
    function("startsWith", STRING, Kinds::BOOLEAN),
    FunctionTypes {
        name: "json",
        takes: STRING,
        gives: None,
    },
    FunctionTypes {
        name: "bytes",
        takes: STRING,
        gives: None,
    },
    FunctionTypes {
        name: "type",
        takes: Kinds::JSON,
        gives: None,
    },
];

/// The function with this name.
pub(super) fn find(name: &str) -> Option<&'static FunctionTypes> {
    FUNCTIONS.iter().find(|function| function.name == name)
}
