//! The example plugin in a test shop: every type of its schema as input and output.

use e2e::plugin;
use serde_json::{Value, json};

use super::host::{Host, Hosted};

fn shop() -> Hosted {
    let host = Host::new()
        .with("rate", (true, true), |zone| match &*zone {
            b"domestic" => b"4".to_vec(),
            _ => b"20.5".to_vec(),
        })
        .with(
            "zoneOf",
            (true, true),
            |address| match &read(&address)["country"] {
                Value::String(country) if country == "AT" => br#""domestic""#.to_vec(),
                _ => b"null".to_vec(),
            },
        )
        .with("negotiate", (true, true), |quote| {
            let mut quote = read(&quote);
            quote["days"] = json!(255);
            quote.to_string().into_bytes()
        })
        .with("lastScan", (true, true), |number| match &*number {
            b"17" => b"in_transit".to_vec(),
            _ => Vec::new(),
        })
        .with("logo", (false, true), |_| vec![0, 1, 2, 3, 4, 5, 6, 255])
        .with("record", (true, false), |_| Vec::new())
        .with("flush", (false, false), |_| Vec::new());
    host.load(&plugin("parcels"))
}

fn read(payload: &[u8]) -> Value {
    serde_json::from_slice(payload).expect("JSON")
}

fn shipment() -> Value {
    json!({
        "number": "17",
        "to": {"name": "Ådå 🌍", "lines": ["Ring 1", ""], "country": "AT", "point": [48.2, -16.37]},
        "parcels": [{
            "size": {"width": 100, "height": 65535, "depth": 1},
            "grams": 2000,
            "fragile": true,
            "photos": ["AAH/", ""],
        }],
        "handedOver": "2024-07-23T16:03:34.500+02:00",
        "reference": null,
        "insured": 12.5,
        "customs": {"code": [1, {"a": null}]},
        "tags": {"": "x", "größe": "L"},
    })
}

#[test]
fn objects_go_in_through_an_export_and_out_through_an_import() {
    let mut shop = shop();
    let label = shop.call("label", shipment().to_string().as_bytes());
    let expected =
        b"P4\n# 17\n64 2\n\x00\x01\x02\x03\x04\x05\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    assert_eq!(label.as_deref(), Ok(&expected[..]));
    let calls = shop.calls();
    let [logo, record] = &*calls else {
        panic!("two calls, not {calls:?}");
    };
    assert_eq!((&*logo.0, &*record.0), ("logo", "record"));
    let event = read(&record.1);
    assert_eq!(event["detail"], shipment());
    assert_eq!(event["kind"], "labelled");
    let label = "UDQKIyAxNwo2NCAyCgABAgMEBQb///////////8=";
    assert_eq!(event["label"], label);
}

#[test]
fn objects_come_in_through_an_import_and_out_through_an_export() {
    let mut shop = shop();
    let quotes = shop.call("quote", shipment().to_string().as_bytes());
    let quotes = read(&quotes.expect("quotes"));
    let surcharges = json!({ "fragile": 1.0, "insurance": 0.125 });
    let quote = |service: &str, price: f64| json!({ "service": service, "price": price, "surcharges": surcharges, "days": 255 });
    assert_eq!(
        quotes,
        json!([quote("economy", 8.0), quote("express", 20.0)])
    );
    let calls = shop.calls();
    let names: Vec<_> = calls.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["zoneOf", "rate", "negotiate", "negotiate"]);
    assert_eq!(read(&calls[0].1), shipment()["to"]);
    assert_eq!(calls[1].1, b"domestic");
    assert_eq!(read(&calls[2].1)["days"], 5);
}

#[test]
fn words_numbers_and_texts_have_no_quotes() {
    let mut shop = shop();
    let parcel = shipment()["parcels"][0].to_string();
    for (export, input, output) in [
        ("carrier", "", "Snail & Söhne"),
        ("chargeableWeight", &*parcel, "2000"),
        ("status", "17", "in_transit"),
        ("status", "18", "announced"),
        ("isDutiable", "overseas", "true"),
        ("isDutiable", "neighbour", "false"),
        ("cancel", "17", ""),
    ] {
        let answer = shop.call(export, input.as_bytes());
        assert_eq!(answer.as_deref(), Ok(output.as_bytes()), "{export}");
    }
    let calls = shop.calls();
    let [.., record, flush] = &*calls else {
        panic!("more calls than {calls:?}");
    };
    assert_eq!(
        read(&record.1),
        json!({ "kind": "cancelled", "shipment": "17" })
    );
    assert_eq!(flush, &("flush".to_owned(), Vec::new()));
}

#[test]
fn refused_input_is_an_error_of_one_line() {
    let mut shop = shop();
    let mut elsewhere = shipment();
    elsewhere["to"]["country"] = json!("AQ");
    let mut unreferenced = shipment();
    unreferenced
        .as_object_mut()
        .expect("an object")
        .remove("reference");
    for (export, input, error) in [
        (
            "quote",
            elsewhere.to_string(),
            "the carrier does not go to AQ",
        ),
        (
            "quote",
            unreferenced.to_string(),
            "input of export `quote`: missing field `reference` at offset 0",
        ),
        (
            "isDutiable",
            "moon".to_owned(),
            "input of export `isDutiable`: expected `domestic` or `neighbour` or `overseas`, got \"moon\"",
        ),
        (
            "warmUp",
            String::new(),
            "export `warmUp` is not implemented",
        ),
    ] {
        assert_eq!(shop.call(export, input.as_bytes()), Err(error.to_owned()));
    }
}
