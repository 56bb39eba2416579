//! Is a bundle whole? Finds everything that is wrong with it, not only the first thing.
//!
//! The directory is listed without following links, then compared with the manifest. Nothing outside the directory is
//! ever opened, whatever the manifest or a link says.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use explain::{Code, Explain};

use crate::{
    BundleError, File, Manifest, Sum, codes,
    error::failed,
    manifest::{FORMAT, MANIFEST, stays_inside},
};

/// One thing that is wrong with a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, below the bundle's root.
    pub path: String,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// What can be wrong with a file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// There is no manifest.
    NoManifest,
    /// The manifest makes no sense; with the parser's error.
    Garbled(String),
    /// The manifest is of a format this program does not know.
    Newer {
        /// Its format.
        found: u32,
    },
    /// Another size than the manifest says.
    Size {
        /// In bytes.
        found: u64,
        /// In bytes.
        expected: u64,
    },
    /// The right size, but another content.
    Content,
    /// It is in the manifest only.
    Missing,
    /// It is in the directory only.
    Extra,
    /// Other permission bits.
    Mode {
        /// Permission bits.
        found: u32,
        /// Permission bits.
        expected: u32,
    },
    /// Absolute, or with `..`, or otherwise not a plain way down.
    Escapes,
    /// A link, a device or the like.
    NotRegular,
    /// Named more than once.
    Twice,
}

impl Problem {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self.flaw {
            Flaw::NoManifest | Flaw::Garbled(_) | Flaw::Twice => codes::MANIFEST,
            Flaw::Newer { .. } => codes::NEWER,
            Flaw::Size { .. } | Flaw::Content => codes::CHANGED,
            Flaw::Missing => codes::MISSING,
            Flaw::Extra => codes::EXTRA,
            Flaw::Mode { .. } => codes::MODE,
            Flaw::Escapes => codes::ESCAPES,
            Flaw::NotRegular => codes::NOT_REGULAR,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Debug keeps control characters of a hostile name off the terminal.
        let path = format!("{:?}", self.path);
        match &self.flaw {
            Flaw::NoManifest => write!(f, "there is no {path}"),
            Flaw::Garbled(why) => write!(f, "cannot parse {path}: {why}"),
            Flaw::Newer { found } => write!(f, "{path} has format {found}, and this program knows up to {FORMAT}"),
            Flaw::Size { found, expected } => write!(f, "{path} has {found} bytes instead of {expected}"),
            Flaw::Content => write!(f, "{path} has another content than its sum in the manifest"),
            Flaw::Missing => write!(f, "{path} is missing"),
            Flaw::Extra => write!(f, "{path} is not in the manifest"),
            Flaw::Mode { found, expected } => write!(f, "{path} has mode {found:04o} instead of {expected:04o}"),
            Flaw::Escapes => write!(f, "{path} leads out of the bundle"),
            Flaw::NotRegular => write!(f, "{path} is neither a plain file nor a directory"),
            Flaw::Twice => write!(f, "{path} is named more than once"),
        }
    }
}

/// Everything that is wrong with a bundle; never empty.
#[derive(Debug)]
pub struct Problems {
    place: PathBuf,
    problems: Vec<Problem>,
}

impl Problems {
    pub(crate) fn of(place: &Path, mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|one, other| one.path.cmp(&other.path));
        Self { place: place.to_path_buf(), problems }
    }

    /// By path.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a sound bundle: ", self.place.display())?;
        for (index, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl Explain for Problems {
    /// That of the first problem; [`Problems::iter`] has the others.
    fn code(&self) -> Code {
        self.problems.first().map_or(codes::MANIFEST, Problem::code)
    }
}

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
