//! The authorities are replaced while the cluster works, and nobody who calls the API notices.
//!
//! Every check leaves the cluster whole.

use serde_json::Value;

use crate::{
    MASTERS, NODES, WORKER, await_whole,
    caller::Caller,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a rotation does not begin while a node is away", refused),
    ("authorities are rotated, killed in between, and no call to the API fails meanwhile", unnoticed),
    ("whoever has only the old authority's word is refused", forgotten),
    ("a worker that is reset joins with its own directory", joins_anew),
];

/// What somebody outside of the cluster has kept from before.
const KEPT: &str = "/root/kept.conf";

fn refused(cluster: &Cluster) {
    cluster.lab.run("pause", &[WORKER]).ok();
    eventually("the worker is missed", || {
        let view: Value = serde_json::from_str(&cluster.sh(MASTERS[0], "blackstart watch --once -o json")).unwrap();
        let mut nodes = view["nodes"].as_array().unwrap().iter();
        nodes.any(|node| node["name"] == WORKER && node["state"] == "silent")
    });
    let said = cluster.try_sh(MASTERS[0], "blackstart pki rotate-ca --yes --stop-after trust");
    said.refused(1, "BS-CLI-016");
    assert!(said.err.contains(WORKER), "{said:?}");
    cluster.lab.run("resume", &[WORKER]).ok();
    await_whole(cluster, &NODES);
    assert_eq!(
        cluster.sh(MASTERS[0], "kubectl -n kube-system get secret blackstart-ca-rotation -o name --ignore-not-found"),
        ""
    );
}

fn unnoticed(cluster: &Cluster) {
    cluster.sh(MASTERS[0], &format!("cp /etc/kubernetes/admin.conf {KEPT}"));
    let before = fingerprints(cluster, MASTERS[0]);
    while_calling(cluster, || cluster.sh(MASTERS[0], "blackstart pki rotate-ca --yes --stop-after trust"));
    while_calling(cluster, || {
        let killed = "blackstart pki rotate-ca --yes --stop-after sign >/tmp/rotation 2>&1 & \
                      until grep -q 'control plane' /tmp/rotation; do sleep 0.1; done; kill -9 $!";
        cluster.sh(MASTERS[0], killed);
        cluster.sh(MASTERS[1], "blackstart pki rotate-ca --yes --stop-after sign")
    });
    while_calling(cluster, || cluster.sh(MASTERS[2], "blackstart pki rotate-ca --yes"));
    await_whole(cluster, &NODES);
    let told = MASTERS.map(|master| cluster.sh(master, "journalctl --unit=blackstart-agent --output=cat --no-pager"));
    let handed_over =
        told.iter().flat_map(|told| told.lines()).filter(|line| line.contains("leads from now on")).count();
    eprintln!("  etcd's leader handed over {handed_over} times");
    assert!(handed_over > 0, "restarts of a leader were not left to etcd");
    for master in MASTERS {
        let after = fingerprints(cluster, master);
        assert_eq!(after.len(), 3, "one certificate for each authority of {master}: {after:?}");
        assert!(after.iter().all(|one| !before.contains(one)), "{master} has new ones: {after:?}");
        // What has just restarted may still be on its way.
        eventually(&format!("{master} is well"), || {
            let said = cluster.try_sh(master, "blackstart diagnose");
            let is_well = said.code == Some(0);
            if !is_well {
                eprintln!("  {master} not yet: {}", said.out);
            }
            is_well
        });
    }
}

/// Whoever calls is told anew at each stage what to trust, as a client outside of the cluster has to be.
fn while_calling(cluster: &Cluster, work: impl FnOnce() -> String) {
    let caller = Caller::begin(cluster);
    eprintln!("  {}", work().trim().replace('\n', "\n  "));
    caller.end_unnoticed();
}

/// Of every certificate in the files of the three authorities.
fn fingerprints(cluster: &Cluster, machine: &str) -> Vec<String> {
    let files = "/etc/kubernetes/pki/ca.crt /etc/kubernetes/pki/front-proxy-ca.crt /etc/kubernetes/pki/etcd/ca.crt";
    let each = format!(
        "cat {files} | awk '/BEGIN/ {{ n++ }} {{ print > \"/tmp/authority-\" n }}'; \
         for file in /tmp/authority-*; do openssl x509 -noout -fingerprint -sha256 -in $file; done; rm /tmp/authority-*"
    );
    cluster.sh(machine, &each).lines().map(str::to_owned).collect()
}

fn forgotten(cluster: &Cluster) {
    let said = cluster.try_sh(MASTERS[0], &format!("kubectl --kubeconfig {KEPT} get nodes"));
    assert!(said.err.contains("certificate signed by unknown authority"), "the server is not believed: {said:?}");
    let said = cluster.try_sh(MASTERS[0], &format!("kubectl --kubeconfig {KEPT} --insecure-skip-tls-verify get nodes"));
    assert!(said.err.contains("Unauthorized") || said.err.contains("must be logged in"), "nor the client: {said:?}");
    cluster.sh(MASTERS[0], &format!("rm {KEPT}"));
}

fn joins_anew(cluster: &Cluster) {
    cluster.sh(WORKER, "blackstart node reset --yes --keep-installed");
    let said = cluster.node_up(WORKER, "").ok();
    assert!(said.contains("is a Ready node"), "{said}");
    await_whole(cluster, &NODES);
}
