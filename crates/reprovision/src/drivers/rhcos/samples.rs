//! A stand-in for what an ignition server serves: a small builder of payloads.

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use super::payload::{ENCAPSULATED, FULL};

pub(super) const MCO: &str =
    "registry.lab:5000/ocp/release@sha256:1111111111111111111111111111111111111111111111111111111111111111";
pub(super) const OS: &str =
    "registry.lab:5000/ocp/os@sha256:2222222222222222222222222222222222222222222222222222222222222222";
pub(super) const OLD_OS: &str =
    "registry.lab:5000/ocp/os@sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// What is served, as far as tests vary it.
#[derive(Clone)]
pub(super) struct Sample {
    pub(super) version: String,
    pub(super) name: String,
    pub(super) os: String,
    pub(super) encapsulated_os: Option<String>,
    pub(super) mco: String,
    pub(super) first_boot: Option<String>,
    pub(super) leave_out: Vec<String>,
    pub(super) gzip: bool,
    /// Laid over the `MachineConfig`'s `spec`.
    pub(super) spec: Value,
    /// Laid over its Ignition config.
    pub(super) config: Value,
    /// Paths and texts of files besides.
    pub(super) files: Vec<(String, String)>,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            version: "3.2.0".into(),
            name: "rendered-worker-new".into(),
            os: OS.into(),
            encapsulated_os: None,
            mco: MCO.into(),
            first_boot: None,
            leave_out: Vec::new(),
            gzip: false,
            spec: json!({}),
            config: json!({}),
            files: Vec::new(),
        }
    }
}

impl Sample {
    /// The `MachineConfig`.
    pub(super) fn full(&self) -> Value {
        let pull = format!(
            "[Service]\nExecStart=/bin/sh -c \"while ! /usr/bin/podman pull --authfile=/var/lib/kubelet/config.json '{}'; do sleep 1; done\"\n",
            self.mco
        );
        let run = format!(
            "[Service]\nExecStartPre=-/usr/bin/sh -c \"sed -i 's/enabled=1/enabled=0/' /etc/yum.repos.d/*.repo\"\n\
             ExecStart=/usr/bin/podman run --rm --privileged --net=host -v /:/rootfs  --entrypoint machine-config-daemon '{0}' firstboot-complete-machineconfig --persist-nics\n",
            self.first_boot.as_ref().unwrap_or(&self.mco)
        );
        let mut files = vec![
            file("/etc/crio/crio.conf", "new\n"),
            file("/var/lib/kubelet/config.json", r#"{"auths":{"registry.lab:5000":{"auth":"dTpw"}}}"#),
        ];
        files.extend(self.files.iter().map(|(path, text)| file(path, text)));
        let mut config = json!({
            "ignition": {"version": self.version},
            "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA"]}]},
            "storage": {"files": files},
            "systemd": {"units": [
                {"name": "machine-config-daemon-pull.service", "enabled": true, "contents": pull},
                {"name": "machine-config-daemon-firstboot.service", "enabled": true, "contents": run},
                {"name": "kubelet.service", "enabled": true, "contents": "[Service]\n",
                 "dropins": [{"name": "10-mco.conf", "contents": "[Service]\n"}]},
            ]},
        });
        lay(&mut config, &self.config);
        let mut spec = json!({"osImageURL": self.os, "config": config, "kernelArguments": ["mitigations=auto"],
            "extensions": [], "fips": false, "kernelType": "default"});
        lay(&mut spec, &self.spec);
        json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
            "metadata": {"name": self.name}, "spec": spec})
    }

    /// What is served.
    pub(super) fn value(&self) -> Value {
        let full = self.full();
        let mut encapsulated = full.clone();
        encapsulated["spec"]["config"] = json!({"ignition": {"version": self.version}});
        if let Some(os) = &self.encapsulated_os {
            encapsulated["spec"]["osImageURL"] = json!(os);
        }
        let mut served = full["spec"]["config"].clone();
        let content = if self.gzip { gzip(FULL, &full) } else { file(FULL, &full.to_string()) };
        let added = [
            file("/etc/kubernetes/kubelet-ca.crt", "a CA"),
            file("/etc/machine-config-daemon/node-annotations.json", "{}"),
            file("/etc/kubernetes/kubeconfig", "a key"),
            content,
            file("/etc/docker/certs.d/registry.lab:5000/ca.crt", "another CA"),
            file(ENCAPSULATED, &encapsulated.to_string()),
        ];
        if let Some(files) = served["storage"]["files"].as_array_mut() {
            files.extend(added);
            files.retain(|file| !self.leave_out.iter().any(|path| file["path"] == json!(path)));
        }
        served
    }

    /// Its bytes.
    pub(super) fn served(&self) -> Vec<u8> {
        serde_json::to_vec(&self.value()).unwrap()
    }
}

/// A file as the servers of `OpenShift` write one.
pub(super) fn file(path: &str, text: &str) -> Value {
    let escaped: String = text
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect();
    json!({"path": path, "mode": 0o644, "overwrite": true, "contents": {"source": format!("data:,{escaped}")}})
}

fn gzip(path: &str, value: &Value) -> Value {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(value.to_string().as_bytes()).unwrap();
    let source = format!("data:;base64,{}", STANDARD.encode(packed.finish().unwrap()));
    json!({"path": path, "mode": 0o644, "overwrite": true, "contents": {"source": source, "compression": "gzip"}})
}

fn lay(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                lay(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above.clone(),
    }
}
