//! The keywords of JSON Schema that contain schemas.

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

/// Keywords whose value maps names to schemas.
pub const MAP: [&str; 4] = [
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];
