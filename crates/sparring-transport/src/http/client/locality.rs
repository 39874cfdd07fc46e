//! Classes of addresses, from the internet to this machine. A server must not lead the client to
//! an address that is nearer than its own, since the client reaches what the server cannot.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::endpoint::{Origin, is_loopback};

/// A class of addresses; a later one is nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Locality {
    /// The internet.
    Public,
    /// A private network.
    Private,
    /// The local link, where cloud machines find their credentials.
    LinkLocal,
    /// This machine.
    Loopback,
}

impl Locality {
    pub(super) fn of(ip: IpAddr) -> Locality {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Locality::of_v4(ip),
            IpAddr::V6(ip) => Locality::of_v6(ip),
        }
    }

    fn of_v4(ip: Ipv4Addr) -> Locality {
        match ip.octets() {
            // The unspecified address reaches this machine.
            [0 | 127, ..] => Locality::Loopback,
            [169, 254, ..] => Locality::LinkLocal,
            // Private networks, shared addresses (RFC 6598), benchmarks and broadcast.
            [10, ..] | [192, 168, ..] | [172, 16..=31, ..] => Locality::Private,
            [100, 64..=127, ..] | [198, 18..=19, ..] | [255, 255, 255, 255] => Locality::Private,
            _ => Locality::Public,
        }
    }

    fn of_v6(ip: Ipv6Addr) -> Locality {
        match ip.segments() {
            [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Locality::Loopback,
            [0xfe80..=0xfebf, ..] => Locality::LinkLocal,
            // Unique local addresses, and the old site-local ones.
            [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Locality::Private,
            // An IPv4 address behind a translator (RFC 6052).
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                Locality::of_v4((u32::from(high) << 16 | u32::from(low)).into())
            }
            _ => Locality::Public,
        }
    }

    /// Returns the class of a host that needs no lookup.
    pub(super) fn of_origin(origin: &Origin) -> Option<Locality> {
        let Origin::Tcp { host, .. } = origin else { return Some(Locality::Loopback) };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let ip = bare.parse().ok().map(Locality::of);
        ip.or_else(|| is_loopback(host).then_some(Locality::Loopback))
    }

    /// Names an address of this class.
    pub(super) fn name(self) -> &'static str {
        match self {
            Locality::Public => "public",
            Locality::Private => "private",
            Locality::LinkLocal => "link-local",
            Locality::Loopback => "loopback",
        }
    }
}

/// The class of the addresses that a server was reached at: the farthest of all connections, so
/// that its name cannot move it nearer later. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct PeerLocality(Arc<AtomicU8>);

/// No connection yet.
const UNKNOWN: u8 = u8::MAX;

impl Default for PeerLocality {
    fn default() -> Self {
        PeerLocality(Arc::new(AtomicU8::new(UNKNOWN)))
    }
}

impl PeerLocality {
    /// Adds a connection.
    pub(super) fn add(&self, locality: Locality) {
        self.0.fetch_min(locality as u8, Ordering::Relaxed);
    }

    /// Returns the class, if there was a connection.
    #[cfg(feature = "oauth")]
    pub(super) fn get(&self) -> Option<Locality> {
        let all = [Locality::Public, Locality::Private, Locality::LinkLocal, Locality::Loopback];
        let found = self.0.load(Ordering::Relaxed);
        all.into_iter().find(|it| *it as u8 == found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_addresses() {
        for (address, expected) in [
            ("8.8.8.8", Locality::Public),
            ("172.32.0.1", Locality::Public),
            ("2001:db8::1", Locality::Public),
            ("10.0.0.1", Locality::Private),
            ("172.31.255.1", Locality::Private),
            ("192.168.1.1", Locality::Private),
            ("100.64.0.1", Locality::Private),
            ("fd00::1", Locality::Private),
            ("169.254.169.254", Locality::LinkLocal),
            ("fe80::1", Locality::LinkLocal),
            ("127.8.0.1", Locality::Loopback),
            ("0.0.0.0", Locality::Loopback),
            ("::1", Locality::Loopback),
            ("::", Locality::Loopback),
            ("::ffff:127.0.0.1", Locality::Loopback),
            ("64:ff9b::7f00:1", Locality::Loopback),
        ] {
            assert_eq!(Locality::of(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[cfg(feature = "oauth")]
    #[test]
    fn a_server_stays_as_far_as_it_was_once() {
        let seen = PeerLocality::default();
        assert_eq!(seen.get(), None);
        seen.add(Locality::Loopback);
        assert_eq!(seen.get(), Some(Locality::Loopback));
        seen.add(Locality::Private);
        seen.add(Locality::Loopback);
        assert_eq!(seen.get(), Some(Locality::Private));
    }
}
