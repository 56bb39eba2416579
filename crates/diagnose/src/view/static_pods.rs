//! The control plane of a bootstrap node: manifests that its kubelet follows, and the containers that came of them.

use std::path::Path;

use engine::StepId;
use host::Cmd;
use jiff::Timestamp;
use playbooks::cluster::{self, Options, Tenure};
use render::RenderedFile;
use serde::Deserialize;
use spec::Role;

use crate::{Context, Inconclusive, Part};

/// So much of a log is enough for one start and its end.
const LINES: &str = "150";

/// A container that was started again this often, and is up for less than [`STABLE_AFTER`] seconds, is not up for good.
const OFTEN: u32 = 2;
const STABLE_AFTER: i64 = 10;

/// The processes that were started, none on a master or a worker, and none once the masters take over.
#[derive(Default)]
pub(crate) struct StaticPods {
    /// In the order in which they are started.
    pub(crate) all: Vec<StaticPod>,
}

/// One of them.
pub(crate) struct StaticPod {
    /// Of the process and of its container.
    pub(crate) name: &'static str,
    /// As it should be on the disk, behind the files that the process reads.
    pub(crate) files: Vec<RenderedFile>,
    /// What containerd reports of it; `None` where it cannot be asked.
    pub(crate) runs: Option<Runs>,
    /// When its newest container was made, in seconds since 1970.
    pub(crate) made: Option<i64>,
}

/// Whether a container runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Runs {
    /// It does.
    Yes,
    /// It ended, or ends again and again.
    Ends {
        /// Of the container, for its log.
        id: String,
        /// How often it was started again.
        restarts: u32,
    },
    /// There is none.
    No,
}

impl StaticPods {
    /// What is there of this process; `None` where it is no static pod here.
    pub(crate) fn get(&self, name: &str) -> Option<&StaticPod> {
        self.all.iter().find(|pod| pod.name == name)
    }

    /// Whether it is known that a process does not stay up: that is reported with what it logged.
    pub(crate) fn is_failing(&self, name: &str) -> bool {
        self.get(name).is_some_and(|pod| matches!(pod.runs, Some(Runs::Ends { .. } | Runs::No)))
    }
}

impl StaticPod {
    /// What it is a part of.
    pub(crate) fn part(&self) -> Part {
        match self.name {
            "etcd" => Part::Etcd,
            "kube-apiserver" => Part::ApiServer,
            _ => Part::Controllers,
        }
    }

    /// Where the kubelet looks for it.
    pub(crate) fn manifest(&self) -> &Path {
        self.files.last().map_or(Path::new(render::STATIC_PODS), |file| &file.path)
    }
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    containers: Vec<Container>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    id: String,
    metadata: Metadata,
    state: String,
    /// In nanoseconds, as text.
    created_at: String,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    attempt: u32,
}

impl Container {
    fn created(&self) -> i64 {
        self.created_at.parse::<i64>().unwrap_or_default() / 1_000_000_000
    }
}

/// The newest container of a name counts.
fn runs(containers: &[Container], name: &str, now: Timestamp) -> Runs {
    let newest = containers
        .iter()
        .filter(|one| one.metadata.name == name)
        .max_by_key(|one| (one.created(), one.metadata.attempt));
    let Some(one) = newest else { return Runs::No };
    let restarts = one.metadata.attempt;
    let is_new = now.as_second() - one.created() < STABLE_AFTER;
    match one.state.as_str() {
        "CONTAINER_RUNNING" | "CONTAINER_CREATED" if !(is_new && restarts >= OFTEN) => Runs::Yes,
        _ => Runs::Ends { id: one.id.clone(), restarts },
    }
}

impl Context {
    /// What a bootstrap node still is to its cluster; `None` on any other machine.
    pub(crate) fn tenure(&self) -> Result<Option<Tenure>, Inconclusive> {
        if !self.node.has(Role::Bootstrap) {
            return Ok(None);
        }
        Ok(Some(cluster::tenure(&*self.host.disk, &self.layout)?))
    }

    /// The static pods that were started here.
    pub(crate) async fn static_pods(&self) -> Result<&StaticPods, Inconclusive> {
        self.views.static_pods.get_or_try_init(async || self.read_static_pods().await).await
    }

    async fn read_static_pods(&self) -> Result<StaticPods, Inconclusive> {
        if self.tenure()? != Some(Tenure::Holds) {
            return Ok(StaticPods::default());
        }
        let options = Options::read(&self.host).map_err(|error| Inconclusive(explain::chain(&error)))?;
        let containers = self.containers().await;
        let (mut all, now) = (Vec::new(), self.host.clock.now());
        for (step, process) in cluster::static_pods(&self.cluster, &self.node, &options) {
            if self.was_done(step).await? {
                let name = process.name();
                let files = process.files().iter().cloned().chain([process.static_pod(&options.pause_image)]).collect();
                let runs = containers.as_ref().map(|containers| runs(containers, name, now));
                let own = containers.iter().flatten().filter(|one| one.metadata.name == name);
                all.push(StaticPod { name, files, runs, made: own.map(Container::created).max() });
            }
        }
        Ok(StaticPods { all })
    }

    /// A containerd that does not answer is reported elsewhere.
    async fn containers(&self) -> Option<Vec<Container>> {
        let label = "io.kubernetes.pod.namespace=kube-system";
        let shown =
            self.output("crictl", ["--timeout", "4s", "ps", "--all", "--label", label, "--output", "json"]).await;
        serde_json::from_str::<Listed>(&shown.ok()?).ok().map(|listed| listed.containers)
    }

    /// What a container logged lately, the last line first.
    pub(crate) async fn container_log(&self, id: &str) -> Result<String, Inconclusive> {
        let command = Cmd::new("crictl").args(["--timeout", "4s", "logs", "--tail", LINES, id]);
        let printed = self.host.commands.run(&command).await?;
        let lines: Vec<&str> = printed.stdout.lines().chain(printed.stderr.lines()).collect();
        Ok(lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
    }

    /// The newest container of a process that is a static pod here, running or not.
    pub(crate) async fn newest_container(&self, name: &str) -> Option<String> {
        let containers = self.containers().await?;
        let own = containers.into_iter().filter(|one| one.metadata.name == name);
        own.max_by_key(|one| (one.created(), one.metadata.attempt)).map(|one| one.id)
    }

    /// Whether one of these steps was ever done.
    pub(crate) async fn was_any_done(&self, steps: &[StepId]) -> Result<bool, Inconclusive> {
        for step in steps {
            if self.was_done(*step).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a process of the control plane does not stay up, as a unit or as a static pod.
    pub(crate) async fn is_failing(&self, process: &str) -> Result<bool, Inconclusive> {
        let as_unit = self.units().await?.is_failing(&format!("{process}.service"));
        Ok(as_unit || self.static_pods().await?.is_failing(process))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_container_of_a_name_counts() {
        let now: Timestamp = "2026-11-18T12:00:30Z".parse().unwrap();
        let container = |name: &str, state: &str, attempt: u32, age: i64| {
            let created = (now.as_second() - age) * 1_000_000_000;
            format!(
                r#"{{"id":"c{attempt}","metadata":{{"name":"{name}","attempt":{attempt}}},"state":"CONTAINER_{state}","createdAt":"{created}"}}"#
            )
        };
        let ends = |restarts: u32| Runs::Ends { id: format!("c{restarts}"), restarts };
        for (containers, expected) in [
            (vec![], Runs::No),
            (vec![container("kube-apiserver", "RUNNING", 0, 60)], Runs::No),
            (vec![container("etcd", "RUNNING", 0, 2)], Runs::Yes),
            (vec![container("etcd", "RUNNING", 1, 2), container("etcd", "EXITED", 0, 30)], Runs::Yes),
            (vec![container("etcd", "RUNNING", 3, 2)], ends(3)),
            (vec![container("etcd", "RUNNING", 3, 20)], Runs::Yes),
            (vec![container("etcd", "EXITED", 1, 20), container("etcd", "EXITED", 0, 40)], ends(1)),
        ] {
            let text = format!(r#"{{"containers":[{}]}}"#, containers.join(","));
            let listed: Listed = serde_json::from_str(&text).unwrap();
            assert_eq!(runs(&listed.containers, "etcd", now), expected, "{text}");
        }
    }
}
