//! Ceph from a draft without errors.

use ipnet::IpNet;

use crate::{
    cluster::{Ceph, Osd, OsdStore},
    draft::{Draft, DraftNode},
    file::OsdSection,
    location::Spanned,
    values::DEFAULT_MEMORY_TARGET,
};

/// The settings of the whole cluster; `None` where no node has a Ceph role.
pub(super) fn cluster(draft: &Draft<'_>) -> Option<Ceph> {
    if !draft.nodes.iter().any(DraftNode::has_ceph_role) {
        return None;
    }
    let node_cidr = draft.networks.node?.value;
    let section = draft.cluster.ceph.as_ref();
    let network = |given: Option<&Spanned<IpNet>>| given.map_or(node_cidr, |given| given.value);
    let pool_size = draft.pool_size();
    let pool_min_size = section.and_then(|section| section.pool_min_size.as_ref());
    let memory = section.and_then(|section| section.osd_memory_target.as_ref());
    Some(Ceph {
        public_network: network(section.and_then(|section| section.public_network.as_ref())),
        cluster_network: network(section.and_then(|section| section.cluster_network.as_ref())),
        pool_size,
        pool_min_size: pool_min_size.map_or(pool_size - pool_size / 2, |given| given.0),
        osd_memory_target: memory.map_or(DEFAULT_MEMORY_TARGET, |given| given.0),
        dashboard: section.and_then(|section| section.dashboard.as_ref()).is_none_or(|given| given.0),
    })
}

/// One OSD; `None` where the checks have refused it.
pub(super) fn osd(section: &OsdSection) -> Option<Osd> {
    let OsdSection { device, file, size, wipe, location: _, clean: _ } = section;
    let store = match (device, file, size) {
        (Some(device), None, None) => OsdStore::Device(device.0.clone()),
        (None, Some(file), Some(size)) => OsdStore::File { path: file.0.clone(), size: size.0 },
        _ => return None,
    };
    Some(Osd { store, wipe: wipe.as_ref().is_some_and(|wipe| wipe.0) })
}
