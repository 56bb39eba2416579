//! The sections about Ceph: one of the cluster, one of a node.

use ipnet::IpNet;
use schemars::JsonSchema;

use crate::{
    location::{List, Location, Spanned},
    read::{Fields, Section},
    values::{Copies, DevicePath, FileSize, MemoryTarget, StoreFile, Switch},
};

/// Settings of the whole Ceph cluster.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct CephSection {
    /// Where clients and monitors talk. The default is the node network.
    pub(crate) public_network: Option<Spanned<IpNet>>,
    /// Where OSDs replicate. The default is the node network.
    pub(crate) cluster_network: Option<Spanned<IpNet>>,
    /// How many copies a new pool keeps, each on another node. The default is 3, or the number of nodes with OSDs if
    /// these are fewer.
    pub(crate) pool_size: Option<Spanned<Copies>>,
    /// With how many copies a new pool still takes writes. The default is the larger half of `pool_size`.
    pub(crate) pool_min_size: Option<Spanned<Copies>>,
    /// How much memory each OSD aims at, at least `896M`.
    #[schemars(extend("default" = "4G"))]
    pub(crate) osd_memory_target: Option<Spanned<MemoryTarget>>,
    /// Whether the managers serve Ceph's dashboard.
    #[schemars(extend("default" = true))]
    pub(crate) dashboard: Option<Spanned<Switch>>,
    #[schemars(skip)]
    pub(crate) location: Location,
}

/// What a node keeps for Ceph.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct NodeCephSection {
    /// The OSDs of a node with the role `ceph-osd`. Nothing that is not listed is ever touched.
    #[schemars(required, extend("minItems" = 1))]
    pub(crate) osds: Option<List<OsdSection>>,
    #[schemars(skip)]
    pub(crate) location: Location,
}

/// One OSD: a device, or a file and its size.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct OsdSection {
    /// A whole disk or a partition, best by a name that stays the same: `/dev/disk/by-id/…`.
    pub(crate) device: Option<Spanned<DevicePath>>,
    /// A file to keep the data in, for a lab or a trial.
    pub(crate) file: Option<Spanned<StoreFile>>,
    /// With `file`: how large it is, at least `2G`.
    pub(crate) size: Option<Spanned<FileSize>>,
    /// Whether to destroy what is there. Without it an OSD is made only where there is nothing.
    #[schemars(extend("default" = false))]
    pub(crate) wipe: Option<Spanned<Switch>>,
    #[schemars(skip)]
    pub(crate) location: Location,
    /// Nothing in it was wrong: what is absent was not given.
    #[schemars(skip)]
    pub(crate) clean: bool,
}

impl Section for CephSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            public_network: fields.optional("public_network"),
            cluster_network: fields.optional("cluster_network"),
            pool_size: fields.optional("pool_size"),
            pool_min_size: fields.optional("pool_min_size"),
            osd_memory_target: fields.optional("osd_memory_target"),
            dashboard: fields.optional("dashboard"),
            location: fields.location(),
        }
    }
}

impl Section for NodeCephSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { osds: fields.required("osds"), location: fields.location() }
    }
}

impl Section for OsdSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            device: fields.optional("device"),
            file: fields.optional("file"),
            size: fields.optional("size"),
            wipe: fields.optional("wipe"),
            location: fields.location(),
            clean: fields.clean(),
        }
    }
}
