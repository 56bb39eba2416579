//! What `blackstart ceph …` answers while all is well. What it answers otherwise is asked where Ceph is broken on purpose.

use serde_json::Value;

use crate::{
    FIRST,
    storage::{await_health, store},
    support::{Check, Cluster},
};

pub(crate) const CHECKS: &[Check] = &[
    ("`ceph status` shows that all is well", status),
    ("`ceph csi-secret` prints a key that is good for block devices in one pool, and for nothing else", csi_secret),
];

fn status(cluster: &Cluster) {
    let output = cluster.sh(FIRST, "blackstart ceph status -o json");
    let status: Value = serde_json::from_str(&output).unwrap();
    let names = |list: &Value| list.as_array().map_or(0, Vec::len);
    assert_eq!(status["health"]["status"], "HEALTH_OK", "{status}");
    assert_eq!((names(&status["monitors"]["quorum"]), names(&status["managers"]["standby"])), (3, 2), "{status}");
    assert!(status["osds"].as_array().is_some_and(|all| all.len() == 3 && all.iter().all(|osd| osd["up"] == true)));
    let shown = cluster.sh(FIRST, "blackstart ceph status");
    assert!(shown.contains("HEALTH_OK") && shown.contains("OSDs       3: 3 up, 3 in"), "{shown}");
}

fn csi_secret(cluster: &Cluster) {
    store(cluster);
    let apply = "blackstart ceph csi-secret --pool devices | kubectl apply -f -";
    cluster.sh(FIRST, &format!("ceph osd pool create devices 8 && rbd pool init devices && {apply} && {apply}"));
    let key = "key=$(kubectl get secret csi-rbd-secret -o jsonpath='{.data.userKey}' | base64 -d)
               asks() { program=$1; shift; timeout 30 $program --id csi-rbd --key \"$key\" \"$@\"; }";
    let made = cluster.sh(FIRST, &format!("{key}; asks rbd create devices/one --size 8M && asks rbd ls devices"));
    assert_eq!(made, "one");
    for (what, line) in [
        ("another pool", "asks rados -p proof ls"),
        ("another key", "asks ceph auth get client.admin"),
        ("settings", "asks ceph config set global debug_mon 1"),
    ] {
        let output = cluster.try_sh(FIRST, &format!("{key}; {line}"));
        assert_ne!(output.code, Some(0), "{what}: {output:?}");
    }
    // A pool more would be moved about by everything that comes after.
    let remove = "ceph config set mon mon_allow_pool_delete true
                  ceph osd pool rm devices devices --yes-i-really-really-mean-it
                  ceph config rm mon mon_allow_pool_delete; ceph auth rm client.csi-rbd; kubectl delete secret csi-rbd-secret";
    cluster.sh(FIRST, remove);
    await_health(cluster);
}
