//! Native tests of the plugin: its functions directly, and with serialized values, with a fake shop.

use std::cell::RefCell;
use std::rc::Rc;

use mcp_servlet::xtp::Plugin;
use serde_json::{Value, json};

use super::Carrier;
use super::shop::{
    Address, Bytes, Error, Event, Exports, Parcel, Shipment, Size, Status, Zone, host,
};

/// A shop that stores its events, and does not negotiate.
#[derive(Default)]
struct Shop {
    events: RefCell<Vec<Event>>,
}

impl host::Host for Shop {
    fn rate(&self, zone: Zone) -> Result<f64, Error> {
        Ok(if zone == Zone::Domestic { 4.0 } else { 20.0 })
    }

    fn zone_of(&self, address: &Address) -> Result<Option<Zone>, Error> {
        Ok(match &*address.country {
            "AT" => Some(Zone::Domestic),
            "AQ" => None,
            _ => Some(Zone::Overseas),
        })
    }

    fn last_scan(&self, number: &str) -> Result<Option<Status>, Error> {
        Ok((number == "17").then_some(Status::InTransit))
    }

    fn logo(&self) -> Result<Bytes, Error> {
        Ok(Bytes::from(vec![0x18; 16]))
    }

    fn record(&self, event: &Event) -> Result<(), Error> {
        self.events.borrow_mut().push(event.clone());
        Ok(())
    }
}

fn shipment(country: &str) -> Shipment {
    let size = Size::new(100_u16, 200_u16, 300_u16);
    Shipment {
        number: "17".to_owned(),
        to: Address::new("Ada", vec!["Ring 1".to_owned()], country),
        parcels: vec![Parcel::new(size, 800_u32)],
        ..Shipment::default()
    }
}

#[test]
fn a_large_parcel_is_charged_by_its_volume() {
    let parcel = shipment("AT").parcels.remove(0);
    assert_eq!(Carrier::chargeable_weight(parcel), Ok(1200));
}

#[test]
fn a_country_that_the_carrier_does_not_go_to_is_an_error() {
    let error = host::mock(Rc::new(Shop::default()), || Carrier::quote(shipment("AQ")));
    assert_eq!(
        error.unwrap_err().message(),
        "the carrier does not go to AQ"
    );
}

#[test]
fn unmocked_import_is_an_error_with_its_name() {
    let error = host::mock(Rc::new(Shop::default()), || Carrier::quote(shipment("AT")));
    assert_eq!(
        error.unwrap_err().message(),
        "import `negotiate` is not part of the test's host"
    );
}

#[test]
fn a_label_is_recorded() {
    let shop = Rc::new(Shop::default());
    let label = host::mock(shop.clone(), || Carrier::label(shipment("AT"))).unwrap();
    assert!(label.starts_with(b"P4\n# 17\n64 3\n"));
    assert_eq!(shop.events.borrow()[0].label, Some(label));
}

#[test]
fn a_host_sees_json_text_and_bytes() {
    let shop = Rc::new(Shop::default());
    let call = |export: &str, input: &str| {
        let call = || <Carrier as Plugin>::call(export, input.as_bytes());
        let output = host::mock(shop.clone(), call);
        output.map(|bytes| String::from_utf8(bytes).unwrap())
    };
    assert_eq!(call("carrier", "").as_deref(), Ok("Snail & Söhne"));
    assert_eq!(call("status", "17").as_deref(), Ok("in_transit"));
    assert_eq!(call("status", "18").as_deref(), Ok("announced"));
    assert_eq!(call("isDutiable", "overseas").as_deref(), Ok("true"));
    let parcel = r#"{"size":{"width":1,"height":2,"depth":70000},"grams":5}"#;
    let error = call("chargeableWeight", parcel).unwrap_err();
    let expected = "input of export `chargeableWeight`: number out of range at offset 38, in `/size/depth`: got the number 70000";
    assert_eq!(error.message(), expected);
    let error = call("warmUp", "").unwrap_err();
    assert_eq!(error.message(), "export `warmUp` is not implemented");
    let events: Vec<Value> = Vec::new();
    assert_eq!(json!(*shop.events.borrow()), json!(events));
}
