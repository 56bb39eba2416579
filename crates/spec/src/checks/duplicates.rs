//! What only one node may have.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt::Display,
    hash::Hash,
};

use explain::Code;

use crate::{
    codes,
    draft::{Draft, DraftNode},
    location::{Location, Spanned},
    problems::{Finding, Problems},
};

pub(super) fn names(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let mut seen = HashMap::new();
    for name in draft.nodes.iter().filter_map(DraftNode::name) {
        match seen.entry(name.0.as_str()) {
            Entry::Vacant(free) => {
                free.insert(name.location);
            }
            Entry::Occupied(first) => {
                let message = format!("the name `{}` is used twice", name.0);
                let finding = Finding::error(codes::DUPLICATE_NAME, name.location, message);
                problems.push(finding.also(*first.get(), "first used here"));
            }
        }
    }
}

pub(super) fn hostnames(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    unique(draft, problems, codes::DUPLICATE_HOSTNAME, "host name", |node| {
        node.hostname().into_iter().map(|name| (name.0.as_str(), name.location))
    });
}

pub(super) fn addresses(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    unique(draft, problems, codes::DUPLICATE_ADDRESS, "address", |node| {
        node.listed.ip.iter().map(|ip| (ip.value, ip.location))
    });
}

pub(super) fn macs(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    unique(draft, problems, codes::DUPLICATE_MAC, "MAC address", |node| {
        node.macs().map(|mac| (mac.value, mac.location))
    });
}

pub(super) fn dmi_uuids(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    unique(draft, problems, codes::DUPLICATE_HARDWARE_ID, "DMI uuid", |node| {
        node.dmi_uuid().into_iter().map(|uuid| (uuid.0.as_str(), uuid.location))
    });
}

pub(super) fn dmi_serials(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    unique(draft, problems, codes::DUPLICATE_HARDWARE_ID, "DMI serial", |node| {
        node.dmi_serial().into_iter().map(|serial| (serial.0.as_str(), serial.location))
    });
}

/// Reports what two nodes of different names share. Two nodes of one name are reported as that.
fn unique<'a, K, I>(
    draft: &Draft<'a>,
    problems: &mut Problems<'_>,
    code: Code,
    what: &str,
    values: impl Fn(&DraftNode<'a>) -> I,
) where
    K: Eq + Hash + Display,
    I: IntoIterator<Item = (K, Location)>,
{
    let mut seen: HashMap<K, (&DraftNode<'a>, Location)> = HashMap::new();
    for node in &draft.nodes {
        for (key, location) in values(node) {
            match seen.entry(key) {
                Entry::Vacant(free) => {
                    free.insert((node, location));
                }
                Entry::Occupied(first) => {
                    let (owner, first_location) = *first.get();
                    let same_node = std::ptr::eq(owner, node);
                    let same_name = owner.name().is_some() && same(owner.name(), node.name());
                    if !same_node && !same_name {
                        let message = format!(
                            "`{}` and `{}` have the same {what} `{}`",
                            owner.shown(),
                            node.shown(),
                            first.key()
                        );
                        problems.push(Finding::error(code, location, message).also(first_location, "first used here"));
                    }
                }
            }
        }
    }
}

fn same<T: PartialEq>(a: Option<&Spanned<T>>, b: Option<&Spanned<T>>) -> bool {
    a.map(|a| &a.value) == b.map(|b| &b.value)
}

#[cfg(test)]
mod tests {
    use super::super::codes_of;

    #[test]
    fn duplicates() {
        let first = "  - {name: a, ip: 10.0.0.11, roles: [master], hardware: {mac_addresses: [525400000010], \
                     dmi_serial: S1, dmi_uuid: 4c4c4544-0042-3510-8052-b4c04f4d4e32}}\n"
            .replace("525400000010", "'525400000010'");
        for (second, expected) in [
            ("name: a, ip: 10.0.0.12", vec!["BS-SPEC-033"]),
            ("name: b, ip: 10.0.0.11", vec!["BS-SPEC-035"]),
            ("name: b, hostname: a, ip: 10.0.0.12", vec!["BS-SPEC-034"]),
            ("name: b, ip: 10.0.0.12, hardware: {mac_addresses: ['52-54-00-00-00-10']}", vec!["BS-SPEC-036"]),
            ("name: b, ip: 10.0.0.12, hardware: {mac_addresses: ['52:54:00:00:00:11', '525400000011']}", vec![]),
            ("name: b, ip: 10.0.0.12, hardware: {dmi_serial: S1}", vec!["BS-SPEC-037"]),
            ("name: b, ip: 10.0.0.12, hardware: {dmi_uuid: 4C4C4544-0042-3510-8052-B4C04F4D4E32}", vec!["BS-SPEC-037"]),
        ] {
            let nodes = format!("{first}  - {{{second}, roles: [worker]}}\n");
            assert_eq!(codes_of("", &nodes), expected, "{second}");
        }
    }
}
