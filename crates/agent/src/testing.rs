//! What the tests of several duties share.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use host::{Cmd, CommandError, Commands, Host, Printed, Running, SystemClock, disk::model::ModelDisk};
use nodekit::Layout;
use spec::ValidatedCluster;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::Agent;

/// One master and two workers.
pub(crate) fn cluster() -> ValidatedCluster {
    cluster_with("")
}

/// One that strangers may join, and that grows from a bootstrap node.
pub(crate) fn with_bootstrap_node() -> ValidatedCluster {
    let text = "cluster: {name: home, bootstrap: {unlisted_nodes: allow}}\nnodes:\n\
                - {name: master-01, ip: 10.0.0.11, roles: [master]}\n\
                - {name: bootstrap, ip: 10.0.0.9, roles: [bootstrap]}\n";
    spec::check_text(text).cluster.unwrap()
}

/// The same with more settings below `cluster:`.
pub(crate) fn cluster_with(settings: &str) -> ValidatedCluster {
    let text = format!(
        "cluster:
  name: demo
{settings}
nodes:
- {{ name: master-01, ip: 10.0.0.11, roles: [master], hardware: {{ mac_addresses: ['52:54:00:00:00:11'] }} }}
- {{ name: worker-01, ip: 10.0.0.21, roles: [worker], hardware: {{ mac_addresses: ['52:54:00:00:00:21'] }} }}
- {{ name: worker-02, hostname: rack-7, ip: 10.0.0.22, roles: [worker], hardware: {{ mac_addresses: ['52:54:00:00:00:22'] }} }}
"
    );
    let checked = spec::check_text(&text);
    checked.cluster.unwrap_or_else(|| panic!("{:?}", checked.problems))
}

/// An agent on a machine that exists in memory only, with these answers to commands.
pub(crate) fn agent(node: &str, commands: &Arc<Scripted>) -> Agent {
    let cluster = Arc::new(cluster());
    let host = Host {
        disk: Arc::new(ModelDisk::default()),
        clock: Arc::new(SystemClock),
        commands: Arc::clone(commands) as Arc<dyn Commands>,
        ..Host::rooted("/")
    };
    let node = cluster.node(node).unwrap().clone();
    Agent {
        host,
        node,
        cluster,
        paths: Layout::default(),
        ca: crate::Ca::default(),
        cancel: CancellationToken::new(),
        holds: TaskTracker::new(),
    }
}

/// Commands that print what a test says, and remember that they were called. What has no answer fails.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<BTreeMap<String, String>>,
    ran: Mutex<Vec<String>>,
}

impl Scripted {
    pub(crate) fn answer(&self, command: &str, printed: &str) {
        self.answers.lock().unwrap().insert(command.to_owned(), printed.to_owned());
    }

    /// What was run since the last question.
    pub(crate) fn ran(&self) -> Vec<String> {
        std::mem::take(&mut *self.ran.lock().unwrap())
    }
}

impl Commands for Scripted {
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
        Box::pin(async move {
            let command = command.to_string();
            self.ran.lock().unwrap().push(command.clone());
            match self.answers.lock().unwrap().get(&command) {
                Some(printed) => Ok(Printed { stdout: printed.clone(), stderr: String::new() }),
                None => Err(CommandError::Failed { command, status: "exit status: 1".into(), output: "no".into() }),
            }
        })
    }
}
