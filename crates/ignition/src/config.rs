//! The part of the Ignition specification 3.2.0 that we write.
//!
//! Every file has `overwrite: true`, because Ignition that was interrupted runs again over what it wrote itself. A directory
//! has not: there it would mean to delete what is in it. None of this can be printed: contents are secrets.

use std::path::PathBuf;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;

/// The version of the specification: read by RHCOS, FCOS, Flatcar and Debian's Ignition.
pub const VERSION: &str = "3.2.0";

/// A whole config.
#[derive(Clone, Serialize)]
pub struct Config {
    pub(crate) ignition: Ignition,
    #[serde(skip_serializing_if = "Passwd::is_empty")]
    pub(crate) passwd: Passwd,
    #[serde(skip_serializing_if = "Storage::is_empty")]
    pub(crate) storage: Storage,
    #[serde(skip_serializing_if = "Systemd::is_empty")]
    pub(crate) systemd: Systemd,
}

#[derive(Clone, Serialize)]
pub(crate) struct Ignition {
    pub(crate) version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<Merge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) security: Option<Security>,
}

/// Configs that are fetched and laid over this one.
#[derive(Clone, Serialize)]
pub(crate) struct Merge {
    pub(crate) merge: Vec<Resource>,
}

#[derive(Clone, Serialize)]
pub(crate) struct Security {
    pub(crate) tls: Tls,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tls {
    pub(crate) certificate_authorities: Vec<Resource>,
}

/// Bytes: inside the config, or fetched from elsewhere.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource {
    pub(crate) source: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) http_headers: Vec<Header>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verification: Option<Verification>,
}

#[derive(Clone, Serialize)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Clone, Serialize)]
pub(crate) struct Verification {
    pub(crate) hash: String,
}

#[derive(Clone, Default, Serialize)]
pub(crate) struct Passwd {
    pub(crate) users: Vec<User>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct User {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ssh_authorized_keys: Vec<String>,
}

#[derive(Clone, Default, Serialize)]
pub(crate) struct Storage {
    pub(crate) directories: Vec<Directory>,
    pub(crate) files: Vec<File>,
}

#[derive(Clone, Default, Serialize)]
pub(crate) struct Systemd {
    pub(crate) units: Vec<Unit>,
}

/// A directory of the machine.
#[derive(Clone, Serialize)]
pub struct Directory {
    pub(crate) path: PathBuf,
    pub(crate) mode: u32,
}

/// A file of the machine.
#[derive(Clone, Serialize)]
pub struct File {
    pub(crate) path: PathBuf,
    overwrite: bool,
    pub(crate) mode: u32,
    contents: Resource,
}

/// A unit that is started at every boot.
#[derive(Clone, Serialize)]
pub struct Unit {
    pub(crate) name: String,
    enabled: bool,
    contents: String,
}

impl Config {
    /// One in which nothing is.
    pub(crate) fn empty() -> Self {
        Self {
            ignition: Ignition { version: VERSION, config: None, security: None },
            passwd: Passwd::default(),
            storage: Storage::default(),
            systemd: Systemd::default(),
        }
    }

    /// The config as it is written, every list sorted. Fails only for a path that is not UTF-8.
    pub fn bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut sorted = self.clone();
        sorted.storage.directories.sort_by(|one, other| one.path.cmp(&other.path));
        sorted.storage.files.sort_by(|one, other| one.path.cmp(&other.path));
        sorted.systemd.units.sort_by(|one, other| one.name.cmp(&other.name));
        let mut bytes = serde_json::to_vec_pretty(&sorted)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

impl Resource {
    /// These bytes, inside the config.
    pub(crate) fn inside(bytes: &[u8]) -> Self {
        let source = format!("data:;base64,{}", STANDARD.encode(bytes));
        Self { source, http_headers: Vec::new(), verification: None }
    }
}

impl File {
    /// A file of root's with these bytes.
    pub fn new(path: impl Into<PathBuf>, mode: u32, bytes: &[u8]) -> Self {
        Self { path: path.into(), overwrite: true, mode, contents: Resource::inside(bytes) }
    }
}

impl Unit {
    /// A unit of this name with this text.
    pub fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), enabled: true, contents: text.to_owned() }
    }
}

impl Passwd {
    fn is_empty(&self) -> bool {
        self.users.is_empty()
    }
}

impl Storage {
    fn is_empty(&self) -> bool {
        self.directories.is_empty() && self.files.is_empty()
    }
}

impl Systemd {
    fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}
