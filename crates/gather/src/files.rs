//! Files by pattern, and which of them are never read.

use std::path::{Path, PathBuf};

use host::{Disk, HostError, Kind};

/// Logs and configurations are smaller; of a larger one the end is taken.
const LARGEST: usize = 2 << 20;

/// Names that are secret wherever they stand.
const SECRET_NAMES: &[&str] = &[
    "join-secret",
    "keys-claim",
    "bootstrap-token",
    "worker-join-command",
    "shadow",
    "gshadow",
    "token",
    "kubeconfig",
];

/// Ends of names that are secret: keys, pairs of certificate and key, kubeconfigs.
const SECRET_ENDS: &[&str] = &[".key", ".pem", ".p12", ".pfx", ".kubeconfig"];

/// Directories in which everything is taken for secret: copies of earlier files, mounted Secrets.
const SECRET_DIRS: &[&str] = &["originals", ".kube", ".ssh", "kubernetes.io~secret", "kubernetes.io~projected"];

/// Whether a file is secret by nature: it is never put into an archive, whatever is in it.
pub fn is_secret(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let in_dir = |dir: &str| path.components().any(|part| part.as_os_str() == dir);
    let is_kubeconfig =
        path.extension() == Some("conf".as_ref()) && path.parent().is_some_and(|dir| dir.ends_with("kubernetes"));
    is_kubeconfig
        || name.starts_with("encryption")
        || SECRET_NAMES.contains(&name.as_str())
        || SECRET_ENDS.iter().any(|end| name.ends_with(end))
        || SECRET_DIRS.iter().any(|dir| in_dir(dir))
}

/// The files that fit a pattern, sorted; `*` stands for any part of a name.
pub(crate) fn matching(disk: &dyn Disk, pattern: &str) -> Result<Vec<PathBuf>, HostError> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for dir in found {
            if !part.contains('*') {
                next.push(dir.join(part));
            } else if disk.meta(&dir)?.is_some_and(|meta| meta.kind == Kind::Directory) {
                next.extend(disk.list(&dir)?.iter().filter(|name| fits(name, part)).map(|name| dir.join(name)));
            }
        }
        found = next;
    }
    let mut there = Vec::new();
    for path in found {
        if disk.exists(&path)? {
            there.push(path);
        }
    }
    Ok(there)
}

fn fits(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let (last, middle) = parts.split_last().map_or(("", &[][..]), |(last, middle)| (*last, middle));
    for part in middle {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

/// Reads a file that is not secret. A link is followed only on the machine it belongs to: elsewhere it would lead out.
pub(crate) fn read(disk: &dyn Disk, path: &Path, follow: bool) -> Result<Option<Vec<u8>>, HostError> {
    if is_secret(path) {
        return Ok(None);
    }
    match disk.meta(path)?.map(|meta| meta.kind) {
        Some(Kind::File) => {}
        Some(Kind::Link) if follow && !disk.read_link(path)?.is_some_and(|target| is_secret(&target)) => {}
        _ => return Ok(None),
    }
    Ok(Some(end_of(disk.read(path)?)))
}

/// The end of what is too long, from the beginning of a line.
pub(crate) fn end_of(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() <= LARGEST {
        return bytes;
    }
    let cut = bytes.len() - LARGEST;
    let line = bytes[cut..].iter().position(|byte| *byte == b'\n').map_or(cut, |at| cut + at + 1);
    let mut kept = format!("[the first {line} bytes are left out]\n").into_bytes();
    kept.extend(bytes.drain(line..));
    kept
}

#[cfg(test)]
mod tests {
    use host::RealDisk;

    use super::*;

    #[test]
    fn what_is_secret_by_nature() {
        for (path, secret) in [
            ("/etc/kubernetes/pki/ca.key", true),
            ("/etc/kubernetes/pki/ca.crt", false),
            ("/etc/kubernetes/admin.conf", true),
            ("/etc/kubernetes/encryption.yaml", true),
            ("/etc/kubernetes/audit-policy.yaml", false),
            ("/etc/cluster-config/join-secret", true),
            ("/etc/cluster-config/join.key", true),
            ("/etc/cluster-config/encryption.key", true),
            ("/etc/cluster-config/cluster.yaml", false),
            ("/etc/cluster-config/ca-pin", false),
            ("/var/lib/cluster-state/bootstrap-token", true),
            ("/var/lib/cluster-state/keys-claim", true),
            ("/var/lib/cluster-state/worker-join-command", true),
            ("/var/lib/cluster-state/originals/cluster/hosts/hosts", true),
            ("/var/lib/cluster-state/ledger.json", false),
            ("/var/lib/kubelet/pki/kubelet-client-current.pem", true),
            ("/var/lib/kubelet/config.yaml", false),
            ("/root/.kube/config", true),
            ("/etc/cni/net.d/10-blackstart.conflist", false),
            ("/etc/cni/net.d/calico-kubeconfig.kubeconfig", true),
            ("/etc/systemd/system/kubelet.service.d/10.conf", false),
        ] {
            assert_eq!(is_secret(Path::new(path)), secret, "{path}");
        }
    }

    #[test]
    fn patterns_fit() {
        for (name, pattern, expected) in [
            ("a.yaml", "*.yaml", true),
            ("a.yml", "*.yaml", false),
            ("90-blackstart.conf", "*blackstart*", true),
            ("kube-system_coredns_1", "kube-system_*", true),
            ("default_x", "kube-system_*", false),
            ("abc", "a*b*c", true),
            ("acb", "a*b*c", false),
            ("x", "*", true),
        ] {
            assert_eq!(fits(name, pattern), expected, "{name} {pattern}");
        }
    }

    #[test]
    fn files_are_found_and_links_do_not_lead_out() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("etc/kubernetes");
        std::fs::create_dir_all(&dir).unwrap();
        for name in ["a.yaml", "b.yaml", "encryption.yaml", "admin.conf"] {
            std::fs::write(dir.join(name), "text").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", dir.join("c.yaml")).unwrap();
        let disk = RealDisk::new(root.path());
        let found = matching(&disk, "/etc/kubernetes/*.yaml").unwrap();
        assert_eq!(found.len(), 4);
        let read: Vec<_> = found.iter().filter(|path| read(&disk, path, false).unwrap().is_some()).collect();
        assert_eq!(read, [Path::new("/etc/kubernetes/a.yaml"), Path::new("/etc/kubernetes/b.yaml")]);
        assert!(matching(&disk, "/etc/nothing/*/x*").unwrap().is_empty());
    }

    #[test]
    fn of_what_is_too_long_the_end_is_kept() {
        let long = "0123456789\n".repeat(LARGEST / 10);
        let kept = end_of(long.clone().into_bytes());
        let text = String::from_utf8(kept).unwrap();
        assert!(text.len() < LARGEST + 64 && text.starts_with("[the first ") && text.ends_with("89\n"));
        assert_eq!(text.lines().nth(1), Some("0123456789"));
        assert_eq!(end_of(b"short".to_vec()), b"short");
    }
}
