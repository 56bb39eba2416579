//! What is built into the program is what deny.toml allows: licences, crates, sources. The file is cargo-deny's own, and says why.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails is a test that fails")]

use std::{fs, path::Path, process::Command};

use serde::Deserialize;
use serde_json::Value;

/// The part of cargo-deny's file that is checked here.
#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Banned>,
}

#[derive(Deserialize)]
struct Banned {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

#[test]
fn everything_that_is_built_in_is_allowed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let rules: Rules = toml::from_str(&fs::read_to_string(root.join("deny.toml")).unwrap()).unwrap();
    let packages = packages(&root);
    assert!(packages.len() > 100, "{} packages are not all", packages.len());
    let wrong: Vec<String> = packages.iter().flat_map(|package| complaints(&rules, package)).collect();
    assert!(wrong.is_empty(), "against deny.toml:\n{}", wrong.join("\n"));
}

/// As `cargo` resolves them for this computer; what is only for others was never fetched.
fn packages(root: &Path) -> Vec<Value> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform"];
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO")).args(arguments).arg(host).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let reported: Value = serde_json::from_slice(&output.stdout).unwrap();
    reported["packages"].as_array().unwrap().clone()
}

fn complaints(rules: &Rules, package: &Value) -> Vec<String> {
    let name = package["name"].as_str().expect("a package has a name");
    let mut found = Vec::new();
    match package["license"].as_str() {
        Some(license) if is_allowed(license, &rules.licenses.allow) => {}
        license => found.push(format!("{name}: licence {}", license.unwrap_or("unknown"))),
    }
    if let Some(banned) = rules.bans.deny.iter().find(|banned| banned.name == name) {
        found.push(format!("{name}: {}", banned.reason));
    }
    // Our own have none.
    let registry = package["source"].as_str().map(|source| source.trim_start_matches("registry+"));
    if let Some(other) = registry.filter(|registry| !rules.sources.allow_registry.iter().any(|known| known == registry))
    {
        found.push(format!("{name}: comes from {other}"));
    }
    found
}

/// Whether an SPDX expression can be met with what is allowed. `/` is `OR` as it was written once.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let is_met = any(&mut rest, allowed);
    is_met && rest.is_empty()
}

fn any(rest: &mut &[&str], allowed: &[String]) -> bool {
    let mut is_met = all(rest, allowed);
    while let ["OR", tail @ ..] = *rest {
        *rest = tail;
        is_met |= all(rest, allowed);
    }
    is_met
}

fn all(rest: &mut &[&str], allowed: &[String]) -> bool {
    let mut is_met = one(rest, allowed);
    while let ["AND", tail @ ..] = *rest {
        *rest = tail;
        is_met &= one(rest, allowed);
    }
    is_met
}

fn one(rest: &mut &[&str], allowed: &[String]) -> bool {
    match *rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let is_met = any(rest, allowed);
            let [")", tail @ ..] = *rest else { return false };
            *rest = tail;
            is_met
        }
        [license, "WITH", exception, tail @ ..] => {
            *rest = tail;
            allowed.contains(&format!("{license} WITH {exception}"))
        }
        [license, tail @ ..] => {
            *rest = tail;
            allowed.iter().any(|known| known == license)
        }
        [] => false,
    }
}

#[test]
fn an_expression_is_met_or_not() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0-only/MIT", true),
        ("GPL-3.0-only AND MIT", false),
        ("ISC AND (GPL-3.0-only OR MIT)", true),
        ("(ISC AND GPL-3.0-only) OR BSL-1.0", false),
        ("Apache-2.0", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", true),
        ("MIT OR", true),
        ("(MIT", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}
