//! What `lab up --ceph` ends with, and that another run finds nothing to do.

use crate::{
    FIRST, MACHINES,
    storage::{ask, await_health},
    support::{Check, Cluster},
};

pub(crate) const CHECKS: &[Check] = &[
    ("three monitors, one manager and two more, three OSDs, and nothing to complain about", whole),
    ("nothing is muted", unmuted),
    ("the dashboard answers over TLS", dashboard),
    ("a second run changes nothing", again),
];

fn whole(cluster: &Cluster) {
    await_health(cluster);
    let quorum = ask(cluster, FIRST, "quorum_status");
    let mut names: Vec<&str> =
        quorum["quorum_names"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, MACHINES);
    for machine in MACHINES {
        let noted = cluster.sh(machine, "cat /var/lib/cluster-state/ceph-bootstrapped");
        assert!(noted.starts_with("20"), "{machine}: {noted}");
        let enabled = cluster.sh(machine, &format!("systemctl is-enabled ceph-mon@{machine} ceph-mgr@{machine}"));
        assert_eq!(enabled, "enabled\nenabled", "{machine}");
    }
}

fn unmuted(cluster: &Cluster) {
    let health = ask(cluster, FIRST, "health detail");
    assert!(health["mutes"].as_array().is_some_and(Vec::is_empty), "{health}");
}

fn dashboard(cluster: &Cluster) {
    let services = ask(cluster, FIRST, "mgr services");
    let url = services["dashboard"].as_str().unwrap_or_else(|| panic!("{services}"));
    assert!(url.starts_with("https://"), "{url}");
    let code = cluster.sh(FIRST, &format!("curl -sk -m 20 -o /dev/null -w '%{{http_code}}' {url}"));
    assert_eq!(code, "200", "{url}");
}

fn again(cluster: &Cluster) {
    for machine in MACHINES {
        let output = cluster.node_up(machine, "").ok();
        assert!(output.contains("nothing was changed"), "{machine}: {output}");
    }
}
