//! From a node's files to its config.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use explain::{Code, Explain};
use host::Change;
use jiff::Timestamp;
use spec::Node;

use crate::{
    codes,
    config::{Config, Directory, File, Unit, User},
    record::{RECORD, Record},
    sum,
};

/// Who logs in, as on RHCOS and FCOS.
const USER: &str = "core";
const SUDOERS: &str = "/etc/sudoers.d/blackstart-core";
const HOSTNAME: &str = "/etc/hostname";

/// What a node's config is made from. Holds secrets, so it cannot be printed.
pub struct Input<'a> {
    /// The cluster's name.
    pub cluster: &'a str,
    /// The machine.
    pub node: &'a Node,
    /// Its sealed directory, as the changes by which `node install` would put it in place.
    pub configuration: Vec<Change>,
    /// The units that are started at every boot.
    pub units: Vec<Unit>,
    /// Public keys with which one may log in.
    pub ssh_keys: Vec<String>,
    /// More files, rendered elsewhere: on the bootstrap node, the script that people know.
    pub more_files: Vec<File>,
    /// Now.
    pub rendered_at: Timestamp,
    /// When the node's secret ends; `None` for never.
    pub valid_until: Option<Timestamp>,
}

/// A config and what is known of it.
pub struct Rendered {
    /// The config's text.
    pub bytes: Vec<u8>,
    /// What is recorded in it.
    pub record: Record,
}

/// Why there is no config.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// Ignition refuses it.
    #[error("{0} is in the config twice")]
    Twice(PathBuf),
    /// Only directories and files are put into a config.
    #[error("{0} is neither a directory nor a file")]
    Kind(PathBuf),
    /// A path is not UTF-8.
    #[error("cannot write the config as JSON")]
    Json(#[from] serde_json::Error),
}

impl Explain for RenderError {
    fn code(&self) -> Code {
        codes::UNWRITABLE
    }
}

/// The config of a machine.
pub fn render(input: Input<'_>) -> Result<Rendered, RenderError> {
    let Input { cluster, node, rendered_at, valid_until, .. } = input;
    let mut config = Config::empty();
    for change in &input.configuration {
        match change {
            Change::Directory { path, mode } => {
                config.storage.directories.push(Directory { path: path.clone(), mode: *mode });
            }
            Change::File { path, mode, content } => {
                config.storage.files.push(File::new(path, *mode, content.bytes()));
            }
            other => return Err(RenderError::Kind(other.path().to_path_buf())),
        }
    }
    config.storage.files.push(File::new(HOSTNAME, 0o644, format!("{}\n", node.hostname).as_bytes()));
    config.storage.files.push(File::new(SUDOERS, 0o440, format!("{USER} ALL=(ALL) NOPASSWD: ALL\n").as_bytes()));
    config.storage.files.extend(input.more_files);
    config.systemd.units = input.units;
    config.passwd.users = vec![User { name: USER.to_owned(), ssh_authorized_keys: input.ssh_keys }];

    let id = sum::sha256(&config.bytes()?);
    let record = Record { id, cluster: cluster.to_owned(), node: node.name.clone(), rendered_at, valid_until };
    let mut text = serde_json::to_vec_pretty(&record)?;
    text.push(b'\n');
    config.storage.files.push(File::new(RECORD, 0o644, &text));
    refuse_twice(&config)?;
    Ok(Rendered { bytes: config.bytes()?, record })
}

fn refuse_twice(config: &Config) -> Result<(), RenderError> {
    let mut seen: BTreeSet<&Path> = BTreeSet::new();
    let directories = config.storage.directories.iter().map(|directory| directory.path.as_path());
    for path in directories.chain(config.storage.files.iter().map(|file| file.path.as_path())) {
        if !seen.insert(path) {
            return Err(RenderError::Twice(path.to_path_buf()));
        }
    }
    Ok(())
}
