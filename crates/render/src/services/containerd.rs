//! containerd, the container runtime.

use crate::{
    Cgroup, Machine,
    paths::CONTAINERD_SOCKET,
    service::{RenderedFile, Service},
    unit::{Command, Unit},
};

const CONFIG: &str = "/etc/containerd/config.toml";
/// Where `crictl` finds it.
const CRICTL: &str = "/etc/crictl.yaml";

/// The container runtime, with this image for the process that holds a pod's namespaces.
pub fn containerd(machine: &Machine, pause_image: &str) -> Service {
    Unit::new("containerd.service", "containerd container runtime")
        .unit("Documentation", "https://containerd.io")
        .after("dbus.service")
        .service("Type", "notify")
        // Optional: where it is built in there is no module.
        .service("ExecStartPre", "-modprobe overlay")
        .exec(&Command::new("containerd").flag("config", CONFIG))
        .restarted("2s")
        // It makes the groups of containers itself, and containers outlive it.
        .service("Delegate", "yes")
        .service("KillMode", "process")
        .service("TasksMax", "infinity")
        .service("OOMScoreAdjust", -999)
        .into_service(vec![
            RenderedFile::public(CONFIG, config(machine, pause_image)),
            RenderedFile::public(
                CRICTL,
                format!("runtime-endpoint: {CONTAINERD_SOCKET}\nimage-endpoint: {CONTAINERD_SOCKET}\n"),
            ),
        ])
}

fn config(machine: &Machine, pause_image: &str) -> String {
    let systemd_cgroup = machine.cgroup == Cgroup::V2;
    // A container cannot get a lower out-of-memory score than containerd itself may give away.
    let restrict = !machine.may_raise_limits;
    format!(
        r#"version = 3

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "{pause_image}"

[plugins."io.containerd.cri.v1.runtime"]
restrict_oom_score_adj = {restrict}

[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["/opt/cni/bin"]
conf_dir = "/etc/cni/net.d"

[plugins."io.containerd.cri.v1.runtime".containerd]
default_runtime_name = "runc"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "/usr/local/bin/runc"
SystemdCgroup = {systemd_cgroup}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{lab, metal, whole};

    const PAUSE: &str = "blackstart.local/pause:3.10.2";

    #[test]
    fn in_the_lab() {
        insta::assert_snapshot!(whole(&containerd(&lab(), PAUSE)));
    }

    #[test]
    fn metal_lets_systemd_make_the_groups() {
        let text = config(&metal(), PAUSE);
        assert!(text.contains("SystemdCgroup = true"), "{text}");
        assert!(text.contains("restrict_oom_score_adj = false"), "{text}");
    }
}
