//! Packages by real dnf and rpm, on a machine whose only way to packages they are.
//!
//! It is a lab's machine: Debian, with Debian's dnf and rpm, and without its apt-get, so that the program takes it for one
//! of Fedora's relatives, as it would any machine with dnf and no apt. The packages are made here, have the names and the
//! scripts that matter and next to nothing else in them, and come from a repository on the machine itself. Debian's own
//! dnf.conf leaves out a repository that is away; that must not pass for success.

use prep::{Prep, State};

use crate::{
    MASTER,
    node::{initiator_name, report},
    support::{Check, Cluster, CommandOutput, TestLab, eventually, turn},
};

const CHECKS: &[Check] = &[
    ("dnf: what is missing is installed, with what it needs", installed),
    ("dnf: the second time nothing is done", same),
    ("dnf: `prep undo` removes what came, and not what another package needs by now", undone),
    ("dnf: another dnf is waited for, and named", |cluster| waits(cluster, "dnf", OTHER_DNF)),
    ("dnf: the process that has rpm's lock is waited for, and named", |cluster| waits(cluster, "perl", RPM_LOCK)),
    ("dnf: a repository that is away is reported, and used when it is back", away),
    ("dnf: a directory of packages takes its place", directory),
    ("dnf: a directory that lacks something is refused, and nothing is installed", lacking),
    ("dnf: a package whose script was killed with dnf is set up by the same run", killed),
    ("dnf: a package whose script was killed with all else is set up by the next run", all_killed),
    ("dnf: `prep undo` undoes what was killed halfway", undone_halfway),
];

/// Makes the machine what it is for this: see above. As its namesake's, the package's script gives the machine a name when it
/// is installed first, and only then; before that it waits while `/run/hold` is there. rpm's list is where Fedora's
/// relatives have it: Debian's has it in root's home.
const MACHINE: &str = r#"set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install --yes -q --no-install-recommends dnf rpm createrepo-c
mkdir -p /srv/packages /srv/offline /srv/poor /srv/lacking /etc/dnf/vars /etc/yum.repos.d /etc/rpm
echo '%_dbpath /var/lib/rpm' > /etc/rpm/macros
echo 9 > /etc/dnf/vars/releasever
printf '[local]\nname=local\nbaseurl=http://127.0.0.1:8000/\ngpgcheck=0\n' > /etc/yum.repos.d/local.repo
cd /srv
package() {
    { printf 'Name: %s\nVersion: 1\nRelease: 1\nSummary: x\nLicense: x\nBuildArch: noarch\n' $1; cat; } > $1.spec
    printf '%%description\nFor a test.\n%%files\n' >> $1.spec
    rpmbuild -bb --quiet --define '_rpmdir /srv' --define '_rpmfilename packages/%%{NAME}.rpm' $1.spec
}
hold='echo $1 >> /root/begun; echo $PPID $$ > /root/pids; while [ -e /run/hold ]; do sleep 0.1; done'
name='echo InitiatorName=iqn.2026-11.example:1 > /etc/iscsi/initiatorname.iscsi'
echo 'Provides: /bin/sh' | package shell
echo | package isns-utils-libs
printf '%s\n' 'Requires: isns-utils-libs' %post "$hold" '[ $1 != 1 ] || mkdir -p /etc/iscsi' "[ \$1 != 1 ] || $name" | package iscsi-initiator-utils
echo 'Requires: iscsi-initiator-utils' | package their-tool
printf '%s\n' %post "$hold" | package slow
createrepo_c -q packages
cp packages/is*.rpm offline
cp packages/iscsi*.rpm poor
cp packages/isns*.rpm lacking
mv /usr/bin/apt-get /usr/bin/apt-get.away"#;

/// The repository is there.
const SERVE: &str = "systemctl is-active -q repository || systemd-run --quiet --collect --unit=repository \
    python3 -m http.server --bind 127.0.0.1 --directory /srv/packages 8000
    until curl -sf -o /dev/null http://127.0.0.1:8000/repodata/repomd.xml; do sleep 0.1; done";
/// It is away, and nothing of it is remembered.
const AWAY: &str = "systemctl stop repository; dnf -q clean all";

/// Another dnf, in the middle of its work.
const OTHER_DNF: &str = "systemd-run --quiet --collect --unit=other dnf -qy install slow";
/// Another process that has the lock of rpm.
const RPM_LOCK: &str = r#"cat > /run/hold.pl <<'END'
use Fcntl;
open(my $lock, "+>>", "/var/lib/rpm/.rpm.lock") or die;
my $all = pack("s s x4 q q l x4", F_WRLCK, 0, 0, 0, 0);
fcntl($lock, F_SETLKW, $all) or die;
sleep 1 while -e "/run/hold";
END
systemd-run --quiet --collect --unit=other perl /run/hold.pl"#;

const PACKAGE: &str = "iscsi-initiator-utils";
const BOTH: &str = "iscsi-initiator-utils isns-utils-libs shell";

#[test]
#[ignore = "a machine with dnf, which the daily run does without: in `cargo xtask test --full`, or with `--ignored`"]
fn packages_by_dnf() {
    let _turn = turn();
    let cluster = Cluster { lab: TestLab::with(1, 0) };
    cluster.sh(MASTER, MACHINE);
    cluster.sh(MASTER, &format!("{SERVE}; dnf -qy install shell"));
    cluster.check(&[CHECKS]);
}

/// A machine to which nothing has been done.
fn afresh(cluster: &Cluster) {
    let line = format!("rm -rf /root/begun /etc/iscsi; {SERVE}; blackstart prep undo iscsi --yes");
    cluster.sh(MASTER, &line);
    cluster.sh(MASTER, "dnf -qy remove slow their-tool 'is*'");
    assert_eq!(packages(cluster), "shell");
}

fn prep(cluster: &Cluster, options: &str) -> CommandOutput {
    cluster.try_sh(MASTER, &format!("blackstart prep iscsi {options}"))
}

/// Everything that rpm lists.
fn packages(cluster: &Cluster) -> String {
    cluster.sh(MASTER, "rpm -qa --queryformat '%{NAME}\\n' | sort | xargs")
}

/// What was installed is whole: as much as a kernel without iSCSI leaves to be done, and the script of a first installation.
#[track_caller]
fn assert_whole(cluster: &Cluster) {
    assert_eq!(packages(cluster), BOTH);
    let report = report(cluster, MASTER, Prep::Iscsi).unwrap();
    assert_eq!((report.state, report.seen["package"].as_str()), (State::Incapable, "iscsi-initiator-utils 1-1"));
    assert_eq!(initiator_name(cluster, MASTER), "iqn.2026-11.example:1", "its script has come to its end");
}

fn installed(cluster: &Cluster) {
    afresh(cluster);
    prep(cluster, "");
    assert_whole(cluster);
}

fn same(cluster: &Cluster) {
    prep(cluster, "");
    let history = || cluster.sh(MASTER, "dnf -q history list");
    let before = history();
    let output = prep(cluster, "");
    assert!(output.err.contains("packages: same"), "{output:?}");
    assert_eq!(history(), before);
    assert_whole(cluster);
}

fn undone(cluster: &Cluster) {
    afresh(cluster);
    prep(cluster, "");
    cluster.sh(MASTER, "dnf -qy install their-tool");
    let output = cluster.sh(MASTER, "blackstart prep undo iscsi --yes 2>&1");
    assert!(output.contains("iscsi-initiator-utils stays: their-tool would go with it"), "{output}");
    assert_eq!(packages(cluster), format!("{BOTH} their-tool"));

    afresh(cluster);
    prep(cluster, "");
    cluster.sh(MASTER, AWAY);
    cluster.sh(MASTER, "blackstart prep undo iscsi --yes");
    assert_eq!(packages(cluster), "shell", "without a repository too");
}

fn waits(cluster: &Cluster, name: &str, hold: &str) {
    afresh(cluster);
    cluster.sh(MASTER, &format!("touch /run/hold; {hold}"));
    eventually("the lock is held", || cluster.sh(MASTER, "lslocks").contains("/var/lib/rpm/.rpm.lock"));
    let unit = begin(cluster);
    let words = format!("waiting for `{name}`, process ");
    eventually(&words, || cluster.journal(MASTER, &unit).contains(&words));
    assert!(!packages(cluster).contains(PACKAGE));
    cluster.sh(MASTER, "rm /run/hold");
    await_end(cluster, &unit);
    cluster.sh(MASTER, "! rpm -q slow || dnf -qy remove slow");
    assert_whole(cluster);
    assert!(!cluster.sh(MASTER, "dnf -q history list").contains('#'), "no try has left an unfinished line");
}

fn away(cluster: &Cluster) {
    afresh(cluster);
    cluster.sh(MASTER, AWAY);
    prep(cluster, "").refused(1, "BS-PKG-002");
    assert_eq!(packages(cluster), "shell");
    assert_eq!(report(cluster, MASTER, Prep::Iscsi).unwrap().state, State::Failed);
    cluster.sh(MASTER, SERVE);
    prep(cluster, "");
    assert_whole(cluster);
}

fn directory(cluster: &Cluster) {
    afresh(cluster);
    cluster.sh(MASTER, AWAY);
    prep(cluster, "--packages /srv/offline");
    assert_whole(cluster);
    cluster.sh(MASTER, "blackstart prep undo iscsi --yes");
    assert_eq!(packages(cluster), "shell", "what came with it goes with it");
}

fn lacking(cluster: &Cluster) {
    afresh(cluster);
    for (dir, what) in [("/srv/poor", "isns-utils-libs"), ("/srv/lacking", PACKAGE)] {
        let output = prep(cluster, &format!("--packages {dir}"));
        output.refused(1, "BS-PREP-002");
        assert!(output.err.contains(what), "{output:?}");
        assert_eq!(packages(cluster), "shell");
    }
}

fn killed(cluster: &Cluster) {
    let unit = in_script(cluster);
    cluster.sh(MASTER, "kill -KILL $(cat /root/pids)");
    eventually("the script is begun again", || cluster.sh(MASTER, "cat /root/begun") == "1\n1");
    cluster.sh(MASTER, "rm /run/hold");
    await_end(cluster, &unit);
    let output = cluster.journal(MASTER, &unit);
    assert!(output.contains("dnf was interrupted while it installed iscsi-initiator-utils"), "{output}");
    assert_whole(cluster);
}

fn all_killed(cluster: &Cluster) {
    kill_all(cluster);
    prep(cluster, "");
    assert_whole(cluster);
    cluster.sh(MASTER, "blackstart prep undo iscsi --yes");
    assert_eq!(packages(cluster), "shell");
}

fn undone_halfway(cluster: &Cluster) {
    kill_all(cluster);
    cluster.sh(MASTER, "blackstart prep undo iscsi --yes");
    assert_eq!(packages(cluster), "shell");
}

/// The run, dnf and the script end in the middle of it, and rpm lists the package.
fn kill_all(cluster: &Cluster) {
    let unit = in_script(cluster);
    cluster.sh(MASTER, &format!("systemctl kill --signal=KILL {unit}; rm /run/hold"));
    await_end(cluster, &unit);
    assert_eq!(packages(cluster), BOTH);
    cluster.sh(MASTER, "! test -e /etc/iscsi/initiatorname.iscsi");
}

/// A run that has come as far as the script of the package. Says how its unit is called.
fn in_script(cluster: &Cluster) -> String {
    afresh(cluster);
    cluster.sh(MASTER, "touch /run/hold");
    let unit = begin(cluster);
    eventually("the script is begun", || cluster.try_sh(MASTER, "cat /root/begun").out == "1\n");
    unit
}

/// Starts a run, and says how its unit is called.
fn begin(cluster: &Cluster) -> String {
    let unit = format!("try-{}", cluster.sh(MASTER, "cat /proc/sys/kernel/random/uuid"));
    cluster.sh(MASTER, &format!("systemd-run --quiet --collect --unit={unit} blackstart prep iscsi"));
    unit
}

fn await_end(cluster: &Cluster, unit: &str) {
    eventually("the run has ended", || cluster.try_sh(MASTER, &format!("systemctl is-active {unit}")).code != Some(0));
}
