//! Addresses in URLs and on listeners.

use std::net::IpAddr;

/// `host:port`, with brackets around an IPv6 address.
pub(crate) fn with_port(ip: IpAddr, port: u16) -> String {
    std::net::SocketAddr::new(ip, port).to_string()
}

/// An `https` URL without a path.
pub(crate) fn https(ip: IpAddr, port: u16) -> String {
    format!("https://{}", with_port(ip, port))
}

/// All addresses of the machine, in the family of `ip`.
pub(crate) fn any(ip: IpAddr) -> &'static str {
    if ip.is_ipv4() { "0.0.0.0" } else { "::" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families() {
        for (ip, expected, all) in
            [("192.168.1.10", "https://192.168.1.10:2379", "0.0.0.0"), ("fd00::10", "https://[fd00::10]:2379", "::")]
        {
            let ip: IpAddr = ip.parse().unwrap();
            assert_eq!(https(ip, 2379), expected);
            assert_eq!(any(ip), all);
        }
    }
}
