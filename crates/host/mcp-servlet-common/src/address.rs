//! Where IP addresses lead.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const LOCALHOST: &str = "localhost";

/// Where an IP address leads, according to IANA's registries of special-purpose addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To this machine.
    Loopback,
    /// To a local network.
    Private,
    /// To neither: link-local, multicast and unspecified addresses, and those for documentation or protocols.
    Reserved,
    /// To the internet.
    Public,
}

impl Reach {
    /// Where an address leads. An IPv6 address that contains an IPv4 address leads where that one does.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(Ipv6Addr::LOCALHOST) => Self::Loopback,
            IpAddr::V6(address) => match embedded(address) {
                Some(address) => of_v4(address),
                None => of_v6(address),
            },
        }
    }
}

/// The IP address in a host of a URL, with or without brackets.
pub fn literal(host: &str) -> Option<IpAddr> {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address: IpAddr = bare.unwrap_or(host).parse().ok()?;
    Some(address.to_canonical())
}

/// Whether a host of a URL is this machine: `localhost`, a name below it, or a loopback address.
pub fn is_this_machine(host: &str) -> bool {
    if let Some(address) = literal(host) {
        return Reach::of(address) == Reach::Loopback;
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    name == LOCALHOST || name.ends_with(".localhost")
}

fn of_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        [127, ..] => Reach::Loopback,
        // Private networks, the shared address space of providers, and benchmarks of networks.
        [10, ..] | [172, 16..32, ..] | [192, 168, ..] | [100, 64..128, ..] | [198, 18 | 19, ..] => {
            Reach::Private
        }
        // "This network", link-local addresses, protocol assignments, and multicast, reserved and broadcast addresses.
        [0 | 224.., ..] | [169, 254, ..] | [192, 0, 0, _] => Reach::Reserved,
        _ if address.is_documentation() => Reach::Reserved,
        _ => Reach::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> Reach {
    match address.segments() {
        // Unique local and site-local addresses.
        [0xfc00..0xfe00 | 0xfec0..0xff00, ..] => Reach::Private,
        // Teredo, protocol assignments, and documentation.
        [0x2001, 0..0x200 | 0xdb8, ..] | [0x3fff, 0..0x1000, ..] => Reach::Reserved,
        // Global unicast.
        [0x2000..0x4000, ..] => Reach::Public,
        _ => Reach::Reserved,
    }
}

/// The IPv4 address in an IPv6 address that is mapped, compatible, or of NAT64 or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: &[&str] = &[
        "127.0.0.1",
        "127.255.255.254",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::1",
    ];
    const PRIVATE: &[&str] = &[
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "fc00::1",
        "fd12:3456::1",
        "fec0::1",
        "feff::1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
    ];
    const RESERVED: &[&str] = &[
        "0.0.0.0",
        "0.1.2.3",
        "169.254.169.254",
        "192.0.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::2",
        "::ffff:169.254.169.254",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:1ff::1",
        "2001:db8::1",
        "2002:a9fe:a9fe::",
        "3fff::1",
        "4000::1",
        "fe80::1",
        "febf::1",
        "ff02::1",
    ];
    const PUBLIC: &[&str] = &[
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.1",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "3fff:1000::1",
        "64:ff9b::101:101",
        "2002:101:101::1",
        "::ffff:1.1.1.1",
    ];

    #[test]
    fn each_address_leads_to_one_place() {
        for (reach, addresses) in [
            (Reach::Loopback, LOOPBACK),
            (Reach::Private, PRIVATE),
            (Reach::Reserved, RESERVED),
            (Reach::Public, PUBLIC),
        ] {
            for address in addresses {
                let parsed = address.parse().expect("an address");
                assert_eq!(Reach::of(parsed), reach, "{address}");
            }
        }
    }

    #[test]
    fn this_machine_has_names_and_addresses() {
        for host in [
            "localhost",
            "LocalHost.",
            "a.localhost",
            "127.0.0.2",
            "[::1]",
            "::1",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "localhost.example",
            "10.0.0.1",
            "0.0.0.0",
            "[::]",
            "notlocalhost",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
