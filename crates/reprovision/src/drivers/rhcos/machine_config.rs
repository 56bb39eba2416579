//! A `MachineConfig`: the part of it that matters here as types, and all of it as it came.

use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The fields of `spec` that we know.
const KNOWN: [&str; 7] =
    ["osImageURL", "baseOSExtensionsContainerImage", "config", "kernelArguments", "extensions", "fips", "kernelType"];
/// Those beside it.
const AROUND: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
/// What `kernelType` is where it is empty.
const DEFAULT_KERNEL: &str = "default";

/// A `MachineConfig`. Never printed: its files hold keys.
#[derive(Clone, PartialEq)]
pub(super) struct MachineConfig {
    raw: Value,
    name: String,
    spec: Spec,
}

/// What it wants.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec {
    /// The system's image.
    #[serde(rename = "osImageURL")]
    pub(super) os_image_url: String,
    /// Where extensions are from.
    #[serde(rename = "baseOSExtensionsContainerImage")]
    pub(super) extensions_image: String,
    /// An Ignition config.
    pub(super) config: Value,
    /// Arguments that the kernel is to have besides.
    #[serde(deserialize_with = "nullable")]
    pub(super) kernel_arguments: Vec<String>,
    /// Packages besides.
    #[serde(deserialize_with = "nullable")]
    pub(super) extensions: Vec<String>,
    /// Whether the machine is to be one of FIPS.
    pub(super) fips: bool,
    /// Which kernel; empty is the default.
    #[serde(deserialize_with = "kernel")]
    pub(super) kernel_type: String,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            os_image_url: String::new(),
            extensions_image: String::new(),
            config: Value::Null,
            kernel_arguments: Vec::new(),
            extensions: Vec::new(),
            fips: false,
            kernel_type: DEFAULT_KERNEL.to_owned(),
        }
    }
}

fn nullable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn kernel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    Ok(if name.is_empty() { DEFAULT_KERNEL.to_owned() } else { name })
}

impl MachineConfig {
    /// From its JSON. The error says what is wrong and never what it holds.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        Self::from_value(serde_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {}", place(&error)))?)
    }

    pub(super) fn from_value(raw: Value) -> Result<Self, String> {
        let text = |pointer| raw.pointer(pointer).and_then(Value::as_str);
        if let Some(kind) = text("/kind").filter(|kind| !kind.is_empty() && *kind != "MachineConfig") {
            return Err(format!("it is a `{kind}`, not a MachineConfig"));
        }
        let name = text("/metadata/name").unwrap_or_default().to_owned();
        let spec = raw.get("spec").cloned().ok_or("it has no `spec`")?;
        if !spec.is_object() {
            return Err("its `spec` is no object".to_owned());
        }
        let spec = Spec::deserialize(spec).map_err(|_| mistyped(&raw))?;
        Ok(Self { raw, name, spec })
    }

    /// `rendered-worker-…`; empty in one that has none.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn spec(&self) -> &Spec {
        &self.spec
    }

    /// All of it, as it came.
    pub(super) fn raw(&self) -> &Value {
        &self.raw
    }

    /// Fields that we do not know: `spec.something`.
    pub(super) fn unknown(&self) -> Vec<String> {
        let others = |value: &Value, known: &[&str], prefix: &str| -> Vec<String> {
            let keys = value.as_object().into_iter().flat_map(|object| object.keys());
            keys.filter(|key| !known.contains(&key.as_str())).map(|key| format!("{prefix}{key}")).collect()
        };
        let spec = self.raw.get("spec").map(|spec| others(spec, &KNOWN, "spec.")).unwrap_or_default();
        others(&self.raw, &AROUND, "").into_iter().chain(spec).collect()
    }

    /// The files of its Ignition config, in their order.
    pub(super) fn files(&self) -> &[Value] {
        list(&self.spec.config, "/storage/files")
    }

    /// Their paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files().iter().filter_map(|file| file.get("path")?.as_str())
    }

    /// The units of its Ignition config.
    pub(super) fn units(&self) -> &[Value] {
        list(&self.spec.config, "/systemd/units")
    }

    /// The names of its units.
    pub(super) fn unit_names(&self) -> impl Iterator<Item = &str> {
        self.units().iter().filter_map(|unit| unit.get("name")?.as_str())
    }
}

impl fmt::Debug for MachineConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MachineConfig({})", self.name)
    }
}

/// What is at this place, if it is a list.
pub(super) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Where in a text, without a word of it.
pub(super) fn place(error: &serde_json::Error) -> String {
    format!("line {}, column {}", error.line(), error.column())
}

/// Which of the fields is of another type; the words of the parser may quote a value.
fn mistyped(raw: &Value) -> String {
    let wrong = KNOWN.into_iter().filter(|field| {
        let Some(value) = raw.pointer(&format!("/spec/{field}")) else { return false };
        let one = serde_json::json!({ *field: value });
        Spec::deserialize(one).is_err()
    });
    let wrong: Vec<String> = wrong.map(|field| format!("spec.{field}")).collect();
    format!("unusable: {}", wrong.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_read_and_what_is_refused() {
        for (value, seen) in [
            (json!({"spec": {}}), Ok(())),
            (json!({"kind": "MachineConfig", "spec": {"kernelArguments": null, "kernelType": ""}}), Ok(())),
            (json!({"kind": "Pod", "spec": {}}), Err("it is a `Pod`, not a MachineConfig")),
            (json!({"metadata": {}}), Err("it has no `spec`")),
            (json!({"spec": []}), Err("its `spec` is no object")),
            (json!({"spec": {"fips": "hunter2", "osImageURL": 3}}), Err("unusable: spec.osImageURL, spec.fips")),
        ] {
            assert_eq!(MachineConfig::from_value(value).map(drop), seen.map_err(str::to_owned));
        }
        assert_eq!(MachineConfig::parse(b"{\"hunter2").unwrap_err(), "it is no JSON: line 1, column 9");
    }

    #[test]
    fn fields_that_nobody_knows_are_named() {
        let value = json!({"kind": "MachineConfig", "status": {}, "spec": {"fips": true, "drivers": [], "arms": 2}});
        let config = MachineConfig::from_value(value).unwrap();
        assert_eq!(config.unknown(), ["status", "spec.arms", "spec.drivers"]);
        assert!(config.spec().fips);
    }

    /// The daemon writes what it was given with every field, and an empty kernel type is the default one.
    #[test]
    fn what_is_left_out_is_what_is_empty() {
        let short = MachineConfig::from_value(json!({"spec": {"osImageURL": "a"}})).unwrap();
        let long = json!({"spec": {"osImageURL": "a", "baseOSExtensionsContainerImage": "", "config": null,
            "kernelArguments": null, "extensions": [], "fips": false, "kernelType": ""}});
        assert!(short.spec() == MachineConfig::from_value(long).unwrap().spec());
        assert_eq!(format!("{short:?}"), "MachineConfig()");
    }
}
