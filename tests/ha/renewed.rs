//! Certificates are renewed while the cluster works, and no client of the API notices.

use crate::{
    MASTERS, NODES, await_whole,
    caller::Caller,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] =
    &[("all certificates of all masters are renewed, and no call to the API fails meanwhile", unnoticed)];

/// The serial number of the certificate that a server on this machine shows.
fn shown(cluster: &Cluster, master: &str, port: u16) -> String {
    let pki = "/etc/kubernetes/pki/etcd";
    let client = format!("-cert {pki}/healthcheck-client.crt -key {pki}/healthcheck-client.key");
    cluster.sh(
        master,
        &format!(
            "openssl s_client -connect 127.0.0.1:{port} {client} </dev/null 2>/dev/null | openssl x509 -noout -serial"
        ),
    )
}

fn unnoticed(cluster: &Cluster) {
    let caller = Caller::begin(cluster);
    for master in MASTERS {
        let servers = [("the API server", 6443), ("etcd", 2379)];
        let before = servers.map(|(_, port)| shown(cluster, master, port));
        let started = "systemctl show -p ActiveEnterTimestampMonotonic --value kube-scheduler kube-controller-manager";
        let controllers = cluster.sh(master, started);
        cluster.sh(master, "blackstart pki renew --all --yes");
        for ((name, port), before) in servers.into_iter().zip(before) {
            eventually(&format!("{name} of {master} shows its new certificate"), || {
                shown(cluster, master, port) != before
            });
        }
        eventually(&format!("the controllers of {master} have read theirs"), || {
            let now = cluster.sh(master, started);
            now.split_whitespace().zip(controllers.split_whitespace()).all(|(now, before)| now != before)
        });
    }
    await_whole(cluster, &NODES);
    caller.end_unnoticed();
}
