//! A client that reads and writes the API from a worker, all the time, and notes what was answered.

use std::collections::BTreeSet;

use crate::{
    MASTERS, WORKER,
    support::{Cluster, eventually},
};

const SCRIPT: &str = include_str!("caller.sh");
const DIR: &str = "/tmp/caller";

/// A caller at work; it works until [`Caller::end`].
pub(crate) struct Caller<'a> {
    cluster: &'a Cluster,
}

impl<'a> Caller<'a> {
    /// Begins, and returns when the first write was acknowledged.
    pub(crate) fn begin(cluster: &'a Cluster) -> Self {
        Self::begin_as(cluster, MASTERS[0])
    }

    /// The same, with the rights that this machine has.
    pub(crate) fn begin_as(cluster: &'a Cluster, master: &str) -> Self {
        let conf =
            cluster.sh(master, "sed 's#server: .*#server: https://127.0.0.1:7443#' /etc/kubernetes/super-admin.conf");
        let put = |path: &str, text: &str| {
            cluster
                .lab
                .feed("exec", &[WORKER, "--", "sh", "-c", &format!("umask 77; cat >{path}")], text.as_bytes())
                .ok();
        };
        put("/root/caller.conf", &conf);
        put("/root/caller.sh", SCRIPT);
        cluster.sh(WORKER, &format!("rm -rf {DIR}; setsid sh /root/caller.sh {DIR} </dev/null >/dev/null 2>&1 &"));
        let caller = Self { cluster };
        eventually("the first write is acknowledged", || caller.acknowledged() > 0);
        caller
    }

    /// The one that another check has begun.
    pub(crate) fn at_work(cluster: &'a Cluster) -> Self {
        Self { cluster }
    }

    /// How many writes were acknowledged so far.
    pub(crate) fn acknowledged(&self) -> usize {
        self.cluster.sh(WORKER, &format!("cat {DIR}/log 2>/dev/null | grep -c ' 201 ' || true")).parse().unwrap()
    }

    /// How many reads were answered so far.
    pub(crate) fn read(&self) -> usize {
        self.cluster.sh(WORKER, &format!("grep -c ' 200 ' {DIR}/reads || true")).parse().unwrap()
    }

    /// The calls that were not answered as they should be, as the logs have them.
    pub(crate) fn refused(&self) -> Vec<String> {
        let log = self.cluster.sh(WORKER, &format!("grep -v ' 201 ' {DIR}/log; grep -v ' 200 ' {DIR}/reads; true"));
        log.lines().map(str::to_owned).collect()
    }

    /// Waits until writes go through again, and returns the longest time without one since `mark` writes were made.
    pub(crate) fn goes_on(&self, mark: usize) -> String {
        eventually("writes go through", || self.acknowledged() > mark + 10);
        let longest = format!(
            "grep ' 201 ' {DIR}/log | tail -n +{mark} | awk 'last && $1-last > max {{ max = $1-last }} {{ last = $1 }} END {{ print max }}'"
        );
        self.cluster.sh(WORKER, &longest)
    }

    /// Ends. Every call was answered as on a quiet day, and nothing is lost.
    pub(crate) fn end_unnoticed(self) {
        let (read, refused) = (self.read(), self.refused());
        let (acknowledged, lost) = self.end();
        eprintln!(
            "  {read} reads were answered and {acknowledged} writes acknowledged meanwhile; refused: {refused:?}"
        );
        assert!(refused.is_empty() && lost.is_empty(), "refused: {refused:?}, lost: {lost:?}");
    }

    /// Ends, and returns what was acknowledged and is not there.
    pub(crate) fn end(self) -> (usize, BTreeSet<String>) {
        self.cluster.sh(WORKER, &format!("touch {DIR}/stop"));
        let names = |text: String| -> BTreeSet<String> { text.lines().map(str::to_owned).collect() };
        let acknowledged = names(self.cluster.sh(WORKER, &format!("awk '$2 == 201 {{ print $3 }}' {DIR}/log")));
        let there = "kubectl get configmaps -l by=caller -o name | sed 's#.*/##'";
        let there = names(self.cluster.sh(MASTERS[0], there));
        self.cluster.sh(WORKER, &format!("rm -rf {DIR} /root/caller.*"));
        let lost = acknowledged.difference(&there).cloned().collect();
        (acknowledged.len(), lost)
    }
}
