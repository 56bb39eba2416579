//! The `MachineConfig` that the machine-config-daemon is given.
//!
//! It writes the files of the `MachineConfig` it is given and no others. Those that the server added to what it serves are in none:
//! so each of them is appended, in the order in which it is served. What is left out is the file whose path alone would
//! make the system provision itself at its next boot.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    machine_config::MachineConfig,
    payload::{ENCAPSULATED, Payload},
    problem::Problem,
};
use crate::codes::{BAD_PAYLOAD, INCOMPLETE_PAYLOAD};

/// Without the first the daemon fails, without the second the node is nobody's.
const NEEDED: [&str; 2] = ["/etc/kubernetes/kubeconfig", "/etc/machine-config-daemon/node-annotations.json"];

/// Brings both together.
pub(super) fn transform(payload: &Payload) -> Result<MachineConfig, Vec<Problem>> {
    let known: BTreeSet<&str> = payload.full.paths().chain([ENCAPSULATED]).collect();
    let added = payload.files().iter().filter(|file| path(file).is_some_and(|path| !known.contains(path)));
    let files: Vec<Value> = payload.full.files().iter().chain(added).cloned().collect();
    let missing = NEEDED.iter().filter(|needed| !files.iter().any(|file| path(file) == Some(**needed)));
    let problems: Vec<Problem> =
        missing.map(|path| Problem::new(INCOMPLETE_PAYLOAD, format!("the payload has no file {path}"))).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut raw = payload.full.raw().clone();
    let bad = |text: String| vec![Problem::new(BAD_PAYLOAD, text)];
    let config = raw.pointer_mut("/spec/config").and_then(Value::as_object_mut);
    let config = config.ok_or_else(|| bad("the MachineConfig has no config".to_owned()))?;
    let storage = config.entry("storage").or_insert_with(|| json!({})).as_object_mut();
    let storage = storage.ok_or_else(|| bad("`storage` of the MachineConfig's config is no object".to_owned()))?;
    storage.insert("files".to_owned(), Value::Array(files));
    MachineConfig::from_value(raw).map_err(bad)
}

fn path(file: &Value) -> Option<&str> {
    file.get("path")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::{super::samples::Sample, *};

    fn of(sample: &Sample) -> Result<MachineConfig, Vec<Problem>> {
        transform(&Payload::parse(&sample.served()).unwrap())
    }

    #[test]
    fn what_the_server_added_comes_after_what_the_config_has() {
        let sample = Sample {
            files: vec![("/etc/docker/certs.d/registry.lab:5000/ca.crt".into(), "the config's own".into())],
            ..Sample::default()
        };
        let config = of(&sample).unwrap();
        insta::assert_snapshot!(config.paths().collect::<Vec<_>>().join("\n"), @r"
        /etc/crio/crio.conf
        /var/lib/kubelet/config.json
        /etc/docker/certs.d/registry.lab:5000/ca.crt
        /etc/kubernetes/kubelet-ca.crt
        /etc/machine-config-daemon/node-annotations.json
        /etc/kubernetes/kubeconfig
        /etc/mcs-machine-config-content.json
        ");
        assert_eq!(config.name(), "rendered-worker-new");
        assert_eq!(config.units().len(), 3);
        assert!(of(&sample).unwrap() == config);
    }

    #[test]
    fn all_that_is_missing_is_named() {
        let sample = Sample { leave_out: NEEDED.map(str::to_owned).to_vec(), ..Sample::default() };
        let texts: Vec<String> = of(&sample).unwrap_err().into_iter().map(|problem| problem.text).collect();
        assert_eq!(texts, NEEDED.map(|path| format!("the payload has no file {path}")));
    }
}
