//! The meaning of a missing key and of null, for each way in which a property can be listed.

use serde_json::{Value, json};
use xtp_goldens::{keep_null, optionality, unlisted};

/// Reads and writes again.
fn round_trip<T>(from: Value) -> Result<Value, String>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let value: T = serde_json::from_value(from).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(&value).unwrap())
}

/// Without a list all properties are optional; an option follows the official generator instead.
#[test]
fn no_list_not_nullable() {
    type Lax = optionality::NothingRequired;
    assert_eq!(round_trip::<Lax>(json!({})), Ok(json!({})));
    assert_eq!(
        round_trip::<Lax>(json!({"may": "x"})),
        Ok(json!({"may": "x"}))
    );
    let missing = round_trip::<unlisted::Unlisted>(json!({"nullable": null}));
    assert_eq!(missing.unwrap_err(), "missing field `plain`");
}

#[test]
fn no_list_nullable() {
    type Lax = optionality::NothingRequired;
    assert_eq!(round_trip::<Lax>(json!({"mayNull": null})), Ok(json!({})));
    let null = json!({"plain": "x", "nullable": null});
    assert_eq!(round_trip::<unlisted::Unlisted>(null.clone()), Ok(null));
    let missing = round_trip::<unlisted::Unlisted>(json!({"plain": "x"}));
    assert_eq!(missing.unwrap_err(), "missing field `nullable`");
}

#[test]
fn listed_not_nullable() {
    let missing = round_trip::<optionality::Slot>(json!({"mustNull": null, "mustTag": null}));
    assert_eq!(missing.unwrap_err(), "missing field `must`");
    let null = json!({"must": null, "mustNull": null, "mustTag": null});
    assert!(
        round_trip::<optionality::Slot>(null)
            .unwrap_err()
            .contains("invalid type: null")
    );
}

/// The official generator traps on a missing key.
#[test]
fn listed_nullable() {
    let full = json!({"must": "x", "mustNull": null, "mustTag": null});
    assert_eq!(round_trip::<optionality::Slot>(full.clone()), Ok(full));
    let missing = round_trip::<optionality::Slot>(json!({"must": "x", "mustTag": null}));
    assert_eq!(missing.unwrap_err(), "missing field `mustNull`");
}

/// By default null is read as a missing key; an option distinguishes them.
#[test]
fn not_listed() {
    let kept = json!({"must": "x", "mustNull": null, "mustTag": "hot"});
    let mut nulls = kept.clone();
    for key in ["may", "mayNull", "mayList"] {
        nulls[key] = Value::Null;
    }
    assert_eq!(round_trip::<optionality::Slot>(nulls), Ok(kept));
    for value in [
        json!({"must": "x", "mustNull": null}),
        json!({"must": "x", "mustNull": null, "mayNull": null}),
        json!({"must": "x", "mustNull": null, "mayNull": "y", "mayList": ["AAH/", null]}),
    ] {
        assert_eq!(round_trip::<keep_null::Patch>(value.clone()), Ok(value));
    }
}
