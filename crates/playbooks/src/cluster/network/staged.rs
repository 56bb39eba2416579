//! NetworkManager's files: tried out in `/run`, which a restart empties, and kept in `/etc`.

use std::path::{Path, PathBuf};

use host::{Change, Content, Disk, HostError};
use render::RenderedFile;
use spec::{Mac, Node, ValidatedCluster};

/// By this NetworkManager knows that the profile in `/run` and the one in `/etc` are the same. Each machine has one.
pub(super) const UUID: &str = "b1ac57a2-7000-4000-8000-000000000001";

const KEPT: &str = "/etc";
const TRIAL: &str = "/run";
const CONNECTION: &str = "NetworkManager/system-connections/blackstart.nmconnection";
const SETTINGS: &str = "NetworkManager/conf.d/blackstart.conf";

/// A file of NetworkManager, at both of its places.
pub(super) struct Staged {
    kept: PathBuf,
    pub(super) trial: PathBuf,
    mode: u32,
    text: String,
}

impl Staged {
    /// Our connection, on the interface with this address.
    pub(super) fn connection(cluster: &ValidatedCluster, node: &Node, mac: Mac) -> Self {
        let RenderedFile { mode, text, .. } = render::network::connection(cluster, node, mac);
        Self::at(CONNECTION, mode, identified(&text))
    }

    /// What NetworkManager leaves alone.
    pub(super) fn settings() -> Self {
        let RenderedFile { mode, text, .. } = render::network::unmanaged();
        Self::at(SETTINGS, mode, text)
    }

    fn at(name: &str, mode: u32, text: String) -> Self {
        Self { kept: Path::new(KEPT).join(name), trial: Path::new(TRIAL).join(name), mode, text }
    }

    /// The file in `/etc`.
    pub(super) fn kept(&self) -> Change {
        self.file(&self.kept)
    }

    /// The file in `/run`.
    pub(super) fn on_trial(&self) -> Change {
        self.file(&self.trial)
    }

    fn file(&self, path: &Path) -> Change {
        Change::File { path: path.to_path_buf(), mode: self.mode, content: Content::Plain(self.text.clone().into()) }
    }
}

/// Where files on trial are.
pub(super) fn trials() -> [PathBuf; 2] {
    [CONNECTION, SETTINGS].map(|name| Path::new(TRIAL).join(name))
}

/// Without a `uuid` NetworkManager makes one from the file's path, and there would be two profiles.
fn identified(keyfile: &str) -> String {
    keyfile.replacen("[connection]\n", &format!("[connection]\nuuid={UUID}\n"), 1)
}

/// Settings are tried out in a directory that NetworkManager knows and does not make.
pub(super) fn remove_trial_directory(disk: &dyn Disk) -> Result<(), HostError> {
    match Path::new(TRIAL).join(SETTINGS).parent() {
        Some(dir) => host::remove_dir_if_empty(disk, dir),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_are_those_that_rendering_knows() {
        assert_eq!(render::network::unmanaged().path, Staged::settings().kept);
        assert_eq!(trials()[1], Staged::settings().trial);
    }

    #[test]
    fn a_profile_is_known_by_its_uuid() {
        let text = identified("[connection]\nid=blackstart\n\n[ipv4]\n");
        assert_eq!(text, format!("[connection]\nuuid={UUID}\nid=blackstart\n\n[ipv4]\n"));
    }
}
