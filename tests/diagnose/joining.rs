//! A worker that lost what it was handed, and what keeps it from being handed it again.

use crate::case::{Case, Deed, MASTER, WORKER};

pub(crate) const JOINING: &[Case] = &[
    Case {
        name: "kubeconfig of the agent lost",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf; rm /etc/kubernetes/agent.conf"),
        codes: &["BS-DIAG-033"],
        evidence: "agent.conf is not there",
        fix: sh!("back /etc/kubernetes/agent.conf"),
        ..Case::PLAIN
    },
    Case {
        name: "join secret expired",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf $CONFIG/join-secret; rm /etc/kubernetes/agent.conf
                      sed -i -E 's/^(v[0-9]+\\.worker-01\\.[0-9]+\\.)[0-9]+/\\11700000000/' $CONFIG/join-secret"),
        codes: &["BS-JOIN-003"],
        evidence: "ended on 2023-11-14",
        fix: sh!("back /etc/kubernetes/agent.conf $CONFIG/join-secret"),
        ..Case::PLAIN
    },
    Case {
        name: "join secret of another node",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf $CONFIG/join-secret; rm /etc/kubernetes/agent.conf
                      sed -i 's/worker-01/worker-09/' $CONFIG/join-secret"),
        codes: &["BS-JOIN-004"],
        evidence: "worker-09",
        fix: sh!("back /etc/kubernetes/agent.conf $CONFIG/join-secret"),
        ..Case::PLAIN
    },
    Case {
        name: "CA that does not fit its pin",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf $CONFIG/ca.crt; rm /etc/kubernetes/agent.conf
                      stranger /run/kept/stranger.key $CONFIG/ca.crt"),
        codes: &["BS-JOIN-031"],
        evidence: "ca-pin",
        fix: sh!("back /etc/kubernetes/agent.conf $CONFIG/ca.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "sealed for another cluster",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf $CONFIG/ca.crt $CONFIG/ca-pin; rm /etc/kubernetes/agent.conf
                      stranger /run/kept/stranger.key $CONFIG/ca.crt
                      sum=$(openssl x509 -in $CONFIG/ca.crt -noout -pubkey | openssl pkey -pubin -outform der | sha256sum)
                      echo sha256:${sum%% *} > $CONFIG/ca-pin"),
        codes: &["BS-JOIN-020"],
        evidence: "signed by another CA",
        fix: sh!("back /etc/kubernetes/agent.conf $CONFIG/ca.crt $CONFIG/ca-pin"),
        ..Case::PLAIN
    },
    Case {
        name: "join service stopped",
        machine: WORKER,
        provoke: Deed::By(|bench| {
            bench.sh(MASTER, "systemctl stop blackstart-agent");
            bench.sh(WORKER, with_tools!("keep /etc/kubernetes/agent.conf; rm /etc/kubernetes/agent.conf"));
        }),
        codes: &["BS-JOIN-019"],
        evidence: "refused",
        fix: Deed::By(|bench| {
            bench.sh(WORKER, with_tools!("back /etc/kubernetes/agent.conf"));
            bench.sh(MASTER, "systemctl start blackstart-agent");
        }),
        ..Case::PLAIN
    },
];
