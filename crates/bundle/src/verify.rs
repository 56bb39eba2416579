//! Is a bundle whole? Finds everything that is wrong with it, not only the first thing.
//!
//! The directory is listed without following links, then compared with the manifest. Nothing outside the directory is
//! ever opened, whatever the manifest or a link says.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use crate::{
    BundleError, File, Manifest, Sum,
    error::failed,
    manifest::{MANIFEST, stays_inside},
    problems::{Flaw, Problem, Problems},
};

/// Checks every file of the bundle in a directory against its manifest.
pub fn verify(dir: &Path) -> Result<Manifest, BundleError> {
    let manifest = Manifest::read(dir)?;
    let mut found = BTreeMap::new();
    list(dir, "", &mut found)?;
    let mut problems = strangers(&manifest, &found);
    let mut seen = BTreeSet::new();
    for file in manifest.files() {
        if !stays_inside(&file.path) || file.path == MANIFEST {
            problems.push(Problem { path: file.path.clone(), flaw: Flaw::Escapes });
        } else if !seen.insert(&file.path) {
            problems.push(Problem { path: file.path.clone(), flaw: Flaw::Twice });
        } else {
            let flaws = match found.get(&file.path) {
                Some(Found::File { mode, size }) => compare(file, *mode, *size, &dir.join(&file.path))?,
                Some(Found::Odd) => Vec::new(), // reported by `strangers`
                None => vec![Flaw::Missing],
            };
            problems.extend(flaws.into_iter().map(|flaw| Problem { path: file.path.clone(), flaw }));
        }
    }
    if problems.is_empty() { Ok(manifest) } else { Err(Problems::of(dir, problems).into()) }
}

/// What the directory really holds at a path.
enum Found {
    File { mode: u32, size: u64 },
    Odd,
}

fn list(dir: &Path, prefix: &str, found: &mut BTreeMap<String, Found>) -> Result<(), BundleError> {
    for entry in fs::read_dir(dir).map_err(failed("list", dir))? {
        let entry = entry.map_err(failed("list", dir))?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let meta = fs::symlink_metadata(entry.path()).map_err(failed("stat", &entry.path()))?;
        if meta.is_dir() {
            list(&entry.path(), &format!("{path}/"), found)?;
        } else if meta.is_file() {
            found.insert(path, Found::File { mode: meta.permissions().mode() & 0o7777, size: meta.len() });
        } else {
            found.insert(path, Found::Odd);
        }
    }
    Ok(())
}

/// What lies in the directory and should not.
fn strangers(manifest: &Manifest, found: &BTreeMap<String, Found>) -> Vec<Problem> {
    let known: BTreeSet<&str> = manifest.files().map(|file| file.path.as_str()).collect();
    let flaw = |(path, what): (&String, &Found)| match what {
        Found::Odd => Some(Flaw::NotRegular),
        Found::File { .. } if path == MANIFEST || known.contains(path.as_str()) => None,
        Found::File { .. } => Some(Flaw::Extra),
    };
    found.iter().filter_map(|it| flaw(it).map(|flaw| Problem { path: it.0.clone(), flaw })).collect()
}

fn compare(file: &File, mode: u32, size: u64, path: &Path) -> Result<Vec<Flaw>, BundleError> {
    let mut flaws = Vec::new();
    if size != file.size {
        flaws.push(Flaw::Size { found: size, expected: file.size });
    } else if Sum::of_file(path)?.0 != file.sha256 {
        flaws.push(Flaw::Content);
    }
    if mode != file.mode {
        flaws.push(Flaw::Mode { found: mode, expected: file.mode });
    }
    Ok(flaws)
}
