//! The bundle's components are installed, whole, for this processor and of the cluster's version.
//!
//! Sums are compared when a bundle is installed. Here only sizes are: half a gigabyte is not read on every start.

use std::path::Path;

use bundle::{MANIFEST, Manifest};
use host::Meta;
use spec::Version;

use super::{Check, Context, problem};
use crate::{Checking, Inconclusive, codes};

/// See [`super`].
pub(super) const CHECK: Check = Check::new(
    "components",
    "the installed components are whole and of the cluster's version",
    &[codes::COMPONENTS_UNFIT],
    check,
);

const INSTALLED: &str = "/opt/blackstart/current";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let home = Path::new(INSTALLED);
        let Some(text) = context.host.disk.read_optional(&home.join(MANIFEST))? else {
            return Ok(problem(codes::COMPONENTS_UNFIT, format!("no bundle is installed in {INSTALLED}")));
        };
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|error| Inconclusive(format!("cannot parse {INSTALLED}/{MANIFEST}: {error}")))?;
        let mut files = Vec::new();
        for file in manifest.files() {
            let path = home.join(&file.path);
            let meta = context.host.disk.meta(&path)?;
            files.push((path, file.size, meta));
        }
        let mut faults = unfit(&manifest, context.cluster.kubernetes_version(), std::env::consts::ARCH);
        faults.extend(files.iter().filter_map(|(path, size, meta)| damage(path, *size, *meta)));
        if faults.is_empty() {
            return Ok(Vec::new());
        }
        Ok(problem(codes::COMPONENTS_UNFIT, faults.join("; ")))
    })
}

/// What the manifest alone says against the installed bundle.
fn unfit(manifest: &Manifest, wanted: Version, processor: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let processor = match processor {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    if manifest.arch != processor {
        faults.push(format!("the components are for {}, and the machine is {processor}", manifest.arch));
    }
    let wanted = wanted.to_string();
    // All of Kubernetes' own programs begin like this, and nothing else does.
    let kubernetes = manifest.components.iter().filter(|component| component.name.starts_with("kube"));
    let others = kubernetes.filter(|component| component.version != wanted);
    let others: Vec<String> = others.map(|component| format!("{} {}", component.name, component.version)).collect();
    if !others.is_empty() {
        faults.push(format!("the cluster wants Kubernetes {wanted}, and installed are {}", others.join(", ")));
    }
    faults
}

fn damage(path: &Path, size: u64, meta: Option<Meta>) -> Option<String> {
    match meta {
        None => Some(format!("{} is missing", path.display())),
        Some(meta) if meta.len != size => Some(format!("{} has {} bytes instead of {size}", path.display(), meta.len)),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use host::Kind;

    use super::*;

    const MANIFEST: &str = r#"{ "format": 1, "arch": "amd64", "components": [
        { "name": "etcd", "version": "3.7.3", "source": "release", "files": [] },
        { "name": "kube-proxy", "version": "1.36.3", "source": "release", "files": [] },
        { "name": "kubelet", "version": "1.36.3", "source": "release", "files": [] } ] }"#;

    #[test]
    fn version_and_processor_must_fit() {
        let manifest: Manifest = serde_json::from_str(MANIFEST).unwrap();
        let version = |patch| Version { major: 1, minor: 36, patch };
        assert_eq!(unfit(&manifest, version(3), "x86_64"), Vec::<String>::new());
        insta::assert_snapshot!(unfit(&manifest, version(4), "aarch64").join("\n"));
    }

    #[test]
    fn a_missing_or_cut_file_is_named() {
        let path = Path::new("/opt/blackstart/current/bin/kubelet");
        let meta = |len| Some(Meta { kind: Kind::File, mode: 0o755, len });
        assert_eq!(damage(path, 7, meta(7)), None);
        assert_eq!(damage(path, 7, None).unwrap(), "/opt/blackstart/current/bin/kubelet is missing");
        assert_eq!(damage(path, 7, meta(3)).unwrap(), "/opt/blackstart/current/bin/kubelet has 3 bytes instead of 7");
    }
}
