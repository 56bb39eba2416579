//! The module in which a component is built: it requires the published modules and builds their commands.
//!
//! A module cannot always be built as published: Kubernetes replaces its own parts by directories beside it, which only
//! exist in its repository. Each part is published as a module too, so the replacement points there.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Component, component::Go};

/// What `go mod edit -json` prints of a published `go.mod`, as far as it matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct GoMod {
    go: String,
    replace: Option<Vec<Replace>>,
    godebug: Option<Vec<Godebug>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replace {
    old: ModulePath,
    new: ModulePath,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModulePath {
    path: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Godebug {
    key: String,
    value: String,
}

/// The `go.mod` of the scratch module.
pub(super) fn go_mod(component: &Component, go: &Go, published: &[GoMod]) -> String {
    // Behaviour of the language and its library follows the main module; the newest of several is the one they all get.
    let language = published.iter().map(|module| module.go.as_str()).max_by_key(|version| numbers(version));
    let mut lines = vec![format!("module blackstart.local/build\n\ngo {}", language.unwrap_or_default())];
    let settings: BTreeMap<_, _> =
        published.iter().flat_map(|module| module.godebug.iter().flatten()).map(|it| (&it.key, &it.value)).collect();
    for (key, value) in settings {
        lines.push(format!("godebug {key}={value}"));
    }
    for module in go.modules {
        lines.push(format!("require {module} v{}", component.version));
    }
    if go.staging {
        let version = component.version.split_once('.').map_or(component.version, |(_, rest)| rest);
        let local = |replace: &&Replace| replace.new.path.starts_with("./");
        for Replace { old, .. } in published.iter().flat_map(|module| module.replace.iter().flatten()).filter(local) {
            lines.push(format!("replace {0} => {0} v0.{version}", old.path));
        }
    }
    lines.join("\n") + "\n"
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Build;

    fn text(name: &str, version: &'static str, published: &[&str]) -> String {
        let component = &Component { version, ..*Component::named(name).unwrap() };
        let Build::Go(go) = component.build else { panic!("{name} is written in Go") };
        let published: Vec<_> = published.iter().map(|json| serde_json::from_str(json).unwrap()).collect();
        go_mod(component, &go, &published)
    }

    #[test]
    fn parts_of_kubernetes_become_modules() {
        insta::assert_snapshot!(text(
            "kubelet",
            "1.98.7",
            &[r#"{
            "Module": { "Path": "k8s.io/kubernetes" }, "Go": "1.26.0",
            "Godebug": [{ "Key": "default", "Value": "go1.26" }],
            "Require": [{ "Path": "k8s.io/api", "Version": "v0.0.0" }],
            "Replace": [
                { "Old": { "Path": "k8s.io/api" }, "New": { "Path": "./staging/src/k8s.io/api" } },
                { "Old": { "Path": "example.com/fork" }, "New": { "Path": "example.com/forked", "Version": "v1.0.0" } }
            ]
        }"#]
        ));
    }

    #[test]
    fn several_modules_get_the_newest_language() {
        insta::assert_snapshot!(text(
            "etcd",
            "3.21.0",
            &[
                r#"{ "Go": "1.9", "Replace": [{ "Old": { "Path": "go.etcd.io/etcd/api/v3" }, "New": { "Path": "../api" } }] }"#,
                r#"{ "Go": "1.26.0", "Toolchain": "go1.26.10" }"#,
                r#"{ "Go": "1.25.3", "Replace": null }"#,
            ]
        ));
    }
}
