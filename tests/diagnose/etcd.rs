//! etcd of a cluster with one master.

use crate::case::{Case, Deed};

pub(crate) const ETCD: &[Case] = &[
    Case {
        name: "etcd hangs",
        provoke: Deed::Sh("systemctl kill --signal=STOP etcd"),
        codes: &["BS-ETCD-001"],
        evidence: "2379",
        fix: Deed::Sh("systemctl kill --signal=CONT etcd"),
        ..Case::PLAIN
    },
    Case {
        name: "etcd out of space",
        provoke: sh!("id=$(etcd_api https://127.0.0.1:2379/v3/maintenance/status -d '{}' | sed 's/.*\"member_id\":\"\\([0-9]*\\)\".*/\\1/')
                      etcd_api https://127.0.0.1:2379/v3/maintenance/alarm \
                        -d \"{\\\"action\\\":\\\"ACTIVATE\\\",\\\"memberID\\\":\\\"$id\\\",\\\"alarm\\\":\\\"NOSPACE\\\"}\""),
        codes: &["BS-DIAG-037"],
        evidence: "NOSPACE",
        fix: sh!("id=$(etcd_api https://127.0.0.1:2379/v3/maintenance/status -d '{}' | sed 's/.*\"member_id\":\"\\([0-9]*\\)\".*/\\1/')
                   etcd_api https://127.0.0.1:2379/v3/maintenance/alarm \
                     -d \"{\\\"action\\\":\\\"DEACTIVATE\\\",\\\"memberID\\\":\\\"$id\\\",\\\"alarm\\\":\\\"NOSPACE\\\"}\""),
        ..Case::PLAIN
    },
    Case {
        name: "etcd's database near its limit",
        // Large enough that a few writes do not fill it, and in pieces small enough that few bytes move with each of them.
        provoke: sh!("piece=$(head -c 16000 /dev/zero | tr '\\0' x)
                      for i in 1 2 3 4 5 6; do
                        { echo; for j in $(seq 80); do echo \"put /filler/$i-$j $piece\"; done; echo; echo; } | ctl txn >/dev/null
                      done
                      ctl defrag
                      size=$(etcd_api https://127.0.0.1:2379/v3/maintenance/status -d '{}' | sed 's/.*\"dbSize\":\"\\([0-9]*\\)\".*/\\1/')
                      systemctl set-environment ETCD_QUOTA_BACKEND_BYTES=$((size * 100 / 85))
                      systemctl restart etcd
                      until kubectl --request-timeout 5s get --raw /readyz; do sleep 0.3; done"),
        warnings: &["BS-DIAG-068"],
        evidence: "of at most",
        fix: sh!("systemctl unset-environment ETCD_QUOTA_BACKEND_BYTES; systemctl restart etcd
                   until ctl del /filler/ --prefix; do sleep 0.3; done
                   ctl alarm disarm"),
        ..Case::PLAIN
    },
    Case {
        name: "etcd without a majority",
        provoke: sh!("etcd_api https://127.0.0.1:2379/v3/cluster/member/add -d '{\"peerURLs\":[\"https://192.0.2.1:2380\"]}'"),
        codes: &["BS-DIAG-036"],
        evidence: "1 of 2 voters healthy, 2 needed; a member at https://192.0.2.1:2380 that never started",
        fix: Deed::Sh(
            "mkdir -p /run/systemd/system/etcd.service.d
             printf '[Service]\\nEnvironment=ETCD_FORCE_NEW_CLUSTER=true\\n' > /run/systemd/system/etcd.service.d/alone.conf
             systemctl daemon-reload
             systemctl restart etcd
             rm -r /run/systemd/system/etcd.service.d
             systemctl daemon-reload",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "etcd's data damaged",
        provoke: Deed::Sh(
            "systemctl stop etcd
             mkdir -p /run/kept
             mv /var/lib/etcd /run/kept/etcd
             cp -a /run/kept/etcd /var/lib/etcd
             for f in /var/lib/etcd/member/wal/*.wal; do printf nonsense | dd of=$f bs=1 seek=64 conv=notrunc status=none; done
             systemctl start --no-block etcd",
        ),
        codes: &["BS-DIAG-039"],
        evidence: "etcd logged",
        fix: Deed::Sh("systemctl stop etcd; rm -r /var/lib/etcd; mv /run/kept/etcd /var/lib/etcd
             systemctl start etcd"),
        ..Case::PLAIN
    },
];
