//! The certificates of a node and what is wrong with them, whichever role it has.

use std::path::{Path, PathBuf};

use host::{Disk, HostError};
use jiff::Timestamp;
use pki::{Existing, Fault, Flaw, Input};
use spec::ports;

/// Where kubelets keep the certificates that they renew themselves.
const KUBELET: [(&str, &str); 2] = [
    ("kubelet-client", "/var/lib/kubelet/pki/kubelet-client-current.pem"),
    ("kubelet-server", "/var/lib/kubelet/pki/kubelet-server-current.pem"),
];

/// What a worker was handed when it joined.
const HANDED_OUT: [&str; 3] = ["kubelet.conf", "kube-proxy.conf", "agent.conf"];

/// The cluster's CA.
const CA: &str = "pki/ca.crt";

/// What is wrong with the certificates here.
pub(crate) struct Certificates {
    /// One entry per file.
    pub(crate) faults: Vec<Fault>,
}

impl Certificates {
    /// On a master: the whole table, and what its kubelet keeps.
    pub(crate) fn of_master(disk: &dyn Disk, root: &Path, input: &Input, now: Timestamp) -> Result<Self, HostError> {
        let mut faults = pki::faults(&Existing::read(disk, root)?, input, now);
        let ca = disk.read_optional(&root.join(CA))?;
        let of_kubelet = of_kubelet(disk, &ca.unwrap_or_default(), now)?;
        let is_reported = faults.iter().any(|fault| fault.name == "ca");
        faults.extend(
            of_kubelet.into_iter().filter_map(Checked::fault).filter(|fault| !(is_reported && is_foreign(fault))),
        );
        Ok(Self { faults })
    }

    /// On a worker: what it was handed when it joined, and what its kubelet keeps.
    pub(crate) fn of_worker(disk: &dyn Disk, root: &Path, now: Timestamp) -> Result<Self, HostError> {
        let path = root.join(CA);
        let Some(ca) = disk.read_optional(&path)? else {
            return Ok(Self { faults: vec![Fault { name: "ca", path, flaw: Flaw::Missing }] });
        };
        let server = format!("https://127.0.0.1:{}", ports::API_BALANCER);
        let mut checked = of_kubelet(disk, &ca, now)?;
        for name in HANDED_OUT {
            let path = root.join(name);
            let flaw = match disk.read_optional(&path)? {
                None => Some(Flaw::Missing),
                Some(file) => pki::kubeconfig_flaw(&file, &ca, &server, now),
            };
            checked.push(Checked { name, path, flaw });
        }
        let count = checked.len();
        let mut faults: Vec<Fault> = checked.into_iter().filter_map(Checked::fault).collect();
        // Where nothing fits the CA, it is the CA that was exchanged: one fault, not as many as there are files.
        if faults.iter().filter(|fault| is_foreign(fault)).count() == count {
            faults = vec![Fault { name: "ca", path, flaw: Flaw::Exchanged }];
        }
        Ok(Self { faults })
    }
}

/// A file that was looked at.
struct Checked {
    name: &'static str,
    path: PathBuf,
    flaw: Option<Flaw>,
}

impl Checked {
    fn fault(self) -> Option<Fault> {
        let Self { name, path, flaw } = self;
        flaw.map(|flaw| Fault { name, path, flaw })
    }
}

/// What is not there yet the kubelet asks for by itself.
fn of_kubelet(disk: &dyn Disk, ca: &[u8], now: Timestamp) -> Result<Vec<Checked>, HostError> {
    let mut checked = Vec::new();
    for (name, path) in KUBELET {
        let Some(file) = disk.read_optional(Path::new(path))? else { continue };
        checked.push(Checked { name, path: path.into(), flaw: pki::certificate_flaw(&file, ca, now) });
    }
    Ok(checked)
}

fn is_foreign(fault: &Fault) -> bool {
    matches!(fault.flaw, Flaw::Foreign { .. } | Flaw::OtherCa)
}

#[cfg(test)]
mod tests {
    use host::{Change, Content, disk::model::ModelDisk};
    use pki::Shared;

    use super::*;
    use crate::testing::cluster;

    const ROOT: &str = "/etc/kubernetes";

    fn now() -> Timestamp {
        "2031-05-01T12:00:00Z".parse().unwrap()
    }

    fn input() -> Input {
        let cluster = cluster();
        Input::new(&cluster, cluster.masters().next().unwrap(), Shared::Make)
    }

    fn write(disk: &ModelDisk, path: &str, content: Vec<u8>) {
        let content = Content::Secret(content);
        Change::File { path: path.into(), mode: 0o600, content }.apply(disk).unwrap();
    }

    /// A master's disk.
    fn master() -> ModelDisk {
        let disk = ModelDisk::default();
        let existing = Existing::read(&disk, Path::new(ROOT)).unwrap();
        for change in pki::plan(&existing, &input(), now()).unwrap() {
            change.apply(&disk).unwrap();
        }
        disk
    }

    /// A disk with what a worker is handed; who the certificates are made out to does not matter here.
    fn worker() -> ModelDisk {
        let (master, disk) = (master(), ModelDisk::default());
        let file = |path: &str| master.read(&Path::new(ROOT).join(path)).unwrap();
        write(&disk, "/etc/kubernetes/pki/ca.crt", file("pki/ca.crt"));
        for name in HANDED_OUT {
            write(&disk, &format!("{ROOT}/{name}"), file("kube-proxy.conf"));
        }
        write(&disk, KUBELET[0].1, [file("pki/apiserver.crt"), file("pki/apiserver.key")].concat());
        disk
    }

    fn reported(certificates: Result<Certificates, HostError>) -> Vec<(&'static str, Flaw)> {
        certificates.unwrap().faults.into_iter().map(|fault| (fault.name, fault.flaw)).collect()
    }

    #[test]
    fn a_worker_is_evaluated_by_what_it_was_handed() {
        let disk = worker();
        let of_worker = || reported(Certificates::of_worker(&disk, Path::new(ROOT), now()));
        assert_eq!(of_worker(), []);
        Change::Remove { path: "/etc/kubernetes/agent.conf".into() }.apply(&disk).unwrap();
        assert_eq!(of_worker(), [("agent.conf", Flaw::Missing)]);
        write(&disk, "/etc/kubernetes/kubelet.conf", b"nonsense".to_vec());
        assert_eq!(of_worker()[0], ("kubelet.conf", Flaw::Unreadable { why: "it is no kubeconfig" }));
        Change::Remove { path: "/etc/kubernetes/pki/ca.crt".into() }.apply(&disk).unwrap();
        assert_eq!(of_worker(), [("ca", Flaw::Missing)]);
    }

    #[test]
    fn an_exchanged_ca_is_one_fault() {
        let (disk, other) = (worker(), master());
        write(&disk, "/etc/kubernetes/pki/ca.crt", other.read(Path::new("/etc/kubernetes/pki/ca.crt")).unwrap());
        assert_eq!(reported(Certificates::of_worker(&disk, Path::new(ROOT), now())), [("ca", Flaw::Exchanged)]);

        let disk = master();
        let of_master = || reported(Certificates::of_master(&disk, Path::new(ROOT), &input(), now()));
        assert_eq!(of_master(), []);
        let pair =
            ["pki/apiserver.crt", "pki/apiserver.key"].map(|name| disk.read(&Path::new(ROOT).join(name)).unwrap());
        write(&disk, KUBELET[1].1, pair.concat());
        write(&disk, "/etc/kubernetes/pki/ca.crt", other.read(Path::new("/etc/kubernetes/pki/ca.crt")).unwrap());
        assert_eq!(of_master(), [("ca", Flaw::KeyMismatch)]);
    }
}
