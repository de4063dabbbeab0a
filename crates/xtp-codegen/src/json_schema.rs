//! The types as plain JSON Schema, draft-07: the seam behind which any generator of types fits.
//!
//! Made of known keys only. String formats stay out, since they would choose Rust types, and a
//! property that is not required may also be null, which is how the Rust types read it.

use serde_json::{Map, Value, json};

use crate::ir::{Field, Item, Kind, Type, TypeDef};

/// One definition for each type, in their order.
pub(crate) fn definitions(types: &[TypeDef]) -> Vec<(String, Value)> {
    types
        .iter()
        .map(|def| (def.name.wire.clone(), definition(def)))
        .collect()
}

fn definition(def: &TypeDef) -> Value {
    let schema = match &def.kind {
        Kind::Struct(fields) => object(fields),
        Kind::Enum(values) => {
            let values: Vec<&str> = values.iter().map(|value| value.wire.as_str()).collect();
            json!({ "type": "string", "enum": values })
        }
    };
    described(schema, def.docs.as_deref())
}

fn object(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.wire.clone(), property(field)))
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name.wire.as_str())
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn property(field: &Field) -> Value {
    let nullable = field.value.nullable || !field.required;
    described(schema(&field.value.ty, nullable), field.docs.as_deref())
}

fn described(mut schema: Value, docs: Option<&str>) -> Value {
    if let (Some(docs), Value::Object(keys)) = (docs, &mut schema) {
        keys.insert("description".to_owned(), json!(docs));
    }
    schema
}

fn schema(ty: &Type, nullable: bool) -> Value {
    match ty {
        Type::Any => json!({}),
        Type::Named(name) => named(name, nullable),
        Type::Scalar(scalar) => {
            let mut schema = typed(scalar.ty, nullable);
            if scalar.ty != "string"
                && let Some(format) = scalar.format
            {
                schema["format"] = json!(format);
            }
            schema
        }
        Type::FreeForm => typed("object", nullable),
        Type::List(element) => with_part("array", nullable, "items", element),
        Type::Map(value) => with_part("object", nullable, "additionalProperties", value),
    }
}

fn named(name: &str, nullable: bool) -> Value {
    let reference = json!({ "$ref": format!("#/definitions/{name}") });
    if nullable {
        json!({ "oneOf": [reference, { "type": "null" }] })
    } else {
        reference
    }
}

fn typed(ty: &str, nullable: bool) -> Value {
    if nullable {
        json!({ "type": [ty, "null"] })
    } else {
        json!({ "type": ty })
    }
}

fn with_part(ty: &str, nullable: bool, key: &str, part: &Item) -> Value {
    let mut whole = typed(ty, nullable);
    whole[key] = schema(&part.ty, part.nullable);
    whole
}
