//! Machines are switched on in any order: a worker whose master is not there waits, says for whom, and joins later.

use nodekit::run_record::Outcome;

use crate::{
    support::{Check, Cluster, eventually},
    watch,
};

pub(crate) const CHECKS: &[Check] = &[
    ("a worker without a master says for whom it waits and since when", waits),
    watch::WITHOUT_A_MASTER,
    ("it joins when the master appears, and nothing had to be restarted", joins),
];

const WORKER: &str = "worker-02";

fn waits(cluster: &Cluster) {
    let output = cluster.install(&cluster.sealed_dir(WORKER), WORKER);
    assert!(output.contains("installed and started"), "{output}");
    let message = || cluster.last_up(WORKER).map(|run| run.message()).unwrap_or_default();
    let whom = format!("the master at {}:7444 to answer (since ", cluster.ip("master-01"));
    eventually("the worker says for whom it waits", || message().contains(&whom));
    let run = cluster.last_up(WORKER).unwrap();
    assert_eq!(run.outcome, Outcome::Working, "{run:#?}");
    let since = message().split_once(&whom).unwrap().1.split_once("Z:").unwrap().0.to_owned();
    let age = cluster.sh(WORKER, &format!("expr $(date +%s) - $(date -d {since}Z +%s) || true"));
    assert!((0..3600).contains(&age.parse::<i64>().unwrap()), "{run:#?}");
    let journal = cluster.journal(WORKER, "cluster-bootstrap");
    assert!(journal.contains(&whom), "{journal}");
}

fn joins(cluster: &Cluster) {
    let run = || cluster.sh(WORKER, "systemctl show -p InvocationID,NRestarts cluster-bootstrap");
    let before = run();
    cluster.install(&cluster.sealed_dir("master-01"), "master-01");
    eventually("the worker has joined", || cluster.is_up(WORKER));
    assert_eq!(run(), before, "it is the same run as before");
    eventually("the master is done", || cluster.is_up("master-01"));
    cluster.await_ready(&["master-01", WORKER]);
    assert_eq!(cluster.sh(WORKER, "cat /var/lib/cluster-state/bootstrap-state"), "joined");
    assert!(cluster.sh(WORKER, "systemctl show -p NRestarts cluster-bootstrap").ends_with("=0"));
}
