//! Which addresses deliveries may go to.
//!
//! What a client names as a target is reached from where the server stands: from inside a network
//! whose machines trust each other. So only public addresses are targets, unless the operator says
//! otherwise. The same rule judges an address written in a URL and the one connected to in the end.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// A network in CIDR form: an address, and how many of its first bits matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

/// Where deliveries may go besides public addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    everywhere: bool,
    networks: Vec<Network>,
    own: Option<SocketAddr>,
}

/// Networks that no public target lies in. The Azure platform address (168.63.129.16) looks public
/// but answers to the machines inside only, as the metadata addresses of other clouds do.
const PRIVATE_V4: [Ipv4Net; 13] = [
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([168, 63, 129, 16], 32),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
];

/// The same for IPv6: unspecified, loopback and everything that carries an IPv4 address inside
/// (compatible, mapped, translated, NAT64, Teredo, 6to4), then discard-only, link-local,
/// site-local, unique local and multicast.
const PRIVATE_V6: [Ipv6Net; 12] = [
    v6([0, 0, 0, 0, 0, 0, 0, 0], 96),
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96),
    v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96),
    v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96),
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8),
];

const fn v4([a, b, c, d]: [u8; 4], bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), bits)
}

/// Whether an address is none that the whole internet knows.
fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => PRIVATE_V4.iter().any(|network| network.contains(&ip)),
        IpAddr::V6(ip) => {
            // ISATAP carries an IPv4 address behind any prefix.
            let [.., isatap, five_efe, _, _] = ip.segments();
            (isatap & 0xfcff == 0 && five_efe == 0x5efe)
                || PRIVATE_V6.iter().any(|network| network.contains(&ip))
        }
    }
}

impl Network {
    /// Whether an address lies in it.
    pub fn contains(&self, ip: IpAddr) -> bool {
        self.0.contains(&ip)
    }
}

impl FromStr for Network {
    type Err = String;

    /// Reads a network, or a single address.
    fn from_str(text: &str) -> Result<Self, String> {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network
            .map(Self)
            .map_err(|_| format!("{text} is no network; it looks like 10.0.0.0/8, or 10.1.2.3"))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Reach {
    /// Public addresses only.
    pub fn public() -> Self {
        Self::default()
    }

    /// Every address there is.
    pub fn everywhere() -> Self {
        Self { everywhere: true, ..Self::default() }
    }

    /// Public addresses, and these networks.
    pub fn with(networks: Vec<Network>) -> Self {
        Self { networks, ..Self::default() }
    }

    /// The same, knowing the address the server itself listens on: no target, public or not.
    #[must_use]
    pub fn knowing(self, own: SocketAddr) -> Self {
        Self { own: Some(own), ..self }
    }

    /// Whether a delivery may go there.
    pub fn permits(&self, target: SocketAddr) -> bool {
        let ip = target.ip();
        // A mapped address is the IPv4 address inside; whoever allows that one means both.
        let allowed =
            |network: &Network| network.contains(ip) || network.contains(ip.to_canonical());
        self.everywhere
            || self.networks.iter().any(allowed)
            || !(is_private(ip) || self.own == Some(target))
    }

    /// Whether a connection between these two ends leads back to this server: it listens on every
    /// address of the machine, and this is one of them.
    pub fn leads_back(&self, local: SocketAddr, peer: SocketAddr) -> bool {
        let same_port = self.own.is_some_and(|own| own.port() == peer.port());
        same_port && local.ip().to_canonical() == peer.ip().to_canonical() && !self.lists(peer.ip())
    }

    fn lists(&self, ip: IpAddr) -> bool {
        self.everywhere || self.networks.iter().any(|network| network.contains(ip.to_canonical()))
    }

    /// Whether the name `localhost` may be a target.
    pub(super) fn permits_loopback(&self) -> bool {
        self.lists(Ipv4Addr::LOCALHOST.into()) || self.lists(Ipv6Addr::LOCALHOST.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ip: &str) -> SocketAddr {
        SocketAddr::new(ip.parse().unwrap(), 80)
    }

    #[test]
    fn only_public_addresses_are_targets() {
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.88.99.1",
            "192.168.1.1",
            "198.19.255.255",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "2620::5efe:10.0.0.1",
            "2620::200:5efe:10.0.0.1",
        ] {
            assert!(!Reach::public().permits(at(private)), "{private}");
            assert!(Reach::everywhere().permits(at(private)), "{private}");
        }
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.0.1",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.0.1",
            "203.0.113.7",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860::8888",
            "2003::1",
        ] {
            assert!(Reach::public().permits(at(public)), "{public}");
        }
    }

    #[test]
    fn listed_networks_are_reached_as_well() {
        let networks = ["10.1.0.0/16", "fd00::/8", "127.0.0.1"].map(|text| text.parse().unwrap());
        let reach = Reach::with(networks.into());
        for (ip, permitted) in [
            ("10.1.2.3", true),
            ("::ffff:10.1.2.3", true),
            ("10.2.0.1", false),
            ("fd12::1", true),
            ("fe80::1", false),
            ("127.0.0.1", true),
            ("127.0.0.2", false),
            ("8.8.8.8", true),
        ] {
            assert_eq!(reach.permits(at(ip)), permitted, "{ip}");
        }
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/", "10.0.0.0/x", "host"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("255.0.0.1".parse().unwrap()) && all.to_string() == "0.0.0.0/0");
    }

    #[test]
    fn the_server_is_no_target_of_its_own() {
        let own: SocketAddr = "203.0.113.7:23334".parse().unwrap();
        let reach = Reach::public().knowing(own);
        assert!(!reach.permits(own));
        assert!(reach.permits("203.0.113.7:80".parse().unwrap()));
        let every = Reach::public().knowing("0.0.0.0:23334".parse().unwrap());
        let (local, peer) = ("203.0.113.7:50000".parse().unwrap(), own);
        assert!(every.permits(peer) && every.leads_back(local, peer));
        assert!(!every.leads_back(local, "203.0.113.7:80".parse().unwrap()));
        assert!(!every.leads_back("203.0.113.8:50000".parse().unwrap(), peer));
        let allowed = Reach::with(vec!["203.0.113.0/24".parse().unwrap()]).knowing(own);
        assert!(allowed.permits(own) && !allowed.leads_back(local, peer));
        assert!(!Reach::everywhere().knowing(own).leads_back(local, peer));
    }
}
