//! The kernel forwards packets between pods, now and after every boot.

use engine::{About, Act, Planned, Step, StepError, Undo};
use host::{Change, Content, Host};
use spec::ValidatedCluster;

use super::ids;
use nodekit::cleanup::settings;

const FILE: &str = "/etc/sysctl.d/90-blackstart.conf";

/// Settings in `/proc/sys` and the file that keeps them.
pub(super) struct KernelSettings {
    settings: Vec<(&'static str, &'static str)>,
}

/// What was found.
pub(super) struct Seen {
    missing: Vec<Change>,
    /// Each with its value now, which a reset puts back.
    differing: Vec<(&'static str, &'static str, String)>,
}

impl KernelSettings {
    /// For a cluster of this family of addresses.
    pub(super) fn new(cluster: &ValidatedCluster) -> Self {
        Self { settings: kernel_settings(cluster) }
    }
}

/// The settings below `/proc/sys` that a node of this cluster needs, with their values.
pub fn kernel_settings(cluster: &ValidatedCluster) -> Vec<(&'static str, &'static str)> {
    if cluster.networking().pod_cidr.addr().is_ipv4() {
        vec![("net.ipv4.ip_forward", "1")]
    } else {
        vec![("net.ipv6.conf.all.forwarding", "1")]
    }
}

impl Step for KernelSettings {
    type Seen = Seen;
    type Undo = Set;

    fn about(&self) -> About {
        About::new(
            ids::KERNEL_SETTINGS,
            "Let the kernel forward packets",
            "pods on different nodes reach each other by it",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let text: String = self.settings.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
        let file = Change::File { path: FILE.into(), mode: 0o644, content: Content::Plain(text.into_bytes()) };
        let mut differing = Vec::new();
        if host.is_live {
            for (name, value) in &self.settings {
                let found = settings::read(&*host.disk, name)?.unwrap_or_default();
                if found != *value {
                    differing.push((*name, *value, found));
                }
            }
        }
        Ok(Seen { missing: Change::missing(vec![file], &*host.disk)?, differing })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let set = seen
            .differing
            .iter()
            .map(|(name, value, old)| Planned::act(settings::key(name, old), format!("set {name} to {value}")));
        Ok(Planned::files(&seen.missing).into_iter().chain(set).collect())
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        for (name, value) in self.settings.iter().filter(|(name, _)| settings::is_of(key, name)) {
            settings::set(host, name, value).await?;
        }
        Ok(())
    }
}

/// How the kernel gets its old settings back.
pub(super) struct Set;

impl Undo for Set {
    fn shows_act(&self, key: &str) -> Option<String> {
        Some(format!("undo {key}"))
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        settings::restore(host, key).await
    }
}
