//! What can be wrong with a bundle.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use explain::{Code, Explain};

use crate::codes;

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
        /// The newest one that this program knows.
        known: u32,
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
            Flaw::Newer { found, known } => {
                write!(f, "{path} has format {found}, and this program knows up to {known}")
            }
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
    dir: PathBuf,
    problems: Vec<Problem>,
}

impl Problems {
    pub(crate) fn of(dir: &Path, mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|one, other| one.path.cmp(&other.path));
        Self { dir: dir.to_path_buf(), problems }
    }

    /// By path.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a sound bundle: ", self.dir.display())?;
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
