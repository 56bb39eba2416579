//! Ceph as the tests see it: how it is, and one object that must never be lost.

use serde_json::Value;

use crate::{
    FIRST, MACHINES,
    support::{Cluster, eventually},
};

/// `ceph` with an end: without a majority it would wait for minutes.
const CEPH: &str = "timeout 20 ceph --connect-timeout 5";

/// What `ceph … -f json` answers on a machine; null while it does not.
pub(crate) fn ask(cluster: &Cluster, machine: &str, words: &str) -> Value {
    let output = cluster.try_sh(machine, &format!("{CEPH} {words} -f json")).out;
    serde_json::from_str(output.trim()).unwrap_or_default()
}

/// What `ceph …` prints on the first machine.
#[track_caller]
pub(crate) fn ceph(cluster: &Cluster, words: &str) -> String {
    cluster.sh(FIRST, &format!("{CEPH} {words}"))
}

/// Waits until nothing is wrong, with every monitor, manager and OSD there. Asked of each monitor by its own socket, too:
/// for some seconds a leader goes on answering for others that are gone.
#[track_caller]
pub(crate) fn await_health(cluster: &Cluster) {
    for machine in MACHINES {
        eventually(&format!("the monitor of {machine} is in the quorum"), || {
            let status = cluster.try_sh(machine, &format!("timeout 10 ceph daemon mon.{machine} mon_status")).out;
            let status: Value = serde_json::from_str(&status).unwrap_or_default();
            status["quorum"].as_array().is_some_and(|quorum| quorum.len() == MACHINES.len())
        });
    }
    eventually("HEALTH_OK with everybody there", || {
        let status = ask(cluster, FIRST, "status");
        status["health"]["status"] == "HEALTH_OK"
            && status["osdmap"]["num_up_osds"] == 3
            && status["mgrmap"]["num_standbys"] == 2
    });
}

/// Puts an object into a pool of its own; its sum.
pub(crate) fn store(cluster: &Cluster) -> String {
    if !ceph(cluster, "osd pool ls").lines().any(|pool| pool == "proof") {
        ceph(cluster, "osd pool create proof 8");
        ceph(cluster, "osd pool application enable proof rados");
    }
    let line = "head -c 4194304 /dev/urandom > /root/object && timeout 60 rados -p proof put object /root/object \
                && sha256sum < /root/object && rm /root/object";
    cluster.sh(FIRST, line)
}

/// Waits until the object is read on a machine, and is what it was.
#[track_caller]
pub(crate) fn await_object(cluster: &Cluster, machine: &str, sum: &str) {
    let line = "timeout 20 rados -p proof get object /root/read && sha256sum < /root/read; rm -f /root/read";
    let mut read = String::new();
    eventually(&format!("the object can be read on {machine}"), || {
        cluster.try_sh(machine, line).out.trim().clone_into(&mut read);
        !read.is_empty()
    });
    assert_eq!(read, sum, "read on {machine}");
}

/// Waits until the bootstrap of a machine has done its work in this boot.
#[track_caller]
pub(crate) fn await_bootstrap(cluster: &Cluster, machine: &str) {
    eventually(&format!("{machine} is a node"), || {
        cluster.try_sh(machine, "systemctl is-active -q cluster-bootstrap").code == Some(0)
    });
}

/// Takes everything of Ceph from a machine, as if its disk had been lost: data, keys, configuration, units. What Ceph
/// knows of its OSDs is removed by the operator who replaces a disk.
pub(crate) fn lose(cluster: &Cluster, machine: &str) {
    let ids = cluster.sh(machine, "ls /var/lib/ceph/osd | sed -n 's/^ceph-//p'");
    cluster.sh(
        machine,
        "systemctl stop cluster-bootstrap 'ceph-mon@*' 'ceph-mgr@*' 'ceph-osd@*'
         systemctl reset-failed
         find /etc/systemd/system -name 'ceph-*@*' -delete
         find /var/lib/ceph/mon /var/lib/ceph/mgr /var/lib/ceph/osd -mindepth 1 -delete
         rm -rf /var/lib/ceph-osd /var/lib/ceph/bootstrap-osd/ceph.keyring /var/lib/cluster-state/ceph-bootstrapped \
                /etc/ceph/ceph.conf /etc/ceph/cluster.fsid /etc/ceph/*.keyring
         systemctl daemon-reload",
    );
    if machine != FIRST {
        for id in ids.lines() {
            eventually(&format!("osd.{id} is purged"), || {
                let purge = format!("{CEPH} osd purge {id} --force --yes-i-really-mean-it");
                cluster.try_sh(FIRST, &purge).code == Some(0)
            });
        }
    }
}
