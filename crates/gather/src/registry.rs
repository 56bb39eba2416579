//! Everything that is gathered: one line per item.
//!
//! Lines of shell are kept short enough to be repeated by hand; the index shows them. What reads the API uses
//! `$KUBECONFIG`, the administrator's on a master and the kubelet's own elsewhere, which may see its own node and pods.
//!
//! Certificates are not taken as files: `certificates.txt` shows what is in them, and a line of a key's file can be the same
//! as one of its certificate.

use nodekit::Layout;
use render::units;

use crate::item::{Availability, How, Item};

/// The last lines of a log that are taken.
const LOG_LINES: u32 = 4000;

/// How long `kubectl` waits for the API: less than the item's limit, so that its own words are kept.
const API: &str = "kubectl --kubeconfig=$KUBECONFIG --request-timeout=12s";

/// Everything, in the order of the index.
pub(crate) fn items(layout: &Layout) -> Vec<Item> {
    [ours(layout), logs(), machine(), network(), etcd(), api()].concat()
}

#[rustfmt::skip]
fn ours(layout: &Layout) -> Vec<Item> {
    let below = |dir: &std::path::Path, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| dir.join(name).display().to_string()).collect()
    };
    let Layout { state_dir, config_dir, kubernetes_dir } = layout;
    let unit_files = units::NAMES.iter().flat_map(|name| [format!("/etc/systemd/system/{name}"), format!("/etc/systemd/system/{name}.d/*.conf"), format!("/run/systemd/system/{name}.d/*.conf")]);
    vec![
        Item::files("state", "ledger and its summary", below(state_dir, &["ledger.json", "ledger.prev.json", "progress.json", "node-role", "bootstrap-state", "cluster-joined", "cluster-initialized-by", "etcd-member-id"])),
        Item::files("runs", "every run that is kept: steps, attempts, waits, errors", below(state_dir, &["runs/*.json"])),
        Item::files("configuration", "the cluster's and the node's description", below(config_dir, &["cluster.yaml", "nodes/*.yaml", "node-identity", "current-node.yaml", "ca-pin"])),
        Item::files("units", "our units and what was added to them", unit_files),
        Item::files("components", "configuration of the components", [below(kubernetes_dir, &["*.yaml"]), [
            "/etc/containerd/config.toml", "/etc/cni/net.d/*", "/var/lib/kubelet/config.yaml", "/var/lib/kube-proxy/config.yaml",
            "/etc/sysctl.d/*blackstart*", "/etc/modules-load.d/*blackstart*", "/etc/NetworkManager/conf.d/blackstart.conf",
            "/etc/NetworkManager/system-connections/blackstart.nmconnection"].map(str::to_owned).to_vec()].concat()),
        Item::files("versions", "manifest of the components", ["/opt/blackstart/bundles/*/manifest.json"]),
        Item { how: How::Certificates, availability: Availability::Anywhere, ..Item::line("certificates.txt", "certificates without their keys", "") },
        Item::line("status.json", "how this node is", "\"$BLACKSTART\" node status -o json || true"),
        Item::line("diagnosis.json", "what is wrong with this node", "\"$BLACKSTART\" diagnose -o json || true"),
        Item::line("timelines.json", "when runs began and how they ended", "\"$BLACKSTART\" node timeline --list -o json"),
    ]
}

fn logs() -> Vec<Item> {
    let unit = |name: &&str| {
        let line = format!("journalctl $JOURNAL --no-pager -o short-iso-precise -n {LOG_LINES} -u {name}");
        Item::line(format!("logs/{name}.log"), "log of the unit", line).only(Availability::Anywhere)
    };
    let mut logs: Vec<Item> = units::NAMES.iter().map(unit).collect();
    let errors = format!("journalctl $JOURNAL --no-pager -o short-iso-precise -n {LOG_LINES} -p err");
    logs.extend([
        Item::line("logs/errors.log", "errors of all units", errors).only(Availability::Anywhere),
        Item::line("logs/kernel.log", "kernel log", format!("dmesg -T | tail -n {LOG_LINES}")),
        Item::files("logs/pods", "logs of pods in kube-system", ["/var/log/pods/kube-system_*/*/*.log"]),
    ]);
    logs
}

#[rustfmt::skip]
fn machine() -> Vec<Item> {
    let units = units::NAMES.join(" ");
    vec![
        Item::line("machine/system.txt", "kernel, system, time, memory", "uname -a; cat /etc/os-release; date -u; uptime; free -m; nproc; \"$BLACKSTART\" --version; ls /sys/fs/cgroup"),
        Item::line("machine/versions.txt", "versions of the programs", "kubelet --version; containerd --version; runc --version; etcd --version; kubectl version --client"),
        Item::line("machine/units.txt", "our units", format!("systemctl show -p Id,LoadState,UnitFileState,ActiveState,SubState,Result,NRestarts,ExecMainStatus,MainPID,ActiveEnterTimestamp {units}")),
        Item::line("machine/failed-units.txt", "units that failed, and what systemd is at", "systemctl --no-pager --failed; systemctl --no-pager list-jobs"),
        Item::line("machine/processes.txt", "processes", "ps -eo pid,ppid,user,state,etimes,rss,args --sort=pid"),
        Item::line("machine/disks.txt", "space and inodes", "df -hT; df -i"),
        Item::line("machine/mounts.txt", "what is mounted", "findmnt -l || cat /proc/self/mounts"),
        Item::line("machine/containers.txt", "containers and images", "ctr -n k8s.io containers list; ctr -n k8s.io tasks list; ctr -n k8s.io images list"),
    ]
}

#[rustfmt::skip]
fn network() -> Vec<Item> {
    vec![
        Item::line("network/addresses.txt", "interfaces and addresses", "ip -s address"),
        Item::line("network/routes.txt", "routes and rules", "ip rule; ip route show table all; ip -6 route"),
        Item::line("network/nftables.txt", "packet filter", "nft list ruleset"),
        Item::line("network/listening.txt", "listening sockets", "ss -ltnp; ss -lunp"),
        Item::line("network/names.txt", "names and name servers", "cat /etc/hosts /etc/resolv.conf; hostname"),
        Item::line("network/manager.txt", "NetworkManager", "nmcli device; nmcli connection"),
    ]
}

#[rustfmt::skip]
fn etcd() -> Vec<Item> {
    let etcdctl = "etcdctl --command-timeout=8s --endpoints=https://127.0.0.1:2379 --cacert=$PKI/etcd/ca.crt --cert=$PKI/etcd/healthcheck-client.crt --key=$PKI/etcd/healthcheck-client.key";
    let ask = |name: &str, what, question: &str| Item::line(name, what, format!("{etcdctl} {question}")).only(Availability::Master);
    vec![
        ask("etcd/health.txt", "whether etcd is healthy", "endpoint health -w json"),
        ask("etcd/status.json", "leader, size, revision", "endpoint status -w json"),
        ask("etcd/members.txt", "members", "member list -w table"),
        ask("etcd/alarms.txt", "alarms", "alarm list; du -sh /var/lib/etcd"),
    ]
}

#[rustfmt::skip]
fn api() -> Vec<Item> {
    vec![
        Item::line("api/ready.txt", "health of the API server", format!("{API} get --raw '/readyz?verbose'; {API} get --raw '/livez?verbose'")),
        Item::line("api/version.txt", "its version", format!("{API} version -o json")),
        Item::objects("api/nodes.json", "Nodes", &format!("{API} get nodes $ONLY_NODE -o json")),
        Item::objects("api/pods.json", "Pods", &format!("{API} get pods -A $ONLY_PODS -o json")),
        Item::objects("api/events.json", "Events", &format!("{API} get events -A -o json")).only(Availability::Master),
        Item::objects("api/requests.json", "certificate requests", &format!("{API} get certificatesigningrequests -o json")).only(Availability::Master),
        Item::objects("api/workloads.json", "what pods are made of", &format!("{API} get deployments,daemonsets,statefulsets,replicasets,services,endpointslices -n kube-system -o json")).only(Availability::Master),
        Item::objects("api/leases.json", "leader, and members that are alive", &format!("{API} get leases -A -o json")).only(Availability::Master),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_items_share_a_name() {
        let items = items(&Layout::default());
        let names: BTreeSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(names.len(), items.len());
    }

    /// What an item asks for is never a secret, whatever is added.
    #[test]
    fn no_item_asks_for_secrets() {
        for item in items(&Layout::default()) {
            let recipe = item.recipe();
            assert!(!recipe.contains("get secret") && !recipe.contains("/originals"), "{recipe}");
            if let How::Files(patterns) = &item.how {
                let named = patterns.iter().filter(|pattern| !pattern.ends_with('*'));
                assert!(named.clone().all(|pattern| !crate::is_secret(std::path::Path::new(pattern))), "{recipe}");
            }
        }
    }

    #[test]
    fn all_of_it() {
        let lines = items(&Layout::default())
            .iter()
            .map(|item| format!("{}: {} [{:?}]", item.name, item.what, item.availability))
            .collect::<Vec<_>>();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
