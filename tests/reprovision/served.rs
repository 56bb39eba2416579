//! What an ignition server would serve: a `MachineConfig`, and the files that the server adds to it.

use serde_json::{Value, json};

use crate::{
    SERVER,
    registry::{self, Image},
    support::Cluster,
};

/// Its path alone would make a system provision itself.
pub(crate) const ENCAPSULATED: &str = "/etc/ignition-machine-config-encapsulated.json";
const FULL: &str = "/etc/mcs-machine-config-content.json";
/// An argument of the new kernel.
pub(crate) const ARGUMENT: &str = "stand-in.config=new";

/// A payload, as far as checks vary it.
pub(crate) struct Payload {
    pub(crate) daemon: String,
    pub(crate) os: String,
    /// Files besides.
    pub(crate) files: Vec<Value>,
    /// What is laid over the kubelet's unit.
    pub(crate) kubelet: String,
    /// Directories, which cannot be made in place.
    pub(crate) directories: Vec<Value>,
}

impl Payload {
    /// One that is fine.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let packed = cluster.sh(SERVER, "printf 'packed\\n' | gzip -9n | base64 -w0");
        let files = vec![
            file("/etc/stand-in/both.conf", "new\n", 0o644),
            json!({"path": "/etc/stand-in/private.conf", "mode": 0o600, "overwrite": true,
                "contents": {"source": "data:text/plain;charset=utf-8;base64,cHJpdmF0ZQo="}}),
            json!({"path": "/etc/stand-in/packed.conf", "mode": 0o640, "overwrite": true,
                "contents": {"source": format!("data:;base64,{packed}"), "compression": "gzip"}}),
            file("/etc/stand-in/odd name, 50%.conf", "a b\t100%\n\u{e9}\n", 0o644),
            file("/usr/local/bin/stand-in", "#!/bin/sh\nexit 0\n", 0o755),
            file("/var/lib/kubelet/config.json", &registry::pull_secret(cluster), 0o600),
        ];
        Self {
            daemon: registry::image(cluster, Image::Daemon),
            os: registry::image(cluster, Image::NewSystem),
            files,
            kubelet: "[Service]\nEnvironment=STAND_IN=new\n".to_owned(),
            directories: Vec::new(),
        }
    }

    /// The `MachineConfig`.
    fn full(&self) -> Value {
        let config = json!({
            "ignition": {"version": "3.2.0"},
            "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA stand-in"]}]},
            "storage": {"files": self.files, "directories": self.directories},
            "systemd": {"units": self.units()},
        });
        machine_config("rendered-worker-new", &self.os, &config)
    }

    fn units(&self) -> Vec<Value> {
        let firstboot = |command: &str| {
            format!(
                "[Unit]\nConditionPathExists={ENCAPSULATED}\n[Service]\nType=oneshot\nExecStart={command}\n\
                 [Install]\nWantedBy=multi-user.target\n"
            )
        };
        let pull = format!("/usr/bin/podman pull --authfile=/var/lib/kubelet/config.json '{}'", self.daemon);
        let run = format!(
            "/usr/bin/podman run --rm --privileged --pid=host --net=host -v /:/rootfs --entrypoint machine-config-daemon \
             '{}' firstboot-complete-machineconfig",
            self.daemon
        );
        let ours = "[Unit]\nBefore=kubelet.service\n[Service]\nType=oneshot\nRemainAfterExit=yes\n\
                    ExecStart=/usr/local/bin/stand-in\n[Install]\nWantedBy=multi-user.target\n";
        let units = [
            json!({"name": "machine-config-daemon-pull.service", "enabled": true, "contents": firstboot(&pull)}),
            json!({"name": "machine-config-daemon-firstboot.service", "enabled": true, "contents": firstboot(&run)}),
            json!({"name": "stand-in-new.service", "enabled": true, "contents": ours}),
            json!({"name": "stand-in-off.service", "enabled": false, "contents": ours}),
            json!({"name": "stand-in-masked.service", "mask": true}),
            json!({"name": "kubelet.service", "dropins":
                [{"name": "90-stand-in.conf", "contents": self.kubelet}]}),
        ];
        units.into()
    }

    /// What is served.
    pub(crate) fn served(&self, cluster: &Cluster) -> Value {
        let full = self.full();
        let mut encapsulated = full.clone();
        encapsulated["spec"]["config"] = json!({"ignition": {"version": "3.2.0"}});
        let mut served = full["spec"]["config"].clone();
        let annotations = json!({"machineconfiguration.openshift.io/currentConfig": "rendered-worker-new",
            "machineconfiguration.openshift.io/desiredConfig": "rendered-worker-new",
            "machineconfiguration.openshift.io/state": "Done"});
        let ca = format!("/etc/docker/certs.d/{}/ca.crt", registry::at(cluster));
        let added = [
            file("/etc/kubernetes/kubelet-ca.crt", "a CA\n", 0o644),
            file("/etc/machine-config-daemon/node-annotations.json", &annotations.to_string(), 0o644),
            file("/etc/kubernetes/kubeconfig", "stand-in for a kubeconfig\n", 0o644),
            file(FULL, &serde_json::to_string_pretty(&full).unwrap(), 0o644),
            file(&ca, &format!("{}\n", cluster.sh(SERVER, "cat /srv/api/ca.pem")), 0o644),
            file(ENCAPSULATED, &encapsulated.to_string(), 0o644),
        ];
        served["storage"]["files"].as_array_mut().unwrap().extend(added);
        served
    }
}

/// A `MachineConfig` as `OpenShift` renders one.
pub(crate) fn machine_config(name: &str, os: &str, config: &Value) -> Value {
    json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
        "metadata": {"name": name, "creationTimestamp": null},
        "spec": {"osImageURL": os, "config": config, "kernelArguments": [ARGUMENT], "extensions": [], "fips": false,
            "kernelType": "default"}})
}

/// A file as servers of `OpenShift` write one.
pub(crate) fn file(path: &str, text: &str, mode: u32) -> Value {
    let escaped: String = text
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect();
    json!({"path": path, "mode": mode, "overwrite": true, "contents": {"source": format!("data:,{escaped}")}})
}
