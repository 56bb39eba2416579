//! What an ignition server serves: an Ignition config in which one file is the whole `MachineConfig`.
//!
//! Other files were added to it by the server, and are in no `MachineConfig`: a kubeconfig to begin with, the node's
//! annotations, CAs. [`transform`](super::transform) brings both together.

use serde_json::Value;

use super::{
    data_url,
    machine_config::{MachineConfig, list, place},
    problem::Problem,
};
use crate::codes::BAD_PAYLOAD;

/// The file that is the `MachineConfig`.
pub(super) const FULL: &str = "/etc/mcs-machine-config-content.json";
/// The file that is the `MachineConfig` without its Ignition config. On a machine, its path is what arms the system's own unit.
pub(super) const ENCAPSULATED: &str = "/etc/ignition-machine-config-encapsulated.json";

/// A payload. It has no `Debug`: everything in it may be a key.
pub(super) struct Payload {
    served: Value,
    /// With its Ignition config.
    pub(super) full: MachineConfig,
    /// Without.
    pub(super) encapsulated: Option<MachineConfig>,
}

impl Payload {
    /// Reads one; all that is wrong with it at once.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Vec<Problem>> {
        let bad = |text: String| Problem::new(BAD_PAYLOAD, text);
        let served: Value = serde_json::from_slice(bytes)
            .map_err(|error| vec![bad(format!("the payload is no JSON: {}", place(&error)))])?;
        let version = served.pointer("/ignition/version").and_then(Value::as_str).unwrap_or_default();
        if !version.starts_with("3.") {
            return Err(vec![bad(format!(
                "the payload is no Ignition config of version 3: its version is `{version}`"
            ))]);
        }
        let full = match read(&served, FULL) {
            Ok(None) => Err(bad(format!("the payload has no {FULL}: it is not from a machine config server"))),
            Ok(Some(full)) => check_config(full).map_err(|text| bad(format!("{FULL}: {text}"))),
            Err(text) => Err(bad(format!("{FULL}: {text}"))),
        };
        let encapsulated = read(&served, ENCAPSULATED).map_err(|text| bad(format!("{ENCAPSULATED}: {text}")));
        match (full, encapsulated) {
            (Ok(full), Ok(encapsulated)) => Ok(Self { served, full, encapsulated }),
            (full, encapsulated) => Err(full.err().into_iter().chain(encapsulated.err()).collect()),
        }
    }

    /// The files that are served, in their order.
    pub(super) fn files(&self) -> &[Value] {
        list(&self.served, "/storage/files")
    }

    /// The units that are served.
    pub(super) fn units(&self) -> &[Value] {
        list(&self.served, "/systemd/units")
    }
}

/// The content of the file of this path; of two the last one counts, as it is written last.
pub(super) fn content(files: &[Value], path: &str) -> Option<Result<Vec<u8>, String>> {
    files.iter().rev().find(|file| file.get("path").and_then(Value::as_str) == Some(path)).map(data_url::contents)
}

fn read(served: &Value, path: &str) -> Result<Option<MachineConfig>, String> {
    match content(list(served, "/storage/files"), path) {
        None => Ok(None),
        Some(bytes) => MachineConfig::parse(&bytes?).map(Some),
    }
}

/// What is served has the form of version 3, and both are put together.
fn check_config(full: MachineConfig) -> Result<MachineConfig, String> {
    let version = full.spec().config.pointer("/ignition/version").and_then(Value::as_str).unwrap_or_default();
    if !version.starts_with("3.") {
        return Err(format!("its config is no Ignition config of version 3: its version is `{version}`"));
    }
    if full.name().is_empty() {
        return Err("it has no name".to_owned());
    }
    Ok(full)
}

#[cfg(test)]
mod tests {
    use super::{super::samples::Sample, *};

    fn refused(bytes: &[u8]) -> String {
        let problems = Payload::parse(bytes).err().unwrap();
        problems.iter().map(|problem| format!("{} {}\n", problem.code, problem.text)).collect()
    }

    #[test]
    fn the_machine_config_is_found() {
        let payload = Payload::parse(&Sample::default().served()).unwrap();
        assert_eq!(payload.full.name(), "rendered-worker-new");
        assert!(payload.encapsulated.is_some());
        let gzip = Sample { gzip: true, ..Sample::default() };
        assert_eq!(Payload::parse(&gzip.served()).unwrap().full, payload.full);
    }

    #[test]
    fn what_is_no_payload_is_refused() {
        let mut reported = String::new();
        let old = Sample { version: "2.2.0".into(), ..Sample::default() };
        let stranger = Sample { leave_out: vec![FULL.into()], ..Sample::default() };
        let nameless = Sample { name: String::new(), ..Sample::default() };
        let mut broken = Sample::default().value();
        for file in broken["storage"]["files"].as_array_mut().unwrap() {
            file["contents"]["source"] = "data:,{".into();
        }
        for (case, bytes) in [
            ("no JSON", b"<html>".to_vec()),
            ("an old version", old.served()),
            ("not from a machine config server", stranger.served()),
            ("without a name", nameless.served()),
            ("both broken", serde_json::to_vec(&broken).unwrap()),
        ] {
            reported += &format!("{case}:\n{}", refused(&bytes));
        }
        insta::assert_snapshot!(reported);
    }
}
