//! How a service is undone: it is stopped, and what it has made while it ran is removed.

use std::path::Path;

use engine::{Notes, StepError, Undo};
use host::Host;

use nodekit::cleanup::{chains, containers, groups, mounts, nft, routes};
pub(crate) use nodekit::systemd::stop;

/// The file by which the agent configures the network in containerd. It is removed by name: another add-on has its own.
const CNI_FILE: &str = "/etc/cni/net.d/10-blackstart.conflist";
/// What the agent marks its routes with.
const PROTOCOL: &str = "176";

/// A service that was started, or was found running.
pub(crate) struct Started {
    /// Its unit, after those that cannot do without it.
    pub(crate) units: &'static [&'static str],
}

impl Undo for Started {
    const ONLY_LIVE: bool = true;

    fn shows(&self) -> Vec<String> {
        self.units.iter().flat_map(|unit| shows(unit)).collect()
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        for unit in self.units {
            clear(host, unit).await?;
        }
        Ok(Notes::new())
    }

    /// Whatever it is called, it was started, and it has been stopped.
    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}

/// What [`clear`] does, for a dry run.
pub(crate) fn shows(unit: &str) -> Vec<String> {
    let more: &[&str] = match unit {
        "kubelet.service" => {
            &["end all pods, with their mounts and control groups", "remove the kubelet's iptables chains"]
        }
        "kube-proxy.service" => &["delete the nft tables of kube-proxy"],
        "blackstart-agent.service" => {
            &["delete the nft tables of blackstart", "remove the routes to other nodes' pods"]
        }
        _ => &[],
    };
    [format!("stop {unit}")].into_iter().chain(more.iter().map(|line| (*line).to_owned())).collect()
}

/// Stops a unit, and removes what it has made that is no file in the ledger.
pub(crate) async fn clear(host: &Host, unit: &str) -> Result<(), StepError> {
    stop(host, unit).await?;
    match unit {
        "kubelet.service" => {
            containers::end(host).await?;
            mounts::unmount_below(host, Path::new("/var/lib/kubelet")).await?;
            groups::remove(host).await?;
            chains::remove(host).await
        }
        "containerd.service" => containers::end(host).await,
        "kube-proxy.service" => nft::delete(host, &[("ip", "kube-proxy"), ("ip6", "kube-proxy")]).await,
        "blackstart-agent.service" => {
            let tables = [
                ("ip", "blackstart"),
                ("ip6", "blackstart"),
                ("inet", "blackstart-hold"),
                ("inet", "blackstart-shield"),
            ];
            nft::delete(host, &tables).await?;
            routes::remove(host, PROTOCOL).await?;
            Ok(host::remove_file(&*host.disk, Path::new(CNI_FILE))?)
        }
        _ => Ok(()),
    }
}
