//! What preparing has left on a machine: its report, its packages, the runs of its unit.

use std::collections::BTreeMap;

use jiff::Timestamp;
use prep::{Prep, Report, State, paths};
use serde_json::Value;

use crate::support::{Cluster, eventually};

/// What Longhorn needs.
pub(crate) const PACKAGE: &str = "open-iscsi";

/// A line that prints names and versions of all packages that are installed.
pub(crate) const INSTALLED: &str =
    "dpkg-query -W -f='${db:Status-Abbrev} ${Package} ${Version}\\n' | grep '^ii' | sort";
/// What that line printed before a machine was prepared.
pub(crate) const BEFORE: &str = "/root/packages.before";

/// What the last run on a machine found; nothing if there was none.
pub(crate) fn report(cluster: &Cluster, machine: &str, prep: Prep) -> Option<Report> {
    let output = cluster.try_sh(machine, &format!("cat {}", paths::report(prep).display()));
    serde_json::from_str(&output.out).ok()
}

/// Waits until a run that began after a moment has come to an end like this, and says what it found.
#[track_caller]
pub(crate) fn await_report(cluster: &Cluster, machine: &str, prep: Prep, state: State, after: Timestamp) -> Report {
    let mut last = None;
    let what = format!("{machine} is {state} for {prep}");
    eventually(&what, || {
        last = report(cluster, machine, prep);
        last.as_ref().is_some_and(|report| report.state == state && report.at >= after)
    });
    last.unwrap()
}

/// Waits until a node has everything that it can have for iSCSI on this kernel, as a run after a moment has seen it.
#[track_caller]
pub(crate) fn await_whole(cluster: &Cluster, machine: &str, after: Timestamp) -> Report {
    let mut last = None;
    eventually(&format!("{machine} has what it can have for iSCSI"), || {
        last = report(cluster, machine, Prep::Iscsi);
        last.as_ref().is_some_and(|report| {
            let has_package =
                report.seen.get("package").is_some_and(|package| package.contains(' ') && !package.ends_with(" not"));
            report.state == State::Incapable && report.at >= after && has_package
        })
    });
    let report = last.unwrap();
    assert_eq!(package(cluster, machine, PACKAGE), "ii", "{report:?}");
    assert_eq!(cluster.sh(machine, "dpkg --audit"), "", "nothing is unfinished");
    assert!(initiator_name(cluster, machine).starts_with("iqn."), "{report:?}");
    assert_eq!(cluster.sh(machine, "systemctl is-failed iscsid || true"), "inactive", "what cannot run is not started");
    report
}

/// Where a machine has its initiator name.
pub(crate) const NAME: &str = "/etc/iscsi/initiatorname.iscsi";
/// Where it is noted on which machine an initiator name was seen.
pub(crate) const NAME_NOTE: &str = "/var/lib/node-bootstrap/iscsi/initiator.json";

/// The name by which targets know a machine.
pub(crate) fn initiator_name(cluster: &Cluster, machine: &str) -> String {
    cluster.sh(machine, &format!("sed -n 's/^InitiatorName=//p' {NAME}"))
}

/// A file of one machine in the same place of another.
pub(crate) fn copy(cluster: &Cluster, file: &str, from: &str, to: &str) {
    write(cluster, to, file, &cluster.sh(from, &format!("cat {file}")));
}

/// Writes a file of a machine.
pub(crate) fn write(cluster: &Cluster, machine: &str, file: &str, text: &str) {
    cluster.lab.feed("exec", &[machine, "--", "sh", "-c", &format!("cat > {file}")], text.as_bytes()).ok();
}

/// Where apt puts what it fetches.
pub(crate) const ARCHIVES: &str = "/var/cache/apt/archives";

/// How dpkg abbreviates the state of a package: `ii` is installed, `iU` unpacked only, `rc` removed; empty if it is unknown.
pub(crate) fn package(cluster: &Cluster, machine: &str, name: &str) -> String {
    let output = cluster.try_sh(machine, &format!("dpkg-query -W -f='${{db:Status-Abbrev}}' {name}"));
    output.out.trim().to_owned()
}

/// From the first to the last line that the journal has of one start of a unit, in microseconds. All machines have one clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) began: u64,
    pub(crate) ended: u64,
}

impl Run {
    /// Whether both were under way at some moment.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.began < other.ended && other.began < self.ended
    }
}

/// Every start of the unit that does the work, the oldest first.
pub(crate) fn runs(cluster: &Cluster, machine: &str, prep: Prep) -> Vec<Run> {
    let line = format!("journalctl --no-pager -o json -u {}", paths::unit(prep));
    let mut runs: BTreeMap<String, Run> = BTreeMap::new();
    for line in cluster.sh(machine, &line).lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        // What the unit says, and what systemd says of it.
        let id = ["_SYSTEMD_INVOCATION_ID", "INVOCATION_ID"].iter().find_map(|field| entry[field].as_str());
        let at = entry["__REALTIME_TIMESTAMP"].as_str().and_then(|text| text.parse().ok());
        if let (Some(id), Some(at)) = (id, at) {
            runs.entry(id.to_owned()).or_insert(Run { began: at, ended: at }).ended = at;
        }
    }
    let mut runs: Vec<Run> = runs.into_values().collect();
    runs.sort_by_key(|run| run.began);
    runs
}

/// What the unit has logged since a moment.
pub(crate) fn log_since(cluster: &Cluster, machine: &str, prep: Prep, moment: Timestamp) -> String {
    let since = moment.as_second();
    cluster.sh(machine, &format!("journalctl --no-pager -o cat --since @{since} -u {}", paths::unit(prep)))
}

/// The present start of the unit; empty while it does not run.
pub(crate) fn invocation(cluster: &Cluster, machine: &str, prep: Prep) -> String {
    let unit = paths::unit(prep);
    let line = format!(
        "systemctl is-active -q {unit} || systemctl show -p ActiveState --value {unit} | grep -q activating || exit 0
                        systemctl show -p InvocationID --value {unit}"
    );
    cluster.sh(machine, &line)
}

/// What a run says while another process holds dpkg's lock: the one below.
pub(crate) const WAITING: &str = "waiting for `perl`, process ";

/// Takes dpkg's lock as an upgrade in the background would, and the package away. In a file: systemd would replace the
/// variables.
const HOLD: &str = r#"cat > /run/hold.pl <<'END'
use Fcntl;
open(my $lock, "+>>", "/var/lib/dpkg/lock-frontend") or die;
my $all = pack("s s x4 q q l x4", F_WRLCK, 0, 0, 0, 0);
fcntl($lock, F_SETLKW, $all) or die;
$ENV{DPKG_FRONTEND_LOCKED} = 1;
system("dpkg --remove open-iscsi && apt-get clean") == 0 or die;
open(my $held, ">", "/run/held") or die;
sleep 3600;
END
systemctl stop holder 2>/dev/null
rm -f /run/held
systemd-run --quiet --collect --unit=holder perl /run/hold.pl"#;

/// Another process has dpkg's lock, and the package is not installed.
#[track_caller]
pub(crate) fn hold_lock(cluster: &Cluster, machine: &str) {
    cluster.sh(machine, HOLD);
    eventually(&format!("a process holds dpkg's lock on {machine}"), || {
        cluster.try_sh(machine, "test -e /run/held").code == Some(0)
    });
}

/// The process that has the lock lets go.
pub(crate) fn release_lock(cluster: &Cluster, machine: &str) {
    cluster.sh(machine, "systemctl stop holder");
}

/// The disk has no room for packages that are fetched.
pub(crate) fn fill_disk(cluster: &Cluster, machine: &str, dir: &str) {
    cluster.sh(machine, &format!("mkdir -p {dir} && mount -t tmpfs -o size=4k tmpfs {dir}"));
}

/// There is room again, if there was none.
pub(crate) fn free_disk(cluster: &Cluster, machine: &str, dir: &str) {
    cluster.sh(machine, &format!("! mountpoint -q {dir} || umount -l {dir}"));
}

/// Requests to a mirror of packages are rejected. It ends with the boot.
pub(crate) fn lose_mirror(cluster: &Cluster, machine: &str) {
    let rules = "table inet away { chain out { type filter hook output priority 0; tcp dport { 80, 443 } reject with tcp reset; }; }";
    cluster.sh(machine, &format!("nft '{rules}'"));
}

/// The mirror is there again.
pub(crate) fn find_mirror(cluster: &Cluster, machine: &str) {
    cluster.sh(machine, "nft delete table inet away 2>/dev/null || true");
}

/// What to look at when a case has failed.
pub(crate) fn evidence(cluster: &Cluster, machine: &str) -> String {
    let line = format!(
        "cat {}; echo; dpkg --audit; journalctl -o short-precise --no-pager -n 60 -u {}",
        paths::report(Prep::Iscsi).display(),
        paths::unit(Prep::Iscsi)
    );
    let pods = "kubectl -n kube-system get pods,leases -o wide | grep node-bootstrap
                kubectl -n kube-system logs --tail 40 --prefix -l app=rke2-node-bootstrap-iscsi";
    format!("{}\n{}", cluster.try_sh(machine, &line).out, cluster.try_sh(crate::MASTER, pods).out)
}
