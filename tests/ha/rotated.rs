//! All keys are replaced while the cluster works, and no client of the API notices.
//!
//! Every check leaves the cluster whole.

use serde_json::Value;

use crate::{
    ETCDCTL, MASTERS, NODES, WORKER, await_whole,
    caller::Caller,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a rotation does not begin while a node is away", refused),
    ("all keys are rotated, killed in between, and no call to the API fails meanwhile", unnoticed),
    ("nothing of an old key is left after a rotation", nothing_left),
    ("a client that has only the old CA is refused", forgotten),
    ("a worker that is reset joins with its own directory", rejoins),
];

/// What a client outside of the cluster has kept from before.
const KEPT: &str = "/root/kept.conf";

fn refused(cluster: &Cluster) {
    cluster.lab.run("pause", &[WORKER]).ok();
    eventually("the worker is missed", || {
        let view: Value = serde_json::from_str(&cluster.sh(MASTERS[0], "blackstart watch --once -o json")).unwrap();
        let mut nodes = view["nodes"].as_array().unwrap().iter();
        nodes.any(|node| node["name"] == WORKER && node["state"] == "silent")
    });
    let output = cluster.try_sh(MASTERS[0], "blackstart pki rotate --all --yes --stop-after trust");
    output.refused(1, "BS-CLI-016");
    assert!(output.err.contains(WORKER), "{output:?}");
    cluster.lab.run("resume", &[WORKER]).ok();
    await_whole(cluster, &NODES);
    assert_eq!(
        cluster.sh(MASTERS[0], "kubectl -n kube-system get secret blackstart-rotation -o name --ignore-not-found"),
        ""
    );
}

fn unnoticed(cluster: &Cluster) {
    cluster.sh(MASTERS[0], &format!("cp /etc/kubernetes/admin.conf {KEPT}"));
    let before = fingerprints(cluster, MASTERS[0]);
    cluster.apply(TOKEN);
    while_calling(cluster, || rotate(cluster, MASTERS[0], "--stop-after trust"));
    let output = cluster.try_sh(MASTERS[0], "blackstart pki rotate join --yes");
    output.refused(1, "BS-CLI-030");
    while_calling(cluster, || {
        let killed = "blackstart pki rotate --all --yes --stop-after sign >/tmp/rotation 2>&1 & \
                      until grep -q 'control plane' /tmp/rotation; do sleep 0.1; done; kill -9 $!";
        cluster.sh(MASTERS[0], killed);
        cluster.sh(MASTERS[0], "systemctl kill --signal=KILL blackstart-agent");
        rotate(cluster, MASTERS[1], "--stop-after sign")
    });
    while_calling(cluster, || rotate(cluster, MASTERS[2], ""));
    await_whole(cluster, &NODES);
    let logs = MASTERS.map(|master| cluster.sh(master, "journalctl --unit=blackstart-agent --output=cat --no-pager"));
    let handed_over = logs.iter().flat_map(|log| log.lines()).filter(|line| line.contains("leads from now on")).count();
    eprintln!("  etcd's leader handed over {handed_over} times");
    assert!(handed_over > 0, "restarts of a leader were not left to etcd");
    for master in MASTERS {
        let after = fingerprints(cluster, master);
        assert_eq!(after.len(), 3, "one certificate for each CA of {master}: {after:?}");
        assert!(after.iter().all(|one| !before.contains(one)), "{master} has new ones: {after:?}");
        // What has just restarted may still be on its way.
        eventually(&format!("{master} is well"), || {
            let output = cluster.try_sh(master, "blackstart diagnose");
            let is_well = output.code == Some(0);
            if !is_well {
                eprintln!("  {master} not yet: {}", output.out);
            }
            is_well
        });
    }
}

/// `pki rotate --all` to where it is asked to stop. At `sign` programs are given a minute to read their tokens again, so it takes
/// longer than other commands.
fn rotate(cluster: &Cluster, machine: &str, arguments: &str) -> String {
    let line = format!("blackstart pki rotate --all --yes {arguments}");
    cluster.lab.run("exec", &[machine, "--", "timeout", "900", "sh", "-c", &line]).ok()
}

/// A token in a Secret, as they were made before pods got their own.
const TOKEN: &str = "
apiVersion: v1
kind: Secret
metadata: { name: kept-token, annotations: { kubernetes.io/service-account.name: default } }
type: kubernetes.io/service-account-token
";

fn nothing_left(cluster: &Cluster) {
    let first = cluster.sh(MASTERS[0], "sed -n 's/ *- name: //p' /etc/kubernetes/encryption.yaml");
    for master in MASTERS {
        assert_eq!(cluster.sh(master, "grep -c 'BEGIN PUBLIC KEY' /etc/kubernetes/pki/sa.pub"), "1", "{master}");
        let join_key = "cat /etc/kubernetes/pki/join.key 2>/dev/null || cat /etc/cluster-config/join.key";
        assert_eq!(cluster.sh(master, &format!("({join_key}) | wc -l")), "1", "{master}");
        let name = cluster.sh(master, "sed -n 's/ *- name: //p' /etc/kubernetes/encryption.yaml");
        assert_eq!(name, first, "one key, the same on every master");
    }
    let names = format!(
        "{ETCDCTL} get /registry/secrets/ --prefix --print-value-only | grep -ao 'k8s:enc:secretbox:v1:[^:]*:' | sort -u"
    );
    assert_eq!(
        cluster.sh(MASTERS[0], &names),
        format!("k8s:enc:secretbox:v1:{first}:"),
        "every Secret is of the new key"
    );
    let token = "kubectl get secret kept-token -o jsonpath='{.data.token}' | base64 -d";
    let who = format!(
        "kubectl --kubeconfig /dev/null --server https://127.0.0.1:7443 \
         --certificate-authority /etc/kubernetes/pki/ca.crt --token \"$({token})\" auth whoami"
    );
    assert!(cluster.sh(MASTERS[0], &who).contains("system:serviceaccount:default:default"));
    cluster.kubectl(&["delete", "secret", "kept-token"]);
    assert_eq!(cluster.sh(MASTERS[0], "blackstart token list"), "there are no tokens");
    let newest = "blackstart backup verify $(ls -t /var/backups/blackstart/*.age | head -n1)";
    cluster.sh(MASTERS[2], newest);
}

/// The caller gets at each stage the CAs to trust, as a client outside of the cluster has to.
fn while_calling(cluster: &Cluster, work: impl FnOnce() -> String) {
    let caller = Caller::begin(cluster);
    eprintln!("  {}", work().trim().replace('\n', "\n  "));
    caller.end_unnoticed();
}

/// Of every certificate in the files of the three CAs.
fn fingerprints(cluster: &Cluster, machine: &str) -> Vec<String> {
    let files = "/etc/kubernetes/pki/ca.crt /etc/kubernetes/pki/front-proxy-ca.crt /etc/kubernetes/pki/etcd/ca.crt";
    let each = format!(
        "cat {files} | awk '/BEGIN/ {{ n++ }} {{ print > \"/tmp/CA-\" n }}'; \
         for file in /tmp/CA-*; do openssl x509 -noout -fingerprint -sha256 -in $file; done; rm /tmp/CA-*"
    );
    cluster.sh(machine, &each).lines().map(str::to_owned).collect()
}

fn forgotten(cluster: &Cluster) {
    let output = cluster.try_sh(MASTERS[0], &format!("kubectl --kubeconfig {KEPT} get nodes"));
    assert!(output.err.contains("certificate signed by unknown authority"), "the server is not believed: {output:?}");
    let output =
        cluster.try_sh(MASTERS[0], &format!("kubectl --kubeconfig {KEPT} --insecure-skip-tls-verify get nodes"));
    assert!(
        output.err.contains("Unauthorized") || output.err.contains("must be logged in"),
        "nor the client: {output:?}"
    );
    cluster.sh(MASTERS[0], &format!("rm {KEPT}"));
}

fn rejoins(cluster: &Cluster) {
    cluster.sh(WORKER, "blackstart node reset --yes");
    let output = cluster.node_up(WORKER, "").ok();
    assert!(output.contains("is a Ready node"), "{output}");
    await_whole(cluster, &NODES);
}
