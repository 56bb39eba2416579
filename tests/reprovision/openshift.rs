//! A machine that stands in for one of RHCOS: deployments by real ostree behind a stand-in for rpm-ostree, real podman, and the
//! files that a node of `OpenShift` has.

use serde_json::{Value, json};

use crate::{
    SERVER, WORKER, api,
    registry::{self, Image},
    served::{self, ENCAPSULATED, file},
    support::Cluster,
};

const RPM_OSTREE: &str = include_str!("stand_in_rpm_ostree.py");
/// What the stand-in for the machine-config-daemon notes.
const NOTES: &str = "/var/lib/stand-in-mcd";
const CURRENT: &str = "/etc/machine-config-daemon/currentconfig";

/// An overlay can hold no repository of ostree; containers have all of their files copied, and no control groups of version 2 here.
const MACHINE: &str = r#"set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get install --yes -q --no-install-recommends ostree gir1.2-ostree-1.0 python3-gi podman runc skopeo
mkdir -p /etc/containers /sysroot /var/lib/containerd/sysroot /home/core
printf '[storage]\ndriver = "vfs"\ngraphroot = "/var/lib/containers/storage"\nrunroot = "/run/containers/storage"\n' \
    > /etc/containers/storage.conf
printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n' \
    > /etc/containers/containers.conf
echo '/var/lib/containerd/sysroot /sysroot none bind 0 0' >> /etc/fstab
mountpoint -q /sysroot || mount /sysroot
ln -sfn sysroot/ostree /ostree
chmod 755 /usr/bin/rpm-ostree
id -u core > /dev/null 2>&1 || useradd --create-home core
cat > /etc/systemd/system/ostree-finalize-staged.service <<'EOF'
[Unit]
Description=Stand-in for what ostree and the boot loader do around a reboot
DefaultDependencies=no
RequiresMountsFor=/sysroot /boot /var/lib/containerd
After=local-fs.target
Before=sysinit.target shutdown.target
Conflicts=shutdown.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/rpm-ostree stand-in-boot
ExecStop=/usr/bin/rpm-ostree stand-in-shutdown
TimeoutStopSec=60
[Install]
WantedBy=sysinit.target
EOF
systemctl daemon-reload"#;

/// Nothing of an earlier run is left, and the old system is the only one.
const AFRESH: &str = r"set -eu
systemctl stop stand-in-new.service stand-in-old.service 2> /dev/null || true
cd /etc/systemd/system
rm -rf stand-in-*.service machine-config-daemon-*.service *.wants/stand-in-* *.wants/machine-config-daemon-* \
    kubelet.service.d/90-stand-in.conf ../network/98-nmstate-stand-in.link
rmdir kubelet.service.d 2> /dev/null || true
rm -rf /etc/stand-in /etc/machine-config-daemon /etc/mcs-machine-config-content.json @ENCAPSULATED@* /etc/kubernetes/kubelet-ca.crt \
    /etc/kubernetes/kubeconfig /usr/local/bin/stand-in /home/core/.ssh @NOTES@ /run/machine-config-daemon*
podman rm --all --force > /dev/null
podman rmi --all --force > /dev/null
mkdir -p /etc/stand-in /etc/machine-config-daemon /run/ostree /etc/docker/certs.d/@AT@
ln -sf /var/lib/kubelet/config.json /run/ostree/auth.json
echo old > /etc/stand-in/both.conf
echo old > /etc/stand-in/old.conf
printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' > stand-in-old.service
systemctl daemon-reload
systemctl enable --quiet --now stand-in-old.service";

/// Makes the machine what it is for this, and the registry; once.
fn prepare(cluster: &Cluster) {
    if cluster.try_sh(WORKER, "test -x /usr/bin/rpm-ostree").code == Some(0) {
        return;
    }
    registry::serve(cluster);
    api::write(cluster, WORKER, "/usr/bin/rpm-ostree", RPM_OSTREE.as_bytes());
    cluster.sh(WORKER, MACHINE);
}

/// A node with the old system and the old `MachineConfig`.
pub(crate) fn afresh(cluster: &Cluster) {
    prepare(cluster);
    let at = registry::at(cluster);
    let filled = AFRESH.replace("@AT@", &at).replace("@ENCAPSULATED@", ENCAPSULATED).replace("@NOTES@", NOTES);
    cluster.sh(WORKER, &filled);
    let ca = cluster.sh(SERVER, "cat /srv/api/ca.pem");
    let old = registry::image(cluster, Image::OldSystem);
    let config = json!({
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [file("/etc/stand-in/both.conf", "old\n", 0o644), file("/etc/stand-in/old.conf", "old\n", 0o644)]},
        "systemd": {"units": [{"name": "stand-in-old.service", "enabled": true, "contents": "[Service]\n"}]},
    });
    let config = served::machine_config("rendered-worker-old", &old, &config).to_string();
    for (path, text) in [
        (&*format!("/etc/docker/certs.d/{at}/ca.crt"), &*format!("{ca}\n")),
        ("/var/lib/kubelet/config.json", &registry::pull_secret(cluster)),
        (CURRENT, &config),
    ] {
        api::write(cluster, WORKER, path, text.as_bytes());
    }
    cluster.sh(
        WORKER,
        &format!(
            "rpm-ostree stand-in-reset {old} stand-in.config=old
            systemctl enable --quiet ostree-finalize-staged.service; systemctl restart ostree-finalize-staged.service"
        ),
    );
    api::calls(cluster);
    api::progress(cluster);
    cluster.sh(SERVER, &format!("printf %s '{}' > /srv/api/token", api::TOKEN));
}

/// What rpm-ostree says of deployments: image, and flags of `bsp` (booted, staged, pinned).
pub(crate) fn deployments(cluster: &Cluster) -> Vec<(String, String)> {
    let status: Value = serde_json::from_str(&cluster.sh(WORKER, "rpm-ostree status --json")).unwrap();
    let flags = |one: &Value| {
        let all = [("booted", 'b'), ("staged", 's'), ("pinned", 'p')];
        all.into_iter().filter(|(flag, _)| one[flag] == true).map(|(_, letter)| letter).collect()
    };
    let image = |one: &Value| {
        crate::support::text(&one["container-image-reference"]).replace("ostree-unverified-registry:", "")
    };
    status["deployments"].as_array().unwrap().iter().map(|one| (image(one), flags(one))).collect()
}

/// How podman was called for the machine-config-daemon, by its own record.
pub(crate) fn calls(cluster: &Cluster) -> Vec<String> {
    let lines = cluster.sh(WORKER, &format!("cat {NOTES}/calls 2> /dev/null || true"));
    let words = |line| serde_json::from_str::<Vec<String>>(line).unwrap();
    lines.lines().map(|line| words(line).join(" ")).collect()
}

/// The `MachineConfig` that the machine-config-daemon was given by the driver, as it was.
pub(crate) fn given(cluster: &Cluster) -> String {
    cluster.sh(WORKER, &format!("cat {NOTES}/given.json"))
}

/// Every file and link of the machine that may be changed, with its mode and its sum; what is booted; which containers are there.
pub(crate) fn fingerprint(cluster: &Cluster) -> String {
    let files = cluster.sh(
        WORKER,
        "cd /; find etc home/core usr/local/bin var/lib/kubelet/config.json \\( -type f -o -type l \\) \
             ! -name 'blackstart-reprovision*' | sort > /run/paths
         tr '\\n' '\\0' < /run/paths | xargs -0 stat -c '%a %N'
         while IFS= read -r path; do [ -L \"$path\" ] || sha256sum \"$path\"; done < /run/paths
         podman ps --all --quiet; ls /run/stand-in-staged.json 2> /dev/null || true",
    );
    let mut booted = deployments(cluster);
    booted.retain(|(_, flags)| flags.contains('b'));
    format!("{files}\n{booted:?}")
}
