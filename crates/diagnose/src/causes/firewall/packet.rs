//! The first packet of a connection, and whether a condition of a rule is true of it.

use std::net::IpAddr;

use serde_json::Value;

/// The first packet of a TCP connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet<'a> {
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    pub(super) port: u16,
    /// The interface it comes in by; `None` where it goes out, or where that is not known.
    pub(super) comes_by: Option<&'a str>,
    /// The interface it goes out by.
    pub(super) goes_by: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    Unknown,
}

impl From<bool> for Truth {
    fn from(is_true: bool) -> Self {
        if is_true { Self::Yes } else { Self::No }
    }
}

/// What a condition asks for.
enum Field<'a> {
    Port(u16),
    Address(IpAddr),
    Word(&'a [&'a str]),
    Interface(&'a str),
    /// Something that a packet of this kind does not have.
    Absent,
    Unknown,
}

impl Packet<'_> {
    /// Whether tables of this family see it.
    pub(super) fn passes(&self, family: &str) -> bool {
        match family {
            "inet" => true,
            "ip" => self.to.is_ipv4(),
            "ip6" => self.to.is_ipv6(),
            _ => false,
        }
    }

    /// Whether a `match` is true.
    pub(super) fn fits(&self, condition: &Value) -> Truth {
        let field = self.field(&condition["left"]);
        if matches!(field, Field::Absent) {
            return Truth::No;
        }
        let is_in = is_in(&field, &condition["right"]);
        match (condition["op"].as_str(), is_in) {
            (Some("==" | "in"), truth) => truth,
            (Some("!="), Truth::Yes) => Truth::No,
            (Some("!="), Truth::No) => Truth::Yes,
            _ => Truth::Unknown,
        }
    }

    fn field(&self, left: &Value) -> Field<'_> {
        let payload = &left["payload"];
        match (payload["protocol"].as_str(), payload["field"].as_str()) {
            (Some("tcp" | "th"), Some("dport")) => return Field::Port(self.port),
            (Some("udp" | "icmp" | "icmpv6" | "sctp" | "dccp" | "udplite" | "esp" | "ah"), _) => return Field::Absent,
            (Some("ip"), _) if self.to.is_ipv6() => return Field::Absent,
            (Some("ip6"), _) if self.to.is_ipv4() => return Field::Absent,
            (Some("ip" | "ip6"), Some("saddr")) => return Field::Address(self.from),
            (Some("ip" | "ip6"), Some("daddr")) => return Field::Address(self.to),
            (Some("ip"), Some("protocol")) | (Some("ip6"), Some("nexthdr")) => return Field::Word(&["tcp", "6"]),
            _ => {}
        }
        match (left["meta"]["key"].as_str(), left["ct"]["key"].as_str()) {
            (Some("l4proto"), _) => Field::Word(&["tcp", "6"]),
            (Some("nfproto"), _) if self.to.is_ipv4() => Field::Word(&["ipv4", "2"]),
            (Some("nfproto"), _) => Field::Word(&["ipv6", "10"]),
            (Some("iif" | "iifname"), _) => self.comes_by.map_or(Field::Unknown, Field::Interface),
            (Some("oif" | "oifname"), _) => self.goes_by.map_or(Field::Unknown, Field::Interface),
            (_, Some("state")) => Field::Word(&["new"]),
            _ => Field::Unknown,
        }
    }
}

/// Whether a field has one of the values on the right side of a condition.
fn is_in(field: &Field<'_>, right: &Value) -> Truth {
    let several = right.as_array().or_else(|| right["set"].as_array());
    if let Some(several) = several {
        let each: Vec<Truth> = several.iter().map(|one| is_in(field, one)).collect();
        return [Truth::Yes, Truth::Unknown].into_iter().find(|truth| each.contains(truth)).unwrap_or(Truth::No);
    }
    // A set that has a name is kept elsewhere, and may change at any time.
    if right.as_str().is_some_and(|name| name.starts_with('@')) {
        return Truth::Unknown;
    }
    let text = right.as_str().map_or_else(|| right.to_string(), str::to_owned);
    match field {
        Field::Port(port) => match right["range"].as_array().map(Vec::as_slice) {
            Some([low, high]) => match (low.as_u64(), high.as_u64()) {
                (Some(low), Some(high)) => (low..=high).contains(&u64::from(*port)).into(),
                _ => Truth::Unknown,
            },
            _ => right.as_u64().map_or(Truth::Unknown, |value| (value == u64::from(*port)).into()),
        },
        Field::Address(address) => among(*address, right),
        Field::Word(words) => words.contains(&text.as_str()).into(),
        Field::Interface(name) => match text.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning).into(),
            None => (*name == text).into(),
        },
        Field::Absent | Field::Unknown => Truth::Unknown,
    }
}

/// Whether an address is this one, in this network or in this range.
fn among(address: IpAddr, right: &Value) -> Truth {
    let parsed = |value: &Value| value.as_str().and_then(|text| text.parse::<IpAddr>().ok());
    if let Some(one) = parsed(right) {
        return (one == address).into();
    }
    let (network, length) = (&right["prefix"]["addr"], &right["prefix"]["len"]);
    if let (Some(network), Some(length)) = (parsed(network), length.as_u64()) {
        return in_network(address, network, length).into();
    }
    match right["range"].as_array().map(Vec::as_slice) {
        Some([low, high]) => match (parsed(low), parsed(high)) {
            (Some(low), Some(high)) => (low <= address && address <= high).into(),
            _ => Truth::Unknown,
        },
        _ => Truth::Unknown,
    }
}

fn in_network(address: IpAddr, network: IpAddr, length: u64) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, 32),
        IpAddr::V6(v6) => (v6.to_bits(), 128),
    };
    let ((left, width), (right, other)) = (bits(address), bits(network));
    let length = u32::try_from(length).unwrap_or(width).min(width);
    let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
    width == other && left & mask == right & mask
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_is_true_false_or_not_known() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let packet = Packet {
            from: ip("192.168.1.11"),
            to: ip("192.168.1.10"),
            port: 6443,
            comes_by: Some("eth0"),
            goes_by: None,
        };
        let dport = json!({ "payload": { "protocol": "tcp", "field": "dport" } });
        let source = json!({ "payload": { "protocol": "ip", "field": "saddr" } });
        let interface = json!({ "meta": { "key": "iifname" } });
        for (left, op, right, expected) in [
            (&dport, "==", json!(6443), Truth::Yes),
            (&dport, "!=", json!(6443), Truth::No),
            (&dport, "==", json!(22), Truth::No),
            (&dport, "==", json!({ "set": [22, { "range": [6000, 7000] }] }), Truth::Yes),
            (&dport, "==", json!("@open"), Truth::Unknown),
            (&dport, "<", json!(1024), Truth::Unknown),
            (&json!({ "payload": { "protocol": "udp", "field": "dport" } }), "==", json!(6443), Truth::No),
            (&json!({ "payload": { "protocol": "ip6", "field": "saddr" } }), "!=", json!("::1"), Truth::No),
            (&source, "==", json!("192.168.1.11"), Truth::Yes),
            (&source, "==", json!({ "prefix": { "addr": "192.168.0.0", "len": 16 } }), Truth::Yes),
            (&source, "!=", json!({ "prefix": { "addr": "10.0.0.0", "len": 8 } }), Truth::Yes),
            (&source, "==", json!({ "range": ["192.168.1.1", "192.168.1.9"] }), Truth::No),
            (&interface, "==", json!("lo"), Truth::No),
            (&interface, "==", json!("eth*"), Truth::Yes),
            (&json!({ "meta": { "key": "oifname" } }), "==", json!("lo"), Truth::Unknown),
            (&json!({ "meta": { "key": "l4proto" } }), "==", json!({ "set": ["udp", "tcp"] }), Truth::Yes),
            (&json!({ "meta": { "key": "mark" } }), "==", json!(1), Truth::Unknown),
            (&json!({ "ct": { "key": "state" } }), "in", json!(["established", "related"]), Truth::No),
            (&json!({ "ct": { "key": "state" } }), "==", json!("new"), Truth::Yes),
        ] {
            let condition = json!({ "op": op, "left": left, "right": right });
            assert_eq!(packet.fits(&condition), expected, "{condition}");
        }
    }
}
