//! Every key of spec 3.2.0 and the type of its value, as a table.

use explain::did_you_mean;

use super::{
    Found,
    json::{Node, Value},
};
use crate::codes;

/// What goes in a place.
pub(super) enum Shape {
    Text,
    Number,
    Switch,
    List(&'static Shape),
    Object(&'static [(&'static str, Shape)]),
}

use Shape::{List, Number, Object, Switch, Text};

const HEADERS: Shape = List(&Object(&[("name", Text), ("value", Text)]));
const VERIFICATION: Shape = Object(&[("hash", Text)]);
const RESOURCE: Shape =
    Object(&[("source", Text), ("compression", Text), ("httpHeaders", HEADERS), ("verification", VERIFICATION)]);
const OWNER: Shape = Object(&[("id", Number), ("name", Text)]);

const IGNITION: Shape = Object(&[
    ("version", Text),
    ("config", Object(&[("merge", List(&RESOURCE)), ("replace", RESOURCE)])),
    ("timeouts", Object(&[("httpResponseHeaders", Number), ("httpTotal", Number)])),
    ("security", Object(&[("tls", Object(&[("certificateAuthorities", List(&RESOURCE))]))])),
    ("proxy", Object(&[("httpProxy", Text), ("httpsProxy", Text), ("noProxy", List(&Text))])),
]);

const PARTITION: Shape = Object(&[
    ("label", Text),
    ("number", Number),
    ("sizeMiB", Number),
    ("startMiB", Number),
    ("typeGuid", Text),
    ("guid", Text),
    ("wipePartitionEntry", Switch),
    ("shouldExist", Switch),
    ("resize", Switch),
]);

const CLEVIS: Shape = Object(&[
    ("tpm2", Switch),
    ("tang", List(&Object(&[("url", Text), ("thumbprint", Text)]))),
    ("threshold", Number),
    ("custom", Object(&[("pin", Text), ("config", Text), ("needsNetwork", Switch)])),
]);

const STORAGE: Shape = Object(&[
    ("disks", List(&Object(&[("device", Text), ("wipeTable", Switch), ("partitions", List(&PARTITION))]))),
    (
        "raid",
        List(&Object(&[
            ("name", Text),
            ("level", Text),
            ("devices", List(&Text)),
            ("spares", Number),
            ("options", List(&Text)),
        ])),
    ),
    (
        "filesystems",
        List(&Object(&[
            ("device", Text),
            ("format", Text),
            ("path", Text),
            ("wipeFilesystem", Switch),
            ("label", Text),
            ("uuid", Text),
            ("options", List(&Text)),
            ("mountOptions", List(&Text)),
        ])),
    ),
    (
        "files",
        List(&Object(&[
            ("path", Text),
            ("overwrite", Switch),
            ("mode", Number),
            ("user", OWNER),
            ("group", OWNER),
            ("contents", RESOURCE),
            ("append", List(&RESOURCE)),
        ])),
    ),
    (
        "directories",
        List(&Object(&[("path", Text), ("overwrite", Switch), ("mode", Number), ("user", OWNER), ("group", OWNER)])),
    ),
    (
        "links",
        List(&Object(&[
            ("path", Text),
            ("overwrite", Switch),
            ("user", OWNER),
            ("group", OWNER),
            ("target", Text),
            ("hard", Switch),
        ])),
    ),
    (
        "luks",
        List(&Object(&[
            ("name", Text),
            ("label", Text),
            ("uuid", Text),
            ("device", Text),
            ("keyFile", RESOURCE),
            ("wipeVolume", Switch),
            ("options", List(&Text)),
            ("clevis", CLEVIS),
        ])),
    ),
]);

const UNIT: Shape = Object(&[
    ("name", Text),
    ("enabled", Switch),
    ("mask", Switch),
    ("contents", Text),
    ("dropins", List(&Object(&[("name", Text), ("contents", Text)]))),
]);

const PASSWD: Shape = Object(&[
    (
        "users",
        List(&Object(&[
            ("name", Text),
            ("passwordHash", Text),
            ("sshAuthorizedKeys", List(&Text)),
            ("uid", Number),
            ("gecos", Text),
            ("homeDir", Text),
            ("noCreateHome", Switch),
            ("primaryGroup", Text),
            ("groups", List(&Text)),
            ("noUserGroup", Switch),
            ("noLogInit", Switch),
            ("shell", Text),
            ("shouldExist", Switch),
            ("system", Switch),
        ])),
    ),
    (
        "groups",
        List(&Object(&[
            ("name", Text),
            ("gid", Number),
            ("passwordHash", Text),
            ("shouldExist", Switch),
            ("system", Switch),
        ])),
    ),
]);

/// A whole config.
pub(super) const CONFIG: Shape = Object(&[
    ("ignition", IGNITION),
    ("storage", STORAGE),
    ("systemd", Object(&[("units", List(&UNIT))])),
    ("passwd", PASSWD),
]);

/// What does not fit. `null` is the same as a key that is not there.
pub(super) fn compare(node: &Node, shape: &Shape, path: &str, found: &mut Vec<Found>) {
    match (&node.value, shape) {
        (Value::Null, _) if !path.is_empty() => {}
        (Value::Text(_), Text) | (Value::Switch(_), Switch) | (Value::Number(Some(_)), Number) => {}
        (Value::List(items), List(of)) => {
            for (index, item) in items.iter().enumerate() {
                compare(item, of, &format!("{path}[{index}]"), found);
            }
        }
        (Value::Object(entries), Object(keys)) => {
            for (index, (key, value)) in entries.iter().enumerate() {
                let inside = if path.is_empty() { key.name.clone() } else { format!("{path}.{}", key.name) };
                if entries[..index].iter().any(|(before, _)| before.name == key.name) {
                    found.push(Found::new(codes::TWICE, key.at, format!("the key `{inside}` is there twice")));
                }
                match keys.iter().find(|(name, _)| *name == key.name) {
                    Some((_, shape)) => compare(value, shape, &inside, found),
                    None => found.push(unused(key.at, &key.name, &inside, keys)),
                }
            }
        }
        (_, expected) => {
            let whose = if path.is_empty() { "the config" } else { path };
            found.push(Found::new(codes::WRONG_TYPE, node.at, format!("`{whose}` must be {}", expected.words())));
        }
    }
}

fn unused(at: usize, name: &str, path: &str, keys: &[(&'static str, Shape)]) -> Found {
    let names = keys.iter().map(|(name, _)| *name);
    let found = Found::new(codes::UNUSED_KEY, at, format!("Ignition has no key `{}`", explain::plain(path)));
    match did_you_mean(name, names) {
        Some(nearest) => found.hint(format!("did you mean `{nearest}`?")),
        None => found,
    }
}

impl Shape {
    fn words(&self) -> &'static str {
        match self {
            Text => "text",
            Number => "a whole number",
            Switch => "true or false",
            List(_) => "a list",
            Object(_) => "an object",
        }
    }
}
