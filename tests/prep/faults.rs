//! What happens to a node while it is prepared, and afterwards: it ends as one that was never disturbed.
//!
//! One case of a kind is played with a commit, kinds taking turns; all of them with `BLACKSTART_TEST_FULL=1`.

use std::fmt;

use jiff::Timestamp;
use prep::{Prep, Report, State, paths};

use crate::{
    MASTER, WORKER,
    cases::{is_turn, play_all},
    node::{
        ARCHIVES, NAME, NAME_NOTE, PACKAGE, WAITING, await_report, await_whole, copy, evidence, fill_disk, find_mirror,
        free_disk, hold_lock, initiator_name, invocation, log_since, lose_mirror, package, release_lock, runs,
    },
    pods::{INTERVAL, ensure_quick, kill_pod, log, pod},
    reported::{NO_ISCSI, events},
    support::{Check, Cluster, eventually, text},
    turns::holders,
};

/// Those whose turn it is; what has none is not called well.
pub(crate) fn checks() -> Vec<Check> {
    let all: [(u64, Check); 3] = [
        (0, ("whatever happens to the machine, it is prepared in the end", machine)),
        (1, ("whatever happens to the pod, the work goes on", pods)),
        (1, ("what is changed by hand later is repaired", drift)),
    ];
    all.into_iter().filter(|(kind_of_two, _)| is_turn(*kind_of_two, 2)).map(|(_, check)| check).collect()
}

/// What happens, and how it is done. It says where it struck.
#[derive(Clone)]
struct Case(&'static str, fn(&Cluster) -> String);

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

const MACHINE: &[Case] = &[
    Case("another process holds dpkg's lock", lock_held),
    Case("apt and dpkg are killed while they unpack", |cluster| killed(cluster, UNPACKING)),
    Case("apt and dpkg are killed while they configure", |cluster| killed(cluster, CONFIGURING)),
    Case("the mirror is away in the middle", mirror_away),
    Case("the disk has no room for archives", |cluster| disk_full(cluster, ARCHIVES)),
    Case("the disk has no room for what is unpacked", |cluster| disk_full(cluster, "/usr/lib/open-iscsi")),
    Case("the program is killed while it installs packages", |cluster| killed_at(cluster, "packages:within-1")),
    Case("the program is killed after it has installed packages", |cluster| killed_at(cluster, "packages:ended")),
    Case("the machine reboots while it waits for a lock", reboots),
    Case("the machine loses its power while dpkg unpacks", loses_power),
];

const PODS: &[Case] = &[
    Case("its pod is killed while the unit waits for a lock", pod_killed_waiting),
    Case("its pod is killed while dpkg unpacks", pod_killed_unpacking),
    Case("its pod is killed before packages are installed", |cluster| pod_killed_at(cluster, "packages:before-1")),
    Case("its pod is killed while packages are installed", |cluster| pod_killed_at(cluster, "packages:within-1")),
    Case("its pod is killed after packages were installed", |cluster| pod_killed_at(cluster, "packages:ended")),
    Case("its pod is killed while the initiator name is looked at", |cluster| {
        pod_killed_at(cluster, "initiator-name:started")
    }),
    Case("its pod is killed while the kernel is looked at", |cluster| pod_killed_at(cluster, "iscsi-kernel:started")),
    Case("one pod after the other is killed", pods_killed),
];

const DRIFT: &[Case] = &[
    Case("the package is removed", |cluster| {
        changed(cluster, "apt-get -y -o DPkg::Lock::Timeout=60 remove open-iscsi")
    }),
    Case("the initiator name is removed", |cluster| changed(cluster, "rm /etc/iscsi/initiatorname.iscsi")),
    Case("the machine is a clone of another one", cloned),
    Case("script and program are removed", |cluster| {
        changed(cluster, "rm -r /usr/local/bin/iscsi-bootstrap.sh /opt/node-bootstrap/iscsi")
    }),
];

const REMOVE: &str = "apt-get -qq -y -o DPkg::Lock::Timeout=60 remove open-iscsi";

fn machine(cluster: &Cluster) {
    play(cluster, "machine", MACHINE);
}

fn pods(cluster: &Cluster) {
    play(cluster, "pod", PODS);
}

fn drift(cluster: &Cluster) {
    play(cluster, "by hand", DRIFT);
}

fn play(cluster: &Cluster, kind: &str, all: &[Case]) {
    ensure_quick(cluster);
    // Its kind has its turn with every second number.
    let of_the_seed = |seed: usize| all[(seed / 2) % all.len()].clone();
    let play = |case: &Case| Some(case.1(cluster));
    play_all(kind, all, of_the_seed, play, || evidence(cluster, WORKER));
}

/// There is work to do, and the unit has come as far as dpkg's lock. Says since when.
fn at_work(cluster: &Cluster) -> Timestamp {
    let moment = Timestamp::now();
    hold_lock(cluster, WORKER);
    assert_eq!(package(cluster, WORKER, PACKAGE), "rc", "the package is gone");
    eventually("the unit says who holds the lock", || {
        log_since(cluster, WORKER, Prep::Iscsi, moment).contains(WAITING)
    });
    moment
}

/// The process that has the lock lets go.
fn release(cluster: &Cluster) {
    release_lock(cluster, WORKER);
}

fn lock_held(cluster: &Cluster) -> String {
    let moment = at_work(cluster);
    eventually("the pod's log names who holds the lock", || log(cluster, WORKER, Prep::Iscsi).contains(WAITING));
    let holders = holders(cluster, Prep::Iscsi);
    assert!(holders.iter().any(|(_, node)| node == WORKER), "it is this node's turn: {holders:?}");
    let run = invocation(cluster, WORKER, Prep::Iscsi);
    release(cluster);
    await_whole(cluster, WORKER, moment);
    let output = cluster.sh(WORKER, &format!("journalctl --no-pager -o cat _SYSTEMD_INVOCATION_ID={run}"));
    assert!(output.contains(NO_ISCSI), "the run that waited has gone on to the end: {output}");
    "waiting for `perl`".to_owned()
}

/// Until files of the package lie beside their places, or, where that moment was too short, the package is unpacked.
const UNPACKING: &str =
    "until [ -e /usr/sbin/iscsid.dpkg-new ] || [ -e /var/lib/dpkg/info/open-iscsi.postinst ]; do :; done";
const CONFIGURING: &str = "until pgrep -f '[d]pkg .*--configure' > /dev/null; do :; done";

/// A line that lets dpkg go on to a moment, and then does something to it.
fn in_the_middle(moment: &str, then: &str) -> String {
    format!("systemctl stop holder; {moment}; {then}")
}

fn killed(cluster: &Cluster, when: &str) -> String {
    let moment = at_work(cluster);
    cluster.sh(WORKER, &in_the_middle(when, "pkill -KILL -x dpkg; pkill -KILL -x apt-get; true"));
    let left = package(cluster, WORKER, PACKAGE);
    await_whole(cluster, WORKER, moment);
    assert!(left.ends_with(['H', 'U', 'F', 'R']), "it was in the middle: {left}");
    format!("{PACKAGE} is {left}")
}

fn mirror_away(cluster: &Cluster) -> String {
    let moment = at_work(cluster);
    lose_mirror(cluster, WORKER);
    release(cluster);
    let report = await_report(cluster, WORKER, Prep::Iscsi, State::Failed, moment);
    find_mirror(cluster, WORKER);
    await_whole(cluster, WORKER, moment);
    assert_eq!(report.code(), Some("BS-PKG-002"), "{report:?}");
    code(&report)
}

/// A small disk at a directory.
fn disk_full(cluster: &Cluster, dir: &str) -> String {
    let moment = at_work(cluster);
    fill_disk(cluster, WORKER, dir);
    release(cluster);
    let report = await_report(cluster, WORKER, Prep::Iscsi, State::Failed, moment);
    free_disk(cluster, WORKER, dir);
    await_whole(cluster, WORKER, moment);
    assert_eq!(report.code(), Some("BS-PKG-005"), "{report:?}");
    code(&report)
}

fn code(report: &Report) -> String {
    format!("{}: {}", report.code().unwrap_or("no code"), report.text.message())
}

fn reboots(cluster: &Cluster) -> String {
    at_work(cluster);
    let (boot, moment) = (cluster.lab.boot(WORKER), Timestamp::now());
    cluster.lab.run("reboot", &[WORKER]).ok();
    assert_ne!(cluster.lab.boot(WORKER), boot);
    await_whole(cluster, WORKER, moment);
    "waiting for `perl`".to_owned()
}

fn loses_power(cluster: &Cluster) -> String {
    at_work(cluster);
    halt_unpacking(cluster);
    let (left, moment) = (package(cluster, WORKER, PACKAGE), Timestamp::now());
    cluster.lab.run("kill", &[WORKER]).ok();
    cluster.lab.up(1, 2).ok();
    await_whole(cluster, WORKER, moment);
    format!("{PACKAGE} is {left}")
}

/// Lets dpkg come to unpacking, and stops it there.
fn halt_unpacking(cluster: &Cluster) {
    cluster.sh(WORKER, &in_the_middle(UNPACKING, "pkill -STOP -x dpkg"));
}

fn pod_killed_waiting(cluster: &Cluster) -> String {
    let moment = at_work(cluster);
    joined_by_next_pod(cluster);
    release(cluster);
    await_whole(cluster, WORKER, moment);
    "waiting for `perl`".to_owned()
}

fn pod_killed_unpacking(cluster: &Cluster) -> String {
    let moment = at_work(cluster);
    halt_unpacking(cluster);
    joined_by_next_pod(cluster);
    let left = package(cluster, WORKER, PACKAGE);
    cluster.sh(WORKER, "pkill -CONT -x dpkg");
    await_whole(cluster, WORKER, moment);
    format!("{PACKAGE} is {left}")
}

/// Kills the pod: the unit goes on, and the next pod reports it.
fn joined_by_next_pod(cluster: &Cluster) {
    let run = invocation(cluster, WORKER, Prep::Iscsi);
    assert!(!run.is_empty(), "the unit runs");
    let next = kill_pod(cluster, WORKER, Prep::Iscsi);
    eventually("the next pod runs and follows the unit", || {
        let is_next = pod(cluster, WORKER, Prep::Iscsi).is_some_and(|pod| text(&pod["metadata"]["uid"]) == next);
        is_next && log(cluster, WORKER, Prep::Iscsi).contains("following it")
    });
    assert_eq!(invocation(cluster, WORKER, Prep::Iscsi), run, "the unit has gone on");
}

fn pod_killed_at(cluster: &Cluster, instant: &str) -> String {
    let (moment, at) = strike(cluster, instant, "halt");
    joined_by_next_pod(cluster);
    cluster.sh(WORKER, &format!("systemctl kill --signal=CONT {}", paths::unit(Prep::Iscsi)));
    await_whole(cluster, WORKER, moment);
    at
}

fn killed_at(cluster: &Cluster, instant: &str) -> String {
    let (moment, at) = strike(cluster, instant, "kill");
    await_whole(cluster, WORKER, moment);
    eventually("an Event reports it", || events(cluster, WORKER).contains("BS-PREP-036"));
    at
}

/// There is work to do, and the program ends, or stands still, at an instant of a step (`crates/fault`). Says
/// since when, and where it struck.
fn strike(cluster: &Cluster, instant: &str, ending: &str) -> (Timestamp, String) {
    let moment = Timestamp::now();
    let dir = format!("/run/systemd/system/{}.d", paths::unit(Prep::Iscsi));
    let settings = format!("[Service]\\nEnvironment=BLACKSTART_FAULT={instant}:{ending}\\n");
    let arm = format!(
        "rm -f /run/blackstart-fault; mkdir -p {dir}; printf '{settings}' > {dir}/fault.conf; systemctl daemon-reload"
    );
    cluster.sh(WORKER, &format!("{arm}; {REMOVE}"));
    let mut at = String::new();
    eventually(&format!("it comes to {instant}"), || {
        cluster.try_sh(WORKER, "cat /run/blackstart-fault").out.trim().clone_into(&mut at);
        !at.is_empty()
    });
    cluster.sh(WORKER, &format!("rm -r {dir}; systemctl daemon-reload"));
    (moment, at)
}

fn pods_killed(cluster: &Cluster) -> String {
    let moment = at_work(cluster);
    release(cluster);
    for _ in 0..3 {
        kill_pod(cluster, WORKER, Prep::Iscsi);
    }
    await_whole(cluster, WORKER, moment);
    "three pods".to_owned()
}

/// Name and note are those of the master, as on a machine that was made of its disk.
fn cloned(cluster: &Cluster) -> String {
    let (own, others) = (initiator_name(cluster, WORKER), initiator_name(cluster, MASTER));
    for file in [NAME, NAME_NOTE] {
        copy(cluster, file, MASTER, WORKER);
    }
    let after = changed(cluster, "true");
    let name = initiator_name(cluster, WORKER);
    assert!(name != others && name != own, "it has a name of its own: {name}");
    after
}

fn changed(cluster: &Cluster, line: &str) -> String {
    cluster.sh(WORKER, line);
    let moment = Timestamp::now();
    let changed = u64::try_from(moment.as_microsecond()).unwrap();
    let mut began = None;
    eventually("the node is looked at again", || {
        began = runs(cluster, WORKER, Prep::Iscsi).iter().map(|run| run.began).find(|began| *began > changed);
        began.is_some()
    });
    let after = (began.unwrap() - changed) / 1_000_000;
    // It may be another node's turn first.
    assert!(after <= 6 * INTERVAL, "looked at again after {after} s, every {INTERVAL} s was asked for");
    await_whole(cluster, WORKER, Timestamp::from_microsecond(i64::try_from(began.unwrap()).unwrap()).unwrap());
    let script = "/usr/local/bin/iscsi-bootstrap.sh /opt/node-bootstrap/iscsi/blackstart";
    eventually("script and program are there", || cluster.try_sh(WORKER, &format!("ls {script}")).code == Some(0));
    format!("{after} s later")
}
