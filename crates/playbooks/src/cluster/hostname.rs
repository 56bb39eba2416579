//! The machine's name, and the names of all nodes in `/etc/hosts`, so that no node needs a name server to find another.

use std::path::Path;

use engine::{About, Act, Planned, Step, StepError, Undo};
use host::{Change, Cmd, Content, Host};
use spec::{Node, ValidatedCluster};

use super::ids;
use crate::codes;

const HOSTNAME: &str = "/etc/hostname";
const HOSTS: &str = "/etc/hosts";
const LIVE: &str = "/proc/sys/kernel/hostname";
/// What the old name begins with in the ledger.
const NAMED: &str = "the name ";

/// Names the machine.
pub(super) struct HostName {
    cluster: ValidatedCluster,
    node: Node,
}

/// What is not as it should be.
pub(super) struct Seen {
    /// Its name now, where that is another one; `None` for an image, too.
    other_name: Option<String>,
    files: Vec<Change>,
}

impl HostName {
    /// For this node.
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node) -> Self {
        Self { cluster: cluster.clone(), node: node.clone() }
    }

    fn wanted(&self, hosts: &str) -> Vec<Change> {
        let file = |path: &str, text: String| Change::File {
            path: path.into(),
            mode: 0o644,
            content: Content::Plain(text.into_bytes()),
        };
        vec![
            file(HOSTNAME, format!("{}\n", self.node.hostname)),
            file(HOSTS, render::network::hosts(&self.cluster, &self.node, hosts)),
        ]
    }
}

impl Step for HostName {
    type Seen = Seen;
    type Undo = Renamed;

    fn about(&self) -> About {
        About::new(ids::HOST_NAME, "Set the host name", "nodes and people call this machine by its name")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let hosts = host.disk.read_optional(Path::new(HOSTS))?.unwrap_or_default();
        let files = Change::missing(self.wanted(&String::from_utf8_lossy(&hosts)), &*host.disk)?;
        if !host.is_live {
            return Ok(Seen { other_name: None, files });
        }
        let live = host.disk.read(Path::new(LIVE))?;
        let live = String::from_utf8_lossy(&live).trim().to_owned();
        Ok(Seen { other_name: Some(live).filter(|name| *name != self.node.hostname), files })
    }

    /// The name before the file: undone in reverse, the file is the old one when the machine is named after it.
    fn plan(&self, Seen { other_name, files }: &Seen) -> Result<Vec<Planned>, StepError> {
        let rename = other_name.iter().map(|old| {
            Planned::act(format!("{NAMED}{old}"), format!("rename the machine from {old} to {}", self.node.hostname))
        });
        Ok(rename.chain(Planned::files(files)).collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        rename(host, &self.node.hostname).await
    }
}

/// How a machine gets its old name back. The file is the old one by then, so only the running name is to be set.
pub(super) struct Renamed;

impl Undo for Renamed {
    const ONLY_LIVE: bool = true;

    fn shows_act(&self, key: &str) -> Option<String> {
        Some(format!("undo {key}"))
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        match key.strip_prefix(NAMED) {
            Some(old) => call(host, Cmd::new("hostnamectl").args(["--transient", "set-hostname", old]), old).await,
            _ => Ok(()),
        }
    }
}

/// Also writes the file, as it would for a person who calls it.
async fn rename(host: &Host, name: &str) -> Result<(), StepError> {
    call(host, Cmd::new("hostnamectl").args(["set-hostname", name]), name).await
}

async fn call(host: &Host, command: Cmd, name: &str) -> Result<(), StepError> {
    let renamed = host.commands.run(&command).await;
    renamed.map(drop).map_err(|error| {
        StepError::new(codes::HOST_NAME, format!("cannot name the machine `{name}`")).with_source(error).retryable()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> HostName {
        let text = "cluster: { name: home }\n\
                    nodes: [{ name: master-01, hostname: alpha, ip: 192.168.1.10, roles: [master] }, \
                    { name: worker-01, ip: 192.168.1.11, roles: [worker] }]";
        let cluster = spec::check_text(text).cluster.unwrap();
        HostName::new(&cluster, &cluster.nodes()[0])
    }

    #[tokio::test]
    async fn an_image_gets_its_files_once() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("etc")).unwrap();
        std::fs::write(root.path().join("etc/hosts"), "127.0.0.1 localhost\n127.0.1.1 alpha\n").unwrap();
        let host = Host::rooted(root.path());
        let step = step();
        let seen = step.observe(&host).await.unwrap();
        for change in step.plan(&seen).unwrap() {
            step.apply(&change, &host).await.unwrap();
        }
        assert!(step.plan(&step.observe(&host).await.unwrap()).unwrap().is_empty());
        let read = |name: &str| std::fs::read_to_string(root.path().join("etc").join(name)).unwrap();
        assert_eq!(read("hostname"), "alpha\n");
        insta::assert_snapshot!(read("hosts"));
    }

    #[test]
    fn a_machine_that_runs_is_renamed_first() {
        let seen = Seen { other_name: Some("localhost".to_owned()), files: step().wanted("") };
        let plan: Vec<String> = step().plan(&seen).unwrap().iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(plan.join("\n"));
    }
}
