//! Nodes that are worked on in place, as the objects say. The manifests are applied as the guide says, but nobody acts on them: the
//! controller is scaled to 0 and the `DaemonSet` selects no node. So a state that takes a payload, a failure or a day to
//! come about is written into the object's status by hand, and what `diagnose` makes of it is what is tested. Budgets, pods, Secrets,
//! labels, cordons, files and units are real.

use crate::case::{Case, Deed, MASTER, WORKER};

/// Shell functions that these cases share, and the line that uses them.
macro_rules! parked {
    ($line:expr) => {
        concat!(
            r#"
LABEL=ibm-cloud.kubernetes.io/ipb-schedule ORDER=blackstart.io/upgrade-order REPORT=blackstart.io/upgrade-report
manifests() { blackstart reprovision manifests; }
# All of the manifests, and nobody at work.
park() {
  manifests | sed 's/^  replicas: 2$/  replicas: 0/; s/^        ibm-cloud.*ipb-schedule: "true"$/        no: such/' |
    kubectl apply --server-side -f -
  kubectl wait --for=condition=established --timeout=60s crd/nodeupgrades.blackstart.io
}
ago() { date -u -d "-$1 sec" +%Y-%m-%dT%H:%M:%SZ; }
# The object of a node, for so many seconds in a phase; the rest of its status.
upgrade() {
  echo "{apiVersion: blackstart.io/v1alpha1, kind: NodeUpgrade, metadata: {name: $1}}" | kubectl apply -f -
  kubectl patch nodeupgrade "$1" --subresource=status --type=merge \
    -p "{\"status\": {\"phase\": \"$2\", \"since\": \"$(ago $3)\", \"run\": \"r1\"${4:+, $4}}}"
}
because() { echo "\"failure\": {\"code\": \"$1\", \"message\": \"$2\", \"hint\": \"x\"}"; }
secret() {
  kubectl -n ipb-system create secret generic ipb-worker-01 --from-literal=region=eu-de
  kubectl -n ipb-system label secret ipb-worker-01 blackstart.io/ipb=true
}
tidy() {
  kubectl delete nodeupgrades --all --timeout=60s
  kubectl -n ipb-system delete secret ipb-worker-01 --ignore-not-found
  kubectl label node worker-01 $LABEL-
  kubectl annotate node worker-01 $ORDER- $REPORT-
}
"#,
            $line
        )
    };
}

/// What nearly all of them end with.
const TIDY: Deed = Deed::Sh(parked!("tidy"));

pub(crate) const IN_PLACE: &[Case] = &[
    Case {
        name: "in place: labelled, without the manifests",
        provoke: Deed::Sh(parked!(
            "manifests | kubectl delete --ignore-not-found --timeout=100s -f -
             kubectl label node worker-01 $LABEL=true"
        )),
        warnings: &["BS-DIAG-098", "BS-DIAG-097"],
        evidence: "the API knows no nodeupgrades.blackstart.io, there is no Deployment ipb-system/ipb-controller, \
                   there is no DaemonSet ipb-system/ipb-daemonset",
        fix: Deed::Sh(parked!("kubectl label node worker-01 $LABEL-")),
        ..Case::PLAIN
    },
    Case {
        name: "in place: labelled, without a Secret",
        provoke: Deed::Sh(parked!("park; kubectl label node worker-01 $LABEL=true")),
        warnings: &["BS-DIAG-097", "BS-DIAG-098"],
        evidence: "worker-01: there is no Secret ipb-worker-01 in ipb-system",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: labelled, without a pod",
        provoke: Deed::Sh(parked!(
            "park; secret; kubectl label node worker-01 $LABEL=true; upgrade worker-01 Preflight 300"
        )),
        codes: &["BS-DIAG-098"],
        warnings: &["BS-DIAG-099"],
        evidence: "no pod of ipb-daemonset is on it",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: a budget holds a pod",
        provoke: Deed::Sh(parked!(
            r#"park
            pause=$(ctr -n k8s.io images list -q | grep -m 1 /pause:)
            kubectl run held --image=$pause --labels=app=held --overrides '{"spec": {"nodeName": "worker-01"}}'
            kubectl create poddisruptionbudget held --selector=app=held --min-available=1
            kubectl wait pod/held --for=condition=Ready --timeout=60s
            upgrade worker-01 Draining 40"#
        )),
        codes: &["BS-DIAG-098"],
        warnings: &["BS-DIAG-095"],
        evidence: "pod default/held is held by budget held, which allows 0 to go",
        fix: Deed::Sh(parked!("kubectl delete pod/held pdb/held --now; tidy")),
        ..Case::PLAIN
    },
    Case {
        name: "in place: others hold all slots",
        provoke: Deed::Sh(parked!(
            r#"park; secret; upgrade worker-02 Applying 40
            why='"code": "BS-UPG-003", "message": "all slots are held: 1 of 1: worker-02", "hint": "x"'
            upgrade worker-01 Pending 40 "\"waitsFor\": {$why}""#
        )),
        codes: &["BS-DIAG-098"],
        warnings: &["BS-DIAG-096"],
        evidence: "worker-01 waits for a slot: held by worker-02 (Applying for ",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: a Secret a day after the end",
        provoke: Deed::Sh(parked!(
            "park; secret
             uid=$(kubectl -n ipb-system get secret ipb-worker-01 -o jsonpath={.metadata.uid})
             upgrade worker-01 Done 90000 \"\\\"secretUid\\\": \\\"$uid\\\"\""
        )),
        warnings: &["BS-DIAG-100"],
        evidence: "Secret ipb-worker-01 of worker-01 is there, and worker-01 has been Done for 25 h",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: a cordon whose object is gone",
        provoke: Deed::Sh(parked!("park; kubectl cordon worker-01; kubectl annotate node worker-01 $ORDER='{}'")),
        warnings: &["BS-DIAG-101"],
        evidence: "there is no NodeUpgrade worker-01",
        // As it is advised.
        fix: Deed::Sh("kubectl annotate node worker-01 blackstart.io/upgrade-order-; kubectl uncordon worker-01"),
        ..Case::PLAIN
    },
    Case {
        name: "in place: armed, and never committed",
        provoke: Deed::Sh(parked!("park; kubectl label node worker-01 $LABEL=true; upgrade worker-01 Armed 130")),
        codes: &["BS-DIAG-098"],
        warnings: &["BS-DIAG-102"],
        evidence: "worker-01 was to begin 2 min ago, and has not: its label is still there",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: not confirmed, and back by itself",
        provoke: Deed::Sh(parked!(
            "park; upgrade worker-01 RolledBack 40 \"$(because BS-IPB-006 'no confirmation in time')\""
        )),
        warnings: &["BS-DIAG-103"],
        evidence: "worker-01 went back by itself to what it was: BS-IPB-006: no confirmation in time",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: Stuck",
        provoke: Deed::Sh(parked!("park; upgrade worker-01 Stuck 40 \"$(because BS-IPB-010 'cannot undo tool')\"")),
        codes: &["BS-DIAG-104"],
        evidence: "keeps its slot: BS-IPB-010: cannot undo tool",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: no reboot, though one is due",
        provoke: Deed::Sh(parked!(
            r#"park
            boot=$(kubectl get node worker-01 -o jsonpath={.status.nodeInfo.bootID})
            report="{\"version\":1,\"run\":\"r1\",\"state\":\"rebooting\",\"message\":\"reboots\",\"bootId\":\"$boot\",\"at\":\"$(ago 300)\"}"
            kubectl annotate node worker-01 --overwrite "$REPORT=$report"
            upgrade worker-01 Rebooting 300 "\"bootIdBefore\": \"$boot\"""#
        )),
        codes: &["BS-DIAG-098"],
        warnings: &["BS-DIAG-105"],
        evidence: "is Ready in the boot from before",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: the progress API refuses",
        provoke: Deed::Sh(parked!(
            r#"park
            error='"code": "BS-UPG-030", "message": "https://progress.example answers 401", "hint": "x"'
            upgrade worker-01 Done 40 "\"outbox\": {\"seq\": 3, \"dropped\": 3, \"lastError\": {$error}}""#
        )),
        warnings: &["BS-DIAG-106"],
        evidence: "https://progress.example answers 401; 0 to be delivered, 3 dropped",
        fix: TIDY,
        ..Case::PLAIN
    },
    Case {
        name: "in place: a file that RHCOS would apply at its next boot",
        machine: WORKER,
        provoke: Deed::Sh("echo '{}' > /etc/ignition-machine-config-encapsulated.json"),
        warnings: &["BS-DIAG-107"],
        evidence: "/etc/ignition-machine-config-encapsulated.json is there without a run",
        fix: Deed::Sh("rm /etc/ignition-machine-config-encapsulated.json"),
        ..Case::PLAIN
    },
    Case {
        name: "in place: another updater on a node that is labelled",
        machine: WORKER,
        provoke: Deed::By(|bench| {
            bench.sh(MASTER, parked!("park; kubectl label node worker-01 $LABEL=true"));
            bench.sh(WORKER, "systemd-run --quiet --collect --unit=zincati.service sleep 600");
        }),
        warnings: &["BS-DIAG-108"],
        evidence: "active beside the work on this node: zincati.service",
        fix: Deed::By(|bench| {
            bench.sh(WORKER, "systemctl stop zincati.service");
            bench.sh(MASTER, parked!("tidy; manifests | kubectl delete --ignore-not-found --timeout=100s -f -"));
        }),
        ..Case::PLAIN
    },
];
