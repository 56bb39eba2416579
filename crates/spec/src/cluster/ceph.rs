//! Ceph as the cluster's description has it.

use std::path::{Path, PathBuf};

use ipnet::IpNet;

/// Settings of the whole Ceph cluster.
#[derive(Debug, Clone)]
pub struct Ceph {
    /// Where clients and monitors talk.
    pub public_network: IpNet,
    /// Where OSDs replicate.
    pub cluster_network: IpNet,
    /// How many copies a new pool keeps; never more than there are nodes to keep them.
    pub pool_size: u8,
    /// With how many copies a new pool still takes writes.
    pub pool_min_size: u8,
    /// How much memory an OSD aims at, in bytes.
    pub osd_memory_target: u64,
    /// Whether the managers serve Ceph's dashboard.
    pub dashboard: bool,
}

/// One OSD of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Osd {
    /// Where it keeps its data.
    pub store: OsdStore,
    /// Whether what is there now may be destroyed.
    pub wipe: bool,
}

/// Where an OSD keeps its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OsdStore {
    /// A whole disk or a partition.
    Device(PathBuf),
    /// A file of a fixed size on a file system that is there already.
    File {
        /// Where; its directory is made if it is missing.
        path: PathBuf,
        /// How large it is, in bytes.
        size: u64,
    },
}

impl OsdStore {
    /// The device or the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Device(path) | Self::File { path, .. } => path,
        }
    }
}
