//! A machine without Ceph's packages installs them by itself, whatever another process does to dpkg meanwhile.

use std::fs;

use crate::{
    FIRST,
    storage::ask,
    support::{Cluster, PROGRAM, TestLab, eventually, run, turn},
};

/// A process that holds dpkg's lock, as an upgrade in the background would. In a file: systemd would replace the variables.
const HOLD: &str = r#"cat > /run/hold.pl <<'END'
use Fcntl;
open(my $lock, "+>>", "/var/lib/dpkg/lock-frontend") or die;
fcntl($lock, F_SETLK, pack("s s x4 q q l x4", F_WRLCK, 0, 0, 0, 0)) or die;
sleep 3600;
END
systemd-run --quiet --unit=holder perl /run/hold.pl"#;

#[test]
#[ignore = "two minutes of apt: in `cargo xtask test --full`, or with `--ignored`"]
fn one_machine_installs_ceph_itself() {
    let _turn = turn();
    let cluster = Cluster { lab: TestLab::with(1, 0) };
    cluster.sh(FIRST, HOLD);
    install(&cluster);
    let message = || cluster.last_up(FIRST).map(|run| run.message()).unwrap_or_default();
    eventually("the process that holds the lock is named", || message().contains("waiting for `perl`, process "));
    cluster.sh(FIRST, "systemctl stop holder");

    eventually("dpkg is busy with Ceph", || {
        cluster.try_sh(FIRST, "ls /var/lib/dpkg/info/ceph-common.list && pgrep -x dpkg").code == Some(0)
    });
    let unfinished = cluster.sh(FIRST, "pkill -KILL -x dpkg && dpkg --audit");
    assert!(unfinished.contains("ceph-common"), "{unfinished}");

    eventually("Ceph is well, on one machine with one copy", || {
        let status = ask(&cluster, FIRST, "status");
        status["health"]["status"] == "HEALTH_OK" && status["osdmap"]["num_up_osds"] == 1
    });
    eventually("the bootstrap is done", || cluster.is_up(FIRST));
    assert_eq!(cluster.sh(FIRST, "dpkg --audit"), "", "nothing is unfinished");
    assert!(cluster.node_up(FIRST, "").ok().contains("nothing was changed"));
}

/// With the lab's own configuration, and every role in Ceph.
fn install(cluster: &Cluster) {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(cluster.lab.dir().join("config/cluster.yaml")).unwrap();
    let roles = "roles: [master, ceph-mon, ceph-mgr, ceph-osd]\n    \
                 ceph: {osds: [{file: /var/lib/ceph-osd/one, size: 5G}]}";
    let text = text.replace("roles: [master]", roles);
    fs::write(dir.path().join("cluster.yaml"), text).unwrap();
    let out = cluster.sealed_dir("").display().to_string();
    run(PROGRAM, &["config", "seal", &dir.path().display().to_string(), "--out", &out]).ok();
    cluster.install(&cluster.sealed_dir(FIRST), FIRST);
}
