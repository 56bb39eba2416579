//! What this machine shows to masters that report little to strangers: what it has got, or what it was sealed with.

use host::Disk;
use jiff::Timestamp;
use join::seal::Sealed;
use secrecy::SecretString;

use nodekit::{Layout, kubeconfig::Identity};

/// A master's, a worker's.
const KUBECONFIGS: [&str; 2] = ["super-admin.conf", "agent.conf"];

/// Certificate and key (PEM) of this machine towards the masters, the first that is good now. What cannot be read, or is not
/// good any more, is passed over: a stranger at least gets an answer.
pub fn shown(disk: &dyn Disk, layout: &Layout, now: Timestamp) -> Option<(String, SecretString)> {
    let joined = KUBECONFIGS.iter().find_map(|name| {
        let text = disk.read_optional(&layout.kubernetes_dir.join(name)).ok()??;
        let Identity { certificate, key, ca } = Identity::read(&String::from_utf8_lossy(&text)).ok()?;
        let is_good = pki::certificate_flaw(format!("{certificate}{key}").as_bytes(), ca.as_bytes(), now).is_none();
        is_good.then(|| (certificate, key.into()))
    });
    joined.or_else(|| Sealed::shown(disk, &layout.config_dir, now).ok().flatten())
}

#[cfg(test)]
mod tests {
    use host::{Change, Disk, RealDisk};
    use pki::{Existing, Input, Shared};

    use super::*;

    #[test]
    fn what_it_has_got_is_shown_while_it_is_good() {
        let dir = tempfile::tempdir().unwrap();
        let (disk, layout) = (RealDisk::new(dir.path()), Layout::default());
        let now = Timestamp::now();
        assert!(shown(&disk, &layout, now).is_none(), "it has nothing yet");
        let text = "cluster: {name: demo}\nnodes:\n- {name: a, ip: 192.168.1.11, roles: [master], \
                    hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n";
        let cluster = spec::check_text(text).cluster.unwrap();
        let input = Input::new(&cluster, cluster.node("a").unwrap(), Shared::Make);
        let changes: Vec<Change> =
            pki::plan(&Existing::read(&disk, &layout.kubernetes_dir).unwrap(), &input, now).unwrap();
        for change in &changes {
            change.apply(&disk).unwrap();
        }
        let (certificate, _) = shown(&disk, &layout, now).expect("what it signed for itself");
        let conf = String::from_utf8(disk.read(&layout.kubernetes_dir.join("super-admin.conf")).unwrap()).unwrap();
        assert_eq!(certificate, Identity::read(&conf).unwrap().certificate);
        let later = now + jiff::SignedDuration::from_hours(24 * 365 * 20);
        assert!(shown(&disk, &layout, later).is_none(), "what has ended is not shown");
    }
}
