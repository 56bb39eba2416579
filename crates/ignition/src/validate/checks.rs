//! What must hold beyond keys and types: a registry of pure functions.

use std::{
    collections::HashSet,
    path::{Component, Path},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use x509_parser::pem::Pem;

use super::{
    Found,
    json::{Node, Value},
};
use crate::{
    VERSION, codes,
    record::{RECORD, Record},
};

type Check = fn(&Node, Timestamp, &mut Vec<Found>);

/// More than any certificate or manifest takes; what is larger is a program or an image.
const MAX_CONTENTS: usize = 1 << 20;
/// What is inside the config.
const INSIDE: &str = "data:";
/// Permission bits of group and others.
const OF_OTHERS: i64 = 0o077;
/// What Ignition takes where none is given.
const DEFAULT_MODE: i64 = 0o644;
/// What makes contents a secret.
const SECRETS: [&str; 2] = ["PRIVATE KEY-----", "client-key-data:"];
/// Keys of a kubeconfig that hold certificates.
const CERTIFICATES: [&str; 2] = ["client-certificate-data", "certificate-authority-data"];
/// Names of files that hold nothing else.
const SECRET_NAMES: [&str; 3] = ["join-secret", "join.key", "encryption.key"];

pub(super) const CHECKS: &[Check] = &[version, names, overwrite, contents, fetched, record];

fn version(root: &Node, _now: Timestamp, found: &mut Vec<Found>) {
    match root.down(&["ignition", "version"]) {
        None => {
            let at = root.get("ignition").map_or(root.at, |ignition| ignition.at);
            found.push(Found::new(codes::VERSION, at, "`ignition.version` is missing"));
        }
        Some(node) => {
            if let Value::Text(seen) = &node.value
                && seen != VERSION
            {
                let message = format!("spec version `{}` instead of {VERSION}", explain::plain(seen));
                found.push(Found::new(codes::VERSION, node.at, message));
            }
        }
    }
}

/// Everything has a name, paths are absolute, and none is there twice.
fn names(root: &Node, _now: Timestamp, found: &mut Vec<Found>) {
    let on_disk: [&[&str]; 3] = [&["storage", "directories"], &["storage", "files"], &["storage", "links"]];
    let groups: [(&str, &[&[&str]]); 4] = [
        ("path", &on_disk),
        ("name", &[&["systemd", "units"]]),
        ("name", &[&["passwd", "users"]]),
        ("name", &[&["passwd", "groups"]]),
    ];
    for (key, lists) in groups {
        let mut seen: HashSet<&str> = HashSet::new();
        for entry in lists.iter().flat_map(|list| root.list(list)) {
            let Some(name) = entry.text(key) else {
                found.push(Found::new(codes::WRONG_TYPE, entry.at, format!("an entry has no `{key}`")));
                continue;
            };
            let at = entry.get(key).map_or(entry.at, |node| node.at);
            let shown = explain::plain(name);
            if key == "path" && !is_absolute(name) {
                found.push(Found::new(codes::BAD_PATH, at, format!("`{shown}` is not an absolute path")));
            }
            if !seen.insert(name) {
                found.push(Found::new(codes::TWICE, at, format!("`{shown}` is there twice")));
            }
        }
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') && Path::new(path).components().all(|part| part != Component::ParentDir)
}

fn overwrite(root: &Node, _now: Timestamp, found: &mut Vec<Found>) {
    for list in [["storage", "files"], ["storage", "links"]] {
        for entry in root.list(&list) {
            let is_set = entry.get("overwrite").is_some_and(|node| matches!(node.value, Value::Switch(true)));
            // What is only appended to is not replaced.
            if !is_set && (entry.get("contents").is_some() || list[1] == "links") {
                let message = format!("`{}` would not be overwritten", shown(entry));
                found.push(Found::new(codes::NOT_OVERWRITTEN, entry.at, message));
            }
        }
    }
}

/// Contents that are inside: size, keys, certificates.
fn contents(root: &Node, now: Timestamp, found: &mut Vec<Found>) {
    for file in root.list(&["storage", "files"]) {
        let appended = file.list(&["append"]).iter();
        let mut is_secret = file.text("path").is_some_and(is_secret_name);
        for resource in file.get("contents").into_iter().chain(appended) {
            let Some(bytes) = decoded(resource, &shown(file), found) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            is_secret |= SECRETS.iter().any(|mark| text.contains(mark));
            certificates(&bytes, resource.at, &shown(file), now, found);
            for inner in embedded(&text) {
                certificates(&inner, resource.at, &shown(file), now, found);
            }
        }
        let mode = file.get("mode").map_or((file.at, Some(DEFAULT_MODE)), |node| match node.value {
            Value::Number(mode) => (node.at, mode),
            _ => (node.at, None),
        });
        if let (at, Some(mode)) = mode
            && is_secret
            && mode & OF_OTHERS != 0
        {
            let message = format!("`{}` holds a key and has the mode {mode:04o}", shown(file));
            found.push(Found::new(codes::OPEN_SECRET, at, message));
        }
    }
    for ca in root.list(&["ignition", "security", "tls", "certificateAuthorities"]) {
        if let Some(bytes) = decoded(ca, "the CA", found) {
            certificates(&bytes, ca.at, "the CA", now, found);
        }
    }
}

/// The certificates in a kubeconfig.
fn embedded(text: &str) -> impl Iterator<Item = Vec<u8>> {
    let values =
        text.lines().filter_map(|line| line.trim().split_once(": ")).filter(|(key, _)| CERTIFICATES.contains(key));
    values.filter_map(|(_, value)| STANDARD.decode(value.trim_matches('"')).ok())
}

fn is_secret_name(path: &str) -> bool {
    Path::new(path).file_name().is_some_and(|name| SECRET_NAMES.iter().any(|secret| name == *secret))
}

/// The bytes of a resource that is inside and not compressed.
fn decoded(resource: &Node, whose: &str, found: &mut Vec<Found>) -> Option<Vec<u8>> {
    let source = resource.get("source")?;
    let Value::Text(text) = &source.value else { return None };
    let (kind, data) = text.strip_prefix(INSIDE)?.split_once(',').unwrap_or_default();
    let bytes = match kind {
        kind if kind.ends_with(";base64") => STANDARD.decode(data).ok(),
        _ => unescaped(data),
    };
    let Some(bytes) = bytes.filter(|_| text.contains(',')) else {
        found.push(Found::new(codes::CONTENTS, source.at, format!("the data URL of `{whose}` cannot be decoded")));
        return None;
    };
    if bytes.len() > MAX_CONTENTS {
        let message = format!("`{whose}` takes {} KiB of at most {}", bytes.len() >> 10, MAX_CONTENTS >> 10);
        found.push(Found::new(codes::TOO_LARGE, source.at, message));
    }
    let is_plain = resource.text("compression").is_none_or(str::is_empty);
    is_plain.then_some(bytes)
}

/// `%41` is `A`.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    Some(bytes)
}

fn certificates(bytes: &[u8], at: usize, whose: &str, now: Timestamp, found: &mut Vec<Found>) {
    for block in Pem::iter_from_buffer(bytes).map_while(Result::ok).filter(|block| block.label == "CERTIFICATE") {
        let Ok(certificate) = block.parse_x509() else {
            found.push(Found::new(codes::CERTIFICATE, at, format!("a certificate of `{whose}` cannot be read")));
            continue;
        };
        let [begins, ends] = [certificate.validity().not_before, certificate.validity().not_after];
        let [begins, ends] = [begins, ends].map(|moment| Timestamp::from_second(moment.timestamp()).ok());
        let message = match (begins, ends) {
            (Some(begins), _) if now < begins => format!("a certificate of `{whose}` is valid from {begins}"),
            (_, Some(ends)) if ends < now => format!("a certificate of `{whose}` expired at {ends}"),
            _ => continue,
        };
        found.push(Found::new(codes::CERTIFICATE, at, format!("{message}; it is {now:.0}")));
    }
}

/// What comes from elsewhere comes over TLS and has a sum.
fn fetched(root: &Node, _now: Timestamp, found: &mut Vec<Found>) {
    let merged = root.list(&["ignition", "config", "merge"]).iter();
    let files = root.list(&["storage", "files"]).iter().filter_map(|file| file.get("contents"));
    let all = merged.chain(root.down(&["ignition", "config", "replace"])).chain(files);
    for resource in all {
        let Some(source) = resource.text("source").filter(|source| !source.starts_with(INSIDE)) else { continue };
        let at = resource.get("source").map_or(resource.at, |node| node.at);
        if !source.starts_with("https://") {
            found.push(Found::new(codes::INSECURE, at, "this would not be fetched over https"));
        }
        if resource.down(&["verification", "hash"]).is_none() {
            found.push(Found::new(
                codes::INSECURE,
                at,
                "this would be used whatever came: it has no `verification.hash`",
            ));
        }
    }
}

/// What our own render says about itself.
fn record(root: &Node, now: Timestamp, found: &mut Vec<Found>) {
    let Some(file) = root.list(&["storage", "files"]).iter().find(|file| file.text("path") == Some(RECORD)) else {
        return;
    };
    let bytes = file.get("contents").and_then(|contents| decoded(contents, RECORD, &mut Vec::new()));
    let at = file.get("contents").map_or(file.at, |contents| contents.at);
    match bytes.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok()) {
        None => found.push(Found::new(codes::CONTENTS, at, format!("`{RECORD}` is not what a render writes"))),
        Some(Record { valid_until: Some(end), node, .. }) if end <= now => {
            let node = explain::plain(&node).into_owned();
            found.push(Found::new(
                codes::EXPIRED,
                at,
                format!("the secret of `{node}` ended at {end}; it is {now:.0}"),
            ));
        }
        Some(_) => {}
    }
}

fn shown(file: &Node) -> String {
    explain::plain(file.text("path").unwrap_or("a file")).into_owned()
}
