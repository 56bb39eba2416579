//! The kernel forwards packets between pods, now and after every boot.

use std::path::Path;

use engine::{About, Step, StepError};
use host::{Change, Cmd, Content, Host};
use spec::ValidatedCluster;

const FILE: &str = "/etc/sysctl.d/90-blackstart.conf";

/// Settings in `/proc/sys` and the file that keeps them.
pub(super) struct KernelSettings {
    settings: Vec<(&'static str, &'static str)>,
}

/// What was found.
pub(super) struct Seen {
    missing: Vec<Change>,
    differing: Vec<&'static str>,
}

impl KernelSettings {
    /// For a cluster of this family of addresses.
    pub(super) fn new(cluster: &ValidatedCluster) -> Self {
        let settings = if cluster.networking().pod_cidr.addr().is_ipv4() {
            vec![("net.ipv4.ip_forward", "1")]
        } else {
            vec![("net.ipv6.conf.all.forwarding", "1")]
        };
        Self { settings }
    }
}

impl Step for KernelSettings {
    type Seen = Seen;

    fn about(&self) -> About {
        About::new(
            "kernel-settings",
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
                let found = host.disk.read_optional(&Path::new("/proc/sys").join(name.replace('.', "/")))?;
                if found.is_none_or(|found| String::from_utf8_lossy(&found).trim() != *value) {
                    differing.push(*name);
                }
            }
        }
        Ok(Seen { missing: Change::missing(vec![file], &*host.disk)?, differing })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        let mut changes = seen.missing.clone();
        if !seen.differing.is_empty() {
            let what = format!("set {}", seen.differing.join(", "));
            changes.push(Change::Act { key: "set".into(), what });
        }
        Ok(changes)
    }

    async fn apply(&self, change: &Change, host: &Host) -> Result<(), StepError> {
        let Change::Act { .. } = change else { return Ok(change.apply(&*host.disk)?) };
        let set = host.commands.run(&Cmd::new("sysctl").args(["--quiet", "--load", FILE])).await;
        set.map(drop).map_err(|error| StepError::from_explained(&error))
    }

    /// What it was before is not known to be better: forwarding is left on until the next boot.
    async fn undo(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}
