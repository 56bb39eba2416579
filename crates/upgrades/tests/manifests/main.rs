//! The manifests in `infrastructure/in-place` say what this crate says: names, schemas, defaults, and rights.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails is a test that fails")]

mod names_and_places;
mod rights;
mod schemas;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use upgrades::names;

const FILES: [&str; 6] =
    ["namespace.yaml", "crds.yaml", "rbac.yaml", "policies.yaml", "daemonset.yaml", "controller.yaml"];

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../infrastructure/in-place")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read(file: &str) -> Vec<Value> {
    kubeapi::parse(file, &text(&dir().join(file))).unwrap()
}

fn objects() -> Vec<Value> {
    FILES.iter().flat_map(|file| read(file)).collect()
}

fn of_kind(kind: &str) -> Vec<Value> {
    objects().into_iter().filter(|object| object["kind"] == kind).collect()
}

fn one(kind: &str) -> Value {
    let found = of_kind(kind);
    let [one] = found.as_slice() else { panic!("{} of kind {kind}", found.len()) };
    one.clone()
}

fn strings(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().map(|one| one.as_str().unwrap().to_owned()).collect()
}

fn account(name: &str) -> String {
    format!("system:serviceaccount:{}:{name}", names::NAMESPACE)
}
