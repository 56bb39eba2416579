//! Our units as systemd sees them, all asked for at once.

use std::{collections::BTreeMap, time::Duration};

use host::Host;
use nodekit::systemd::{self, Unit};
use render::units::NAMES;

use crate::{Inconclusive, Part};

/// What a unit of ours is a part of.
pub(crate) fn part(unit: &Unit) -> Part {
    match unit.name.as_str() {
        "containerd.service" => Part::Containerd,
        "etcd.service" => Part::Etcd,
        "kube-apiserver.service" => Part::ApiServer,
        "kube-controller-manager.service" | "kube-scheduler.service" => Part::Controllers,
        "kubelet.service" => Part::Kubelet,
        "kube-proxy.service" => Part::KubeProxy,
        "blackstart-agent.service" => Part::Agent,
        _ => Part::Workloads,
    }
}

/// All units of ours, by name, and for how long the machine is up.
pub(crate) struct Units {
    /// By name.
    pub(crate) all: BTreeMap<String, Unit>,
    /// Since the machine's boot.
    pub(crate) uptime: Duration,
}

impl Units {
    pub(crate) async fn read(host: &Host) -> Result<Self, Inconclusive> {
        let shown = host.commands.run(&systemd::show(NAMES)).await?.stdout;
        let uptime = systemd::uptime(&*host.disk)?.unwrap_or_default();
        Ok(Self { all: systemd::parse(&shown).into_iter().map(|unit| (unit.name.clone(), unit)).collect(), uptime })
    }

    /// A unit of ours; one that systemd did not report is like one it has no file for.
    pub(crate) fn get(&self, name: &str) -> Unit {
        let unknown = || Unit { name: name.to_owned(), load: "not-found".to_owned(), ..Unit::default() };
        self.all.get(name).cloned().unwrap_or_else(unknown)
    }

    /// Whether a unit ends again and again.
    pub(crate) fn is_failing(&self, name: &str) -> bool {
        self.get(name).is_crash_looping(self.uptime)
    }
}
