//! Which network a lab gets: the first of 10.88.0.0/24 … 10.88.255.0/24 that is not in use.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};

use crate::LabError;

/// The first free network, given all that are in use.
pub(crate) fn choose(taken: &[IpNet]) -> Result<Ipv4Net, LabError> {
    (0..=255u8)
        .map(|third| Ipv4Net::new_assert(Ipv4Addr::new(10, 88, third, 0), 24))
        .find(|candidate| in_the_way(taken, *candidate).is_none())
        .ok_or(LabError::NoSubnet)
}

/// The first of those in use that a network would clash with.
pub(crate) fn in_the_way(taken: &[IpNet], wanted: Ipv4Net) -> Option<IpNet> {
    taken.iter().copied().find(|net| overlap(*net, wanted))
}

fn overlap(net: IpNet, candidate: Ipv4Net) -> bool {
    let IpNet::V4(net) = net else { return false };
    // The default route covers everything and says nothing about what is in use.
    net.prefix_len() > 0 && (net.contains(&candidate) || candidate.contains(&net))
}

/// The networks of a `/proc/net/route`: little-endian hexadecimal, one route per line.
pub(crate) fn routed(table: &str) -> Vec<IpNet> {
    let hex = |text: &str| u32::from_str_radix(text, 16).ok().map(u32::swap_bytes);
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (network, mask) = (hex(fields.get(1)?)?, hex(fields.get(7)?)?);
            let prefix = u8::try_from(mask.leading_ones()).ok()?;
            IpNet::new(IpAddr::V4(network.into()), prefix).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_network_that_is_not_in_use() {
        let nets = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpNet>>();
        for (taken, expected) in [
            (nets(&[]), "10.88.0.0/24"),
            (nets(&["0.0.0.0/0", "192.168.1.0/24", "fd00::/8"]), "10.88.0.0/24"),
            (nets(&["10.88.0.0/24", "10.88.1.128/25"]), "10.88.2.0/24"),
            (nets(&["10.88.0.0/17"]), "10.88.128.0/24"),
        ] {
            assert_eq!(choose(&taken).unwrap().to_string(), expected);
        }
        assert!(choose(&nets(&["10.0.0.0/8"])).is_err());
    }

    #[test]
    fn routes_as_the_kernel_writes_them() {
        let table = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
                     eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
                     bs-lab\t0000580A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
        let texts: Vec<String> = routed(table).iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["0.0.0.0/0", "10.88.0.0/24"]);
    }
}
