//! Which distribution a machine has.

use std::path::Path;

use host::{Disk, HostError};

/// `/etc/os-release`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Os {
    pub(super) id: String,
    pub(super) like: Vec<String>,
    pub(super) pretty: String,
    pub(super) codename: String,
}

impl Os {
    pub(super) fn read(disk: &dyn Disk) -> Result<Self, HostError> {
        Ok(Self::parse(&text(disk, "/etc/os-release")?))
    }

    fn parse(text: &str) -> Self {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
        };
        let pretty = Some(value("PRETTY_NAME")).filter(|name| !name.is_empty()).unwrap_or_else(|| value("ID"));
        Self {
            id: value("ID"),
            like: value("ID_LIKE").split_whitespace().map(str::to_owned).collect(),
            pretty,
            codename: value("VERSION_CODENAME"),
        }
    }

    /// Whether it is this distribution, or made from it.
    pub(super) fn is_like(&self, id: &str) -> bool {
        self.id == id || self.like.iter().any(|like| like == id)
    }
}

/// A file's text; empty where there is none.
pub(super) fn text(disk: &dyn Disk, path: &str) -> Result<String, HostError> {
    let bytes = disk.read_optional(Path::new(path))?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_known_by_its_file() {
        let ubuntu =
            "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nVERSION_CODENAME=noble\n";
        let os = Os::parse(ubuntu);
        assert_eq!((os.pretty.as_str(), os.codename.as_str()), ("Ubuntu 24.04.1 LTS", "noble"));
        assert!(os.is_like("ubuntu") && os.is_like("debian") && !os.is_like("fedora"));
    }
}
