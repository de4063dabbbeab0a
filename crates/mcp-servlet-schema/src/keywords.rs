//! The keywords of JSON Schema that have schemas in them.

/// Keywords whose value is a schema.
pub const SCHEMA: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
pub const LIST: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords whose value holds schemas by name.
pub const MAP: [&str; 4] = [
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];
