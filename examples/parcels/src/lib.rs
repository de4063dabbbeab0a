//! A plugin for a shop: a carrier's prices, labels and parcel tracking.
//!
//! The shop is not an MCP host. `shop.yaml` describes the functions of the shop and of the plugin.

#![forbid(unsafe_code)]

mcp_servlet::xtp::plugin!(mod shop);

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use shop::{
    Address, Bytes, Error, Event, EventKind, Exports, Parcel, Quote, QuoteService, Shipment,
    Status, Zone, host,
};

/// How many cubic millimetres are charged as a gram.
const CUBIC_MILLIMETRES: u64 = 5_000;

struct Carrier;

impl Exports for Carrier {
    fn carrier() -> Result<String, Error> {
        Ok("Snail & Söhne".to_owned())
    }

    fn quote(shipment: Shipment) -> Result<Vec<Quote>, Error> {
        if shipment.parcels.is_empty() {
            return Ok(Vec::new());
        }
        let zone = zone(&shipment.to)?;
        let rate = host::rate(zone)?;
        let grams: f64 = shipment.parcels.iter().map(charged).map(f64::from).sum();
        let base = grams / 1000.0 * rate;
        let services = [
            (QuoteService::Economy, 1.0, 5),
            (QuoteService::Express, 2.5, 1),
        ];
        let quotes = services.map(|(service, factor, days)| {
            host::negotiate(&Quote {
                service,
                price: base * factor,
                surcharges: surcharges(&shipment),
                days: Some(days),
            })
        });
        quotes.into_iter().collect()
    }

    fn label(shipment: Shipment) -> Result<Bytes, Error> {
        let logo = host::logo()?;
        if logo.len() % 8 != 0 {
            return Err(Error::new("the logo's last line is not complete"));
        }
        let lines = logo.len() / 8 + 1;
        let mut label = format!("P4\n# {}\n64 {lines}\n", shipment.number).into_bytes();
        label.extend_from_slice(&logo);
        label.extend_from_slice(&[0xff; 8]);
        let label = Bytes::from(label);
        host::record(&Event {
            kind: EventKind::Labelled,
            shipment: shipment.number.clone(),
            detail: Some(shipment),
            label: Some(label.clone()),
        })?;
        Ok(label)
    }

    fn chargeable_weight(parcel: Parcel) -> Result<u32, Error> {
        Ok(charged(&parcel))
    }

    fn status(number: String) -> Result<Status, Error> {
        Ok(host::last_scan(&number)?.unwrap_or(Status::Announced))
    }

    fn is_dutiable(zone: Zone) -> Result<bool, Error> {
        Ok(zone == Zone::Overseas)
    }

    fn cancel(number: String) -> Result<(), Error> {
        host::record(&Event {
            kind: EventKind::Cancelled,
            shipment: number,
            ..Event::default()
        })?;
        host::flush()
    }
}

shop::export!(Carrier);

fn zone(address: &Address) -> Result<Zone, Error> {
    let zone = host::zone_of(address)?;
    zone.ok_or_else(|| Error::new(format!("the carrier does not go to {}", address.country)))
}

/// A large parcel is charged as if it were heavy.
fn charged(parcel: &Parcel) -> u32 {
    let sides = [parcel.size.width, parcel.size.height, parcel.size.depth];
    let volume: u64 = sides.map(u64::from).iter().product();
    let grams = u32::try_from(volume / CUBIC_MILLIMETRES).unwrap_or(u32::MAX);
    grams.max(parcel.grams)
}

fn surcharges(shipment: &Shipment) -> BTreeMap<String, f64> {
    let fragile = shipment
        .parcels
        .iter()
        .filter(|parcel| parcel.fragile == Some(true));
    let fragile = u32::try_from(fragile.count()).unwrap_or(u32::MAX);
    let insured = shipment
        .insured
        .map(|value| ("insurance", f64::from(value) / 100.0));
    let fragile = (fragile > 0).then(|| ("fragile", f64::from(fragile)));
    let surcharges = insured.into_iter().chain(fragile);
    surcharges
        .map(|(what, price)| (what.to_owned(), price))
        .collect()
}
