//! A machine that is reset has nothing of Ceph any more.

use crate::{
    LAST,
    support::{Check, Cluster, run},
};

pub(crate) const CHECKS: &[Check] = &[("a reset leaves nothing of Ceph", nothing_is_left)];

fn nothing_is_left(cluster: &Cluster) {
    cluster.sh(LAST, "blackstart node reset --yes --uninstall");
    let daemons = cluster.try_sh(LAST, "pgrep -l '^ceph-(mon|mgr|osd)'").out;
    assert_eq!(daemons, "", "processes");
    // What the machine itself has written lies in a directory of its own; the packages are in a layer below.
    let own = cluster.lab.dir().join("machines").join(LAST).join("upper").display().to_string();
    let left = run("find", &[&own, "-path", "*ceph*", "-not", "-type", "d", "-not", "-type", "c"]).ok();
    assert_eq!(left, "", "files");
}
