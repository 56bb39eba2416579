//! What a machine's first boot is made from: its Ignition config, from its sealed directory and the units of `node install`.
//!
//! The same for the command that writes configs and for a lab that boots machines with them.

use std::path::{Path, PathBuf};

use explain::{Code, Explain};
use host::{Disk, HostError};
use ignition::{File, Input, Record, RenderError, Rendered, Unit, codes};
use jiff::Timestamp;
use join::seal::{SealError, Sealed, Sources};
use nodekit::Layout;
use render::{Service, units};
use spec::{Node, Role, ValidatedCluster};

use crate::cluster::{configuration, own_units};

/// What the configs of all machines of a cluster have in common.
pub struct FirstBoot<'a> {
    /// The cluster.
    pub cluster: &'a ValidatedCluster,
    /// The files that it was read from.
    pub sources: &'a Sources,
    /// Where the machines' sealed directories are.
    pub sealed: &'a Path,
    /// Public keys with which one may log in.
    pub ssh_keys: &'a [String],
    /// Now.
    pub now: Timestamp,
}

/// Why a machine has no config.
#[derive(Debug, thiserror::Error)]
pub enum NoConfig {
    /// Nothing was sealed there.
    #[error("{} is not a sealed directory", .0.display())]
    NotSealed(PathBuf),
    /// It was sealed for another machine.
    #[error("{} was sealed for `{node}`", .dir.display())]
    OfAnother {
        /// The directory.
        dir: PathBuf,
        /// Whose it is.
        node: String,
    },
    /// No master would let the machine in.
    #[error("the secret in {} ended at {end}", .dir.display())]
    Expired {
        /// The directory.
        dir: PathBuf,
        /// When.
        end: Timestamp,
    },
    /// The configuration has changed since.
    #[error("{} was sealed with another cluster.yaml or nodes/", .0.display())]
    Stale(PathBuf),
    /// A part of it is missing or exchanged.
    #[error(transparent)]
    Sealed(#[from] SealError),
    /// Its files are no config.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A file cannot be read.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Explain for NoConfig {
    fn code(&self) -> Code {
        match self {
            Self::NotSealed(_) | Self::OfAnother { .. } => codes::NOT_SEALED,
            Self::Expired { .. } => codes::EXPIRED,
            Self::Stale(_) => codes::STALE,
            Self::Sealed(error) => error.code(),
            Self::Render(error) => error.code(),
            Self::Host(error) => error.code(),
        }
    }
}

impl FirstBoot<'_> {
    /// The config of a machine, and the sealed directory that it is made from. `present`, the config that is there already, stays
    /// as it is if it was made from the same: pointers to it stay good.
    pub fn config(&self, disk: &dyn Disk, node: &Node, present: Option<&[u8]>) -> Result<(Sealed, Rendered), NoConfig> {
        let sealed = self.usable(disk, node)?;
        let rendered = ignition::render(Input {
            cluster: self.cluster.name(),
            node,
            configuration: configuration(&self.sealed.join(&node.name), &Layout::default())?,
            units: installed_units(node),
            ssh_keys: self.ssh_keys.to_vec(),
            more_files: more_files(node),
            rendered_at: self.now,
            valid_until: sealed.secret.expires,
        })?;
        Ok((sealed, as_before(present, rendered)))
    }

    /// The sealed directory of a machine, if it is whole, of this machine and this configuration, and has not ended.
    fn usable(&self, disk: &dyn Disk, node: &Node) -> Result<Sealed, NoConfig> {
        let dir = self.sealed.join(&node.name);
        let Some(sealed) = Sealed::read(disk, &dir)? else { return Err(NoConfig::NotSealed(dir)) };
        if sealed.secret.node != node.name {
            return Err(NoConfig::OfAnother { dir, node: sealed.secret.node });
        }
        if let Some(end) = sealed.secret.expires.filter(|end| *end <= self.now) {
            return Err(NoConfig::Expired { dir, end });
        }
        let with = Sources::read(disk, &dir, self.cluster)?;
        if with.cluster != self.sources.cluster || with.nodes != self.sources.nodes {
            return Err(NoConfig::Stale(dir));
        }
        Ok(sealed)
    }
}

/// The units that `node install` writes; on the bootstrap node also the one whose journal people read.
fn installed_units(node: &Node) -> Vec<Unit> {
    let services = own_units().into_iter().chain(bootkube(node));
    services.map(|service| Unit::new(service.name, &service.unit)).collect()
}

fn more_files(node: &Node) -> Vec<File> {
    let files = bootkube(node).into_iter().flat_map(|service| service.files);
    files.map(|file| File::new(file.path, file.mode, file.text.as_bytes())).collect()
}

fn bootkube(node: &Node) -> Option<Service> {
    node.has(Role::Bootstrap).then(units::bootkube)
}

fn as_before(present: Option<&[u8]>, rendered: Rendered) -> Rendered {
    let Some(bytes) = present else { return rendered };
    match Record::of(bytes) {
        Some(record) if record.id == rendered.record.id && record.valid_until == rendered.record.valid_until => {
            Rendered { bytes: bytes.to_vec(), record }
        }
        _ => rendered,
    }
}
