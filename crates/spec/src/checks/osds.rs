//! Where OSDs keep their data, and how many copies there can be.

use std::collections::{HashMap, hash_map::Entry};

use crate::{
    cluster::Role,
    codes,
    draft::{Draft, DraftNode},
    file::OsdSection,
    location::Location,
    problems::{Finding, Problems},
};

pub(super) fn are_listed_where_the_role_is(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    // Of a node with mistakes it is not known what it would list.
    for node in draft.nodes.iter().filter(|node| node.listed.clean) {
        let section = node.listed.ceph.as_ref();
        match (node.has(Role::CephOsd), section) {
            (true, None) => {
                let message = format!("`{}` has the role `ceph-osd`, but lists no OSD", node.shown());
                problems.push(Finding::error(codes::OSD_NOT_LISTED, node.roles_location(), message));
            }
            (true, Some(section)) if section.osds.as_ref().is_some_and(|osds| osds.items.is_empty()) => {
                let message = format!("`{}` has the role `ceph-osd`, but its list of OSDs is empty", node.shown());
                problems.push(Finding::error(codes::OSD_NOT_LISTED, section.location, message));
            }
            (false, Some(section)) => {
                let message = format!("`{}` lists OSDs, but does not have the role `ceph-osd`", node.shown());
                let finding = Finding::error(codes::OSD_WITHOUT_ROLE, section.location, message);
                problems.push(finding.also(node.roles_location(), "its roles"));
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
}

pub(super) fn have_one_store_each(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    for (node, osd) in osds(draft).filter(|(_, osd)| osd.clean) {
        let (location, message) = match (&osd.device, &osd.file, &osd.size) {
            (Some(_), None, None) | (None, Some(_), Some(_)) => continue,
            (None, None, _) => (osd.location, format!("an OSD of `{}` has neither a device nor a file", node.shown())),
            (Some(_), Some(file), _) => {
                (file.location, format!("an OSD of `{}` has both a device and a file", node.shown()))
            }
            (None, Some(file), None) => {
                (file.location, format!("the file `{}` of `{}` has no size", file.0.display(), node.shown()))
            }
            (Some(device), None, Some(size)) => (
                size.location,
                format!("`{}` of `{}` is used whole and needs no size", device.0.display(), node.shown()),
            ),
        };
        problems.push(Finding::error(codes::OSD_STORE, location, message));
    }
}

pub(super) fn share_no_store(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    for node in &draft.nodes {
        let mut seen: HashMap<_, Location> = HashMap::new();
        let devices = node.osds().filter_map(|osd| osd.device.as_ref()).map(|device| (&device.0, device.location));
        let files = node.osds().filter_map(|osd| osd.file.as_ref()).map(|file| (&file.0, file.location));
        for (path, location) in devices.chain(files) {
            match seen.entry(path) {
                Entry::Vacant(free) => {
                    free.insert(location);
                }
                Entry::Occupied(first) => {
                    let message = format!("`{}` lists `{}` twice", node.shown(), path.display());
                    let finding = Finding::error(codes::OSD_TWICE, location, message);
                    problems.push(finding.also(*first.get(), "first listed here"));
                }
            }
        }
    }
}

pub(super) fn hold_every_copy(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(section) = &draft.cluster.ceph else { return };
    let nodes = draft.with_role(Role::CephOsd).count();
    if let Some(size) = &section.pool_size
        && draft.nodes_complete
        && nodes > 0
        && usize::from(size.0) > nodes
    {
        let message = format!("pools of {} copies need as many nodes with OSDs, but there are {nodes}", size.0);
        problems.push(Finding::error(codes::POOL_SIZE, size.location, message));
    }
    if let Some(min_size) = &section.pool_min_size
        && (section.pool_size.is_some() || draft.nodes_complete)
        && min_size.0 > draft.pool_size()
    {
        let message =
            format!("pools of {} copies never have the {} that writing would need", draft.pool_size(), min_size.0);
        problems.push(Finding::error(codes::POOL_SIZE, min_size.location, message));
    }
}

fn osds<'d, 'a>(draft: &'d Draft<'a>) -> impl Iterator<Item = (&'d DraftNode<'a>, &'a OsdSection)> {
    draft.nodes.iter().flat_map(|node| node.osds().map(move |osd| (node, osd)))
}

#[cfg(test)]
mod tests {
    use super::super::codes_of;

    #[test]
    fn osds() {
        for (roles, osds, expected) in [
            ("ceph-osd", "[{device: /dev/sdb}, {file: /srv/one, size: 10G, wipe: true}]", vec![]),
            ("ceph-osd", "[{device: /dev/sdb}, {device: /dev/sdb}]", vec!["BS-SPEC-066"]),
            ("ceph-osd", "[{file: /srv/one, size: 2G}, {file: /srv/one, size: 3G}]", vec!["BS-SPEC-066"]),
            ("ceph-osd", "[]", vec!["BS-SPEC-063"]),
            ("ceph-osd", "[{}]", vec!["BS-SPEC-065"]),
            ("ceph-osd", "[{wipe: true}]", vec!["BS-SPEC-065"]),
            ("ceph-osd", "[{size: 2G}]", vec!["BS-SPEC-065"]),
            ("ceph-osd", "[{file: /srv/one}]", vec!["BS-SPEC-065"]),
            ("ceph-osd", "[{device: /dev/sdb, size: 2G}]", vec!["BS-SPEC-065"]),
            ("ceph-osd", "[{device: /dev/sdb, file: /srv/one, size: 2G}]", vec!["BS-SPEC-065"]),
            ("ceph-osd", "[{device: sdb}]", vec!["BS-SPEC-030"]),
            ("ceph-osd", "[{device: /dev/sdb, wipe: yes}]", vec!["BS-SPEC-015"]),
            ("worker", "[{device: /dev/sdb}]", vec!["BS-SPEC-064"]),
        ] {
            let nodes = format!(
                "  - {{name: m, ip: 10.0.0.11, roles: [master, ceph-mon, ceph-mgr]}}\n  \
                 - {{name: w, ip: 10.0.0.12, roles: [{roles}], ceph: {{osds: {osds}}}}}\n"
            );
            assert_eq!(codes_of("", &nodes), expected, "{roles} {osds}");
        }
    }

    #[test]
    fn copies() {
        for (settings, expected) in [
            ("pool_size: 1", vec![]),
            ("pool_size: 2", vec![]),
            ("pool_size: 3", vec!["BS-SPEC-067"]),
            ("pool_size: 2, pool_min_size: 2", vec![]),
            ("pool_size: 1, pool_min_size: 2", vec!["BS-SPEC-067"]),
            ("pool_min_size: 2", vec![]),
            ("pool_min_size: 3", vec!["BS-SPEC-067"]),
            ("pool_size: 0", vec!["BS-SPEC-016"]),
            ("pool_min_size: 11", vec!["BS-SPEC-016"]),
        ] {
            let osd = "ceph: {osds: [{device: /dev/sdb}]}";
            let nodes = format!(
                "  - {{name: m, ip: 10.0.0.11, roles: [master, ceph-mon, ceph-mgr, ceph-osd], {osd}}}\n  \
                 - {{name: w, ip: 10.0.0.12, roles: [ceph-osd], {osd}}}\n"
            );
            assert_eq!(codes_of(&format!("  ceph: {{{settings}}}\n"), &nodes), expected, "{settings}");
        }
    }
}
