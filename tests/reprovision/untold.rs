//! The token is nowhere but in its Secret, and for a while in a file of the node that only root reads.

use crate::{MASTER, WORKER, api, support::Cluster};

/// Looks at all processes of the node again and again, also before its kubelet. The token is in a file, so that the search does not
/// find itself.
const WATCH: &str = r"set -eu
install -d -m 0700 /root/watch
cat > /root/watch/token
cat > /root/watch/watch.sh <<'END'
while :; do
    grep -F -l -a -f /root/watch/token /proc/[0-9]*/cmdline /proc/[0-9]*/environ >> /root/watch/found 2>/dev/null
    echo >> /root/watch/looks
    sleep 0.2
done
END
cat > /etc/systemd/system/watch-processes.service <<'END'
[Unit]
DefaultDependencies=no
After=local-fs.target
Before=blackstart-reprovision-boot.service
[Service]
Nice=5
ExecStart=/bin/sh /root/watch/watch.sh
[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload
systemctl enable --quiet --now watch-processes";

/// A run under the eyes of [`WATCH`].
pub(crate) struct Watch<'a> {
    cluster: &'a Cluster,
}

impl<'a> Watch<'a> {
    pub(crate) fn begin(cluster: &'a Cluster) -> Self {
        let token = api::TOKEN.as_bytes();
        cluster.lab.feed("exec", &[WORKER, "--", "sh", "-c", WATCH], token).ok();
        Self { cluster }
    }

    /// Nothing was found, in many looks, and what is there is found.
    #[track_caller]
    pub(crate) fn end(self) {
        let Self { cluster } = self;
        let found = cluster.sh(WORKER, "cat /root/watch/found 2>/dev/null || true");
        assert_eq!(found, "", "a process has shown the token");
        let looks: u32 = cluster.sh(WORKER, "wc -l < /root/watch/looks").parse().unwrap();
        eprintln!("looked at all processes {looks} times");
        assert!(looks > 20, "{looks}");
        cluster.sh(WORKER, "sh -c 'sleep 4; :' \"$(cat /root/watch/token)\"");
        let found = cluster.sh(WORKER, "cat /root/watch/found");
        assert!(found.contains("/cmdline"), "a process that shows it is found: {found}");
        cluster.sh(
            WORKER,
            "systemctl disable --quiet --now watch-processes
             rm -r /root/watch /etc/systemd/system/watch-processes.service; systemctl daemon-reload",
        );
    }
}

/// The token is in no journal, no object but its Secret, no argument and no environment.
#[track_caller]
pub(crate) fn assert_untold(cluster: &Cluster) {
    assert_untold_of(cluster, WORKER);
}

/// The same of another node.
#[track_caller]
pub(crate) fn assert_untold_of(cluster: &Cluster, name: &str) {
    let token = api::TOKEN;
    // Split, so that the search does not find itself.
    let (one, two) = token.split_at(6);
    let search = format!("t={one}; t=$t{two}; ");
    let journal = format!("{search} ! journalctl --no-pager -o cat | grep -F -q \"$t\"");
    assert_eq!(cluster.try_sh(name, &journal).code, Some(0), "the journal has the token");
    let processes = format!("{search} ! grep -F -l -a -- \"$t\" /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null");
    assert_eq!(cluster.try_sh(name, &processes).out, "", "a process shows the token");
    for what in ["nodes", "nodeupgrades", "pods,events -A"] {
        let shown = cluster.sh(
            MASTER,
            &format!("kubectl get {what} -o yaml; kubectl logs -n ipb-system -l app=ipb-controller --tail=-1"),
        );
        assert!(!shown.contains(token), "{what} show the token");
    }
}

/// No archive has it.
#[track_caller]
pub(crate) fn assert_not_gathered(cluster: &Cluster) {
    let (one, two) = api::TOKEN.split_at(6);
    for machine in [MASTER, WORKER] {
        let line = format!(
            "t={one}; t=$t{two}; rm -rf /root/gathered; mkdir /root/gathered; cd /root/gathered
             blackstart gather --to all.tar.gz > /dev/null && tar xzf all.tar.gz && rm all.tar.gz
             test $(find . -type f | wc -l) -gt 20 && ! grep -r -F -l -a -- \"$t\" .; code=$?; rm -r /root/gathered; exit $code"
        );
        let output = cluster.try_sh(machine, &line);
        assert_eq!(output.code, Some(0), "an archive of {machine} has the token: {output:?}");
    }
}
