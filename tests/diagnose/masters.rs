//! etcd of three masters: who is missing, who has no data, no vote or no place, and who is in another cluster.
//!
//! The third one is broken, as a rule, and the first one asked; where the third knows more of itself, it is asked too.

use crate::{
    bench::Bench,
    case::{Case, Deed, Expected, MASTER},
};

pub(crate) const NAMES: [&str; 3] = ["master-01", "master-02", "master-03"];
const THIRD: &str = "master-03";

/// In an order in which one case goes on where the one before has ended.
pub(crate) const MASTERS: &[Case] = &[
    Case {
        name: "etcd learner that never starts",
        provoke: sh!("change add nobody --learner --peer-urls https://192.0.2.1:2380"),
        warnings: &["BS-DIAG-064"],
        evidence: "a member at https://192.0.2.1:2380 was added to etcd as a learner",
        fix: sh!("change remove $(ctl member list | grep 192.0.2.1 | cut -d, -f1)"),
        ..Case::PLAIN
    },
    Case {
        name: "two of three masters stand still",
        provoke: Deed::By(|bench| drop(bench.lab.run("pause", &NAMES[1..]).ok())),
        codes: &["BS-DIAG-036"],
        evidence: "1 of 3 voters healthy, 2 needed; master-02: no answer from https://",
        fix: Deed::By(|bench| drop(bench.lab.run("resume", &NAMES[1..]).ok())),
        ..Case::PLAIN
    },
    Case {
        name: "etcd of one master stopped",
        provoke: on!(THIRD, "systemctl stop etcd"),
        warnings: &["BS-DIAG-062"],
        evidence: "2 of 3 voters healthy, 2 needed; master-03: no answer from https://",
        stays: true,
        ..Case::PLAIN
    },
    Case {
        name: "data of one etcd lost",
        provoke: on!(THIRD, "systemctl stop etcd; rm -r /var/lib/etcd/member; systemctl start etcd"),
        warnings: &["BS-DIAG-063"],
        evidence: "master-03 is a member of etcd (2 of 3 voters healthy, 2 needed), and its machine has no data of etcd",
        elsewhere: &[Expected {
            machine: THIRD,
            codes: &["BS-DIAG-069"],
            warnings: &[],
            evidence: "/var/lib/etcd/member is not there",
        }],
        // One of those that bootstrapped etcd.
        fix: on!(THIRD, "blackstart node up"),
        ..Case::PLAIN
    },
    Case {
        name: "etcd of one master in a cluster of its own",
        // Its API server would serve an empty cluster to everybody.
        provoke: on!(
            THIRD,
            "systemctl stop kube-apiserver etcd
             mv /var/lib/etcd/member /var/lib/etcd-kept
             keep /var/lib/cluster-state/etcd-member-id /var/lib/etcd/initial.env
             rm /var/lib/cluster-state/etcd-member-id
             url=$(sed -n 's/^ETCD_INITIAL_CLUSTER=.*master-03=\\([^,]*\\).*/\\1/p' /var/lib/etcd/initial.env)
             printf 'ETCD_INITIAL_CLUSTER=master-03=%s\\nETCD_INITIAL_CLUSTER_STATE=new\\n' $url > /var/lib/etcd/initial.env
             systemctl start etcd"
        ),
        warnings: &["BS-DIAG-067"],
        evidence: "different clusters of etcd: master-01, master-02 in ",
        elsewhere: &[Expected {
            machine: THIRD,
            codes: &["BS-DIAG-006", "BS-DIAG-067"],
            warnings: &[],
            evidence: "different clusters of etcd: master-03 in ",
        }],
        fix: on!(
            THIRD,
            "systemctl stop etcd
             rm -r /var/lib/etcd/member
             mv /var/lib/etcd-kept /var/lib/etcd/member
             back /var/lib/cluster-state/etcd-member-id /var/lib/etcd/initial.env
             systemctl start etcd kube-apiserver"
        ),
        ..Case::PLAIN
    },
    Case {
        name: "master removed from etcd's members",
        provoke: sh!("change remove $(ctl member list | grep ', master-03,' | cut -d, -f1)"),
        warnings: &["BS-DIAG-066"],
        evidence: "master-03 is not among etcd's members (2 of 2 voters healthy, 2 needed)",
        elsewhere: &[Expected {
            machine: THIRD,
            codes: &["BS-DIAG-066"],
            warnings: &[],
            evidence: "this master is not among etcd's members",
        }],
        stays: true,
        ..Case::PLAIN
    },
    Case {
        name: "member of etcd without a vote",
        provoke: Deed::By(comes_back_as_learner),
        warnings: &["BS-DIAG-065"],
        evidence: "the member master-03 has no vote",
        elsewhere: &[Expected {
            machine: THIRD,
            codes: &["BS-DIAG-065"],
            warnings: &[],
            evidence: "etcd on this master has no vote",
        }],
        fix: on!(THIRD, "blackstart node up"),
        ..Case::PLAIN
    },
    Case {
        name: "member of etcd started on an empty disk",
        machine: THIRD,
        // The note is what keeps systemd from it.
        provoke: Deed::Sh(
            "systemctl stop etcd; rm -r /var/lib/etcd/member; rm /var/lib/cluster-state/etcd-member-id; systemctl start etcd",
        ),
        codes: &["BS-DIAG-039"],
        evidence: "Was the raft log corrupted, truncated, or lost?",
        // One that has joined.
        fix: Deed::Sh("systemctl stop etcd; rm -r /var/lib/etcd/member; blackstart node up"),
        ..Case::PLAIN
    },
];

/// A healthy master is warned of nothing that these cases provoke.
pub(crate) fn no_master_is_warned(bench: &Bench) {
    for machine in NAMES {
        let answer = bench.ask(machine, "");
        let warnings = answer.codes("warnings");
        let provoked = MASTERS.iter().flat_map(|case| case.warnings).find(|code| warnings.contains(**code));
        assert_eq!(provoked, None, "{machine}: {answer}");
    }
}

/// The third master is removed, if it is not yet, and brought in again by hand: announced, started, and never given its vote.
fn comes_back_as_learner(bench: &Bench) {
    let urls = bench.sh(THIRD, "systemctl stop etcd; sed -n 's/^ETCD_INITIAL_CLUSTER=//p' /var/lib/etcd/initial.env");
    let url = urls.split(',').find_map(|member| member.strip_prefix("master-03=")).expect("its own URL");
    let announce = with_tools!(
        "id=$(ctl member list | grep ', master-03,' | cut -d, -f1); [ -z \"$id\" ] || change remove $id
         change add master-03 --learner --peer-urls "
    );
    bench.sh(MASTER, &format!("{announce}{url}"));
    bench.sh(
        THIRD,
        "rm -r /var/lib/etcd/member /var/lib/cluster-state/etcd-member-id
         sed -i '/INITIAL_MEMBERS/d; s/STATE=.*/STATE=existing/' /var/lib/etcd/initial.env
         systemctl start etcd",
    );
}
