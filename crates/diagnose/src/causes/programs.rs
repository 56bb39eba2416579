//! Programs of the bundle: each where it is looked for, and, of a service that does not work, the very one that was
//! installed.
//!
//! Whether all files are there and have their sizes is the preflight check's. Sums take long, so they are compared only
//! where something is wrong already.

use std::path::{Path, PathBuf};

use bundle::{Manifest, Sum};
use checks::codes::COMPONENTS_UNFIT;
use playbooks::cluster;

use crate::{Check, Checking, Context, Finding, Inconclusive, Part};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "programs",
    "the programs of the bundle, where they are and whether they were changed",
    &[COMPONENTS_UNFIT],
    check,
);

const HOME: &str = "/opt/blackstart/current";
const PROGRAMS: &str = "/usr/local/bin";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let manifest = cluster::installed_bundle(&context.host);
        let Some(manifest) = manifest.map_err(|error| Inconclusive(explain::chain(&error)))? else {
            return Ok(Vec::new());
        };
        let mut faults = Vec::new();
        for name in programs(&manifest) {
            let link = Path::new(PROGRAMS).join(name);
            faults.extend(displaced(&link, context.host.disk.read_link(&link)?, context.host.disk.exists(&link)?));
        }
        let units = context.units().await?;
        for (service, unit) in context.started_services().await? {
            if units.is_failing(service.name) || !unit.is_up() {
                faults.extend(changed(context, &manifest, service.name).await?);
            }
        }
        Ok(evaluate(&faults).into_iter().collect())
    })
}

/// The names of all programs; the path of each begins with `bin/`.
fn programs(manifest: &Manifest) -> impl Iterator<Item = &str> {
    manifest.files().filter_map(|file| file.path.strip_prefix("bin/"))
}

/// What is wrong with the way to a program.
fn displaced(link: &Path, target: Option<PathBuf>, exists: bool) -> Option<String> {
    let wanted = Path::new(HOME).join("bin").join(link.file_name()?);
    match target {
        Some(target) if target == wanted => None,
        Some(target) => Some(format!("{} leads to {}, not to {}", link.display(), target.display(), wanted.display())),
        None if exists => Some(format!(
            "{} is a file that blackstart did not install, not a link to {}",
            link.display(),
            wanted.display()
        )),
        None => Some(format!("{} is missing; it should lead to {}", link.display(), wanted.display())),
    }
}

/// What is wrong with the program of a service, compared by its sum.
async fn changed(context: &Context, manifest: &Manifest, unit: &str) -> Result<Option<String>, Inconclusive> {
    let path = format!("bin/{}", unit.strip_suffix(".service").unwrap_or(unit));
    let Some(file) = manifest.files().find(|file| file.path == path) else { return Ok(None) };
    let (disk, program) = (context.host.disk.clone(), Path::new(HOME).join(&path));
    let read = move || disk.read_optional(&program).map(|content| content.map(|content| Sum::of(&content)));
    let sum = tokio::task::spawn_blocking(read).await.map_err(|error| Inconclusive(error.to_string()))??;
    Ok(sum
        .filter(|sum| *sum != file.sha256)
        .map(|_| format!("{HOME}/{path} is not the file that was installed: its sum differs")))
}

fn evaluate(faults: &[String]) -> Option<Finding> {
    (!faults.is_empty()).then(|| Finding::cause(COMPONENTS_UNFIT, Part::Machine, faults.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_program() {
        let link = Path::new("/usr/local/bin/etcd");
        let reported = |target: Option<&str>, exists| displaced(link, target.map(PathBuf::from), exists);
        assert_eq!(reported(Some("/opt/blackstart/current/bin/etcd"), true), None);
        insta::assert_snapshot!(
            [reported(Some("/opt/etcd"), true), reported(None, true), reported(None, false)].map(Option::unwrap).join("\n"),
            @r"
        /usr/local/bin/etcd leads to /opt/etcd, not to /opt/blackstart/current/bin/etcd
        /usr/local/bin/etcd is a file that blackstart did not install, not a link to /opt/blackstart/current/bin/etcd
        /usr/local/bin/etcd is missing; it should lead to /opt/blackstart/current/bin/etcd
        "
        );
        assert_eq!(evaluate(&[]), None);
        assert_eq!(evaluate(&["a".into(), "b".into()]).unwrap().evidence, "a; b");
    }
}
