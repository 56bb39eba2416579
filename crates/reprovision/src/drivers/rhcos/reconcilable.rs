//! Whether the machine-config-daemon would take a config, as it would judge itself: from an empty config to this one.
//!
//! It would find out after the commit, and then try again every minute for ever. Here everything is found at once, and before.

use serde_json::Value;

use super::{
    data_url,
    machine_config::{MachineConfig, list},
    problem::Problem,
};
use crate::codes::NOT_RECONCILABLE;

/// Its own switch to go on against its judgement.
const FORCE: &str = "/run/machine-config-daemon-force";
/// What it sets for its one user.
const OF_CORE: [&str; 3] = ["name", "sshAuthorizedKeys", "passwordHash"];
/// Sections that it does not do in place.
const SECTIONS: [(&str, &str); 9] = [
    ("/kernelArguments/shouldExist", "kernelArguments of the Ignition config"),
    ("/kernelArguments/shouldNotExist", "kernelArguments of the Ignition config"),
    ("/storage/disks", "storage.disks"),
    ("/storage/filesystems", "storage.filesystems"),
    ("/storage/raid", "storage.raid"),
    ("/storage/directories", "storage.directories"),
    ("/storage/links", "storage.links"),
    ("/passwd/groups", "passwd.groups"),
    ("/ignition/config/merge", "ignition.config.merge"),
];

/// All that it would refuse. `fips` is what the machine is, where it says so.
pub(super) fn problems(config: &MachineConfig, fips: Option<bool>) -> Vec<Problem> {
    let ignition = &config.spec().config;
    let mut texts: Vec<String> = Vec::new();
    for (place, name) in SECTIONS {
        let is_new = !list(ignition, place).is_empty() && !texts.iter().any(|text| text.starts_with(name));
        if is_new {
            texts.push(format!("{name} cannot be changed in place"));
        }
    }
    texts.extend(list(ignition, "/passwd/users").iter().filter_map(user));
    texts.extend(config.files().iter().flat_map(file));
    if let Some(fips) = fips.filter(|fips| *fips != config.spec().fips) {
        let (machine, wanted) = if fips { ("in", "without") } else { ("not in", "with") };
        texts.push(format!("the machine is {machine} FIPS mode, and the MachineConfig is one {wanted} it"));
    }
    texts.iter().map(|text| Problem::new(NOT_RECONCILABLE, text)).collect()
}

/// What `/proc/sys/crypto/fips_enabled` says.
pub(super) fn fips(text: &[u8]) -> Option<bool> {
    match text.trim_ascii() {
        b"0" => Some(false),
        b"1" => Some(true),
        _ => None,
    }
}

fn user(user: &Value) -> Option<String> {
    let name = user.get("name").and_then(Value::as_str).unwrap_or_default();
    if name != "core" {
        return Some(format!("passwd.users has `{name}`, and only `core` can be changed in place"));
    }
    let is_set = |value: &Value| !matches!(value, Value::Null) && value.as_array().is_none_or(|list| !list.is_empty());
    let set: Vec<&str> =
        user.as_object()?.iter().filter(|(_, value)| is_set(value)).map(|(key, _)| key.as_str()).collect();
    let others: Vec<&str> = set.iter().copied().filter(|key| !OF_CORE.contains(key)).collect();
    if !others.is_empty() {
        return Some(format!("user core has {}, and only keys and a password can be changed", others.join(", ")));
    }
    (set.len() < 2).then(|| "user core has neither keys nor a password".to_owned())
}

fn file(file: &Value) -> Vec<String> {
    let path = file.get("path").and_then(Value::as_str).unwrap_or_default();
    let mut texts = Vec::new();
    if !path.starts_with('/') || path.split('/').any(|part| part == "..") {
        texts.push(format!("file `{path}` has no absolute path"));
    }
    if path == FORCE {
        texts.push(format!("file {path} must not be written by a config"));
    }
    if !list(file, "/append").is_empty() {
        texts.push(format!("file {path} is appended to, which cannot be done twice"));
    }
    if let Err(why) = data_url::contents(file) {
        texts.push(format!("file {path}: {why}"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::samples::Sample, *};

    fn reported(config: Value, spec: Value, fips: Option<bool>) -> String {
        let sample = Sample { spec, config, ..Sample::default() };
        let config = MachineConfig::from_value(sample.full()).unwrap();
        problems(&config, fips).iter().map(|problem| format!("  {}\n", problem.text)).collect()
    }

    #[test]
    fn a_config_that_is_taken() {
        assert_eq!(reported(json!({}), json!({}), Some(false)), "");
        assert_eq!(reported(json!({"passwd": {"users": []}}), json!({"fips": true}), Some(true)), "");
        assert_eq!(reported(json!({"passwd": null, "storage": {"links": []}}), json!({}), None), "");
    }

    #[test]
    fn all_that_would_be_refused_at_once() {
        let core = |more: Value| {
            let mut user = json!({"name": "core"});
            user.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"passwd": {"users": [user]}})
        };
        let everything = json!({
            "kernelArguments": {"shouldExist": ["a"], "shouldNotExist": ["b"]},
            "ignition": {"config": {"merge": [{"source": "https://x"}]}},
            "passwd": {"users": [{"name": "root"}, {"name": "core"}], "groups": [{"name": "g"}]},
            "storage": {
                "disks": [{}], "filesystems": [{}], "raid": [{}], "directories": [{"path": "/d"}], "links": [{"path": "/l"}],
                "files": [
                    {"path": "/a", "append": [{"source": "data:,x"}]},
                    {"path": "/b", "contents": {"source": "http://host/secret"}},
                    {"path": "../c"}, {"path": FORCE},
                ],
            },
        });
        let text = [
            ("everything", reported(everything, json!({"fips": true}), Some(false))),
            ("a shell", reported(core(json!({"shell": "/bin/zsh", "passwordHash": "x"})), json!({}), None)),
            ("nothing for core", reported(core(json!({"sshAuthorizedKeys": []})), json!({}), None)),
            ("FIPS", reported(json!({}), json!({}), fips(b"1\n"))),
        ]
        .map(|(case, lines)| format!("{case}:\n{lines}"))
        .concat();
        insta::assert_snapshot!(text);
    }
}
