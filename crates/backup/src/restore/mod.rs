//! The way back: from a verified backup, or a snapshot alone, to a master that can be started.
//!
//! ```text
//! cluster()      the configuration in the backup, checked like any other
//! Plan           its files against those on the machine: write, leave alone, or in the way
//! Staging        etcd's data, made beside the old by `etcdutl`; activate() exchanges them
//! ```
//! The order is what makes a crash harmless: the new data is complete and synced before the first file is written, and
//! the exchange comes last. Until then, the same command can be given again.
//!
//! etcd comes back as one member, whatever it was before: the others join it again with empty disks. Its revisions go on far
//! above those that any client has seen, and all watches have to start over: a kubelet that has lived through the
//! restore must not take an old object for a newer one.

mod plan;
mod staging;

use spec::{Severity, Sources, ValidatedCluster};

pub use plan::Plan;
pub use staging::{Activated, SoleMember, Staging, check_snapshot};

use crate::{BackupError, Contents, Directory};

/// The cluster that a backup describes.
pub fn cluster(contents: &Contents) -> Result<ValidatedCluster, BackupError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let files = contents.of(Directory::Config);
    let description = files.get(std::path::Path::new("cluster.yaml")).copied().unwrap_or_default();
    let nodes = files.iter().filter(|(path, _)| path.starts_with("nodes"));
    let sources = nodes.fold(Sources::cluster(text(description)), |sources, (path, bytes)| {
        sources.with_node(path.display().to_string(), text(bytes))
    });
    let checked = spec::check(&sources);
    checked.cluster.ok_or_else(|| {
        let errors = || checked.problems.iter().filter(|problem| problem.severity == Severity::Error);
        let first = errors().next().map(|problem| format!("{}: {}", problem.file, problem.diagnostic.message));
        BackupError::BadConfiguration { count: errors().count(), first: first.unwrap_or_default() }
    })
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;
    use crate::codes;

    const GOOD: &str = "cluster: {name: demo}\nnodes:\n- {name: a, ip: 10.0.0.11, roles: [master], \
                        hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n";

    fn with(text: &str) -> Contents {
        Contents { files: [("config/cluster.yaml".to_owned(), text.into())].into() }
    }

    #[test]
    fn the_configuration_is_checked_like_any_other() {
        assert_eq!(cluster(&with(GOOD)).unwrap().name(), "demo");
        for text in ["", "cluster: {name: demo}\n", "no yaml: ["] {
            assert_eq!(cluster(&with(text)).unwrap_err().code(), codes::BAD_CONFIGURATION, "{text}");
        }
    }
}
