//! What can go wrong while a bundle is made, packed or unpacked.

use std::{io, path::Path, path::PathBuf};

use explain::{Code, Explain};
use host::HostError;

use crate::{codes, problems::Problems};

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A file or directory could not be read or written.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The bundle is not sound.
    #[error(transparent)]
    Unsound(#[from] Problems),
    /// The archive ends too early or cannot be decoded.
    #[error("{path} is truncated or damaged", path = .path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// The decoder's error.
        #[source]
        source: io::Error,
    },
    /// Something else stands where the bundle should go.
    #[error("{path} is there already and is not a bundle", path = .path.display())]
    Target {
        /// The target.
        path: PathBuf,
    },
    /// The file system is too small.
    #[error("{what} needs {} at {path}, and {} are free", size(*needed), size(*free), path = .path.display())]
    Space {
        /// What the space is for.
        what: &'static str,
        /// A directory on the file system.
        path: PathBuf,
        /// In bytes.
        needed: u64,
        /// In bytes.
        free: u64,
    },
    /// No source has it.
    #[error("no source has {component} {version}: {}", reasons.join("; "))]
    NoSource {
        /// The component's name.
        component: &'static str,
        /// Its version.
        version: &'static str,
        /// One line per source.
        reasons: Vec<String>,
    },
    /// A source does not answer, or does not have what is wanted.
    #[error("{location}: {why}")]
    Unreachable {
        /// A host, an address, a path or a module.
        location: String,
        /// What was seen.
        why: String,
    },
    /// A download differs from its published checksum.
    #[error("{url} has the SHA-256 {found}, but its publisher lists {expected}")]
    Checksum {
        /// What was downloaded.
        url: String,
        /// Its SHA-256.
        found: String,
        /// The published one.
        expected: String,
    },
    /// Something needed for building is not installed.
    #[error("{what} is needed to build from source; missing packages: {}", packages.join(" "))]
    Tools {
        /// The first thing that was looked for and not found.
        what: String,
        /// What to install.
        packages: Vec<&'static str>,
        /// Why they could not be installed, where that was tried.
        #[source]
        why: Option<Box<BundleError>>,
    },
    /// A command failed.
    #[error("`{command}` failed ({how}){}", ending(.output))]
    Command {
        /// Its command line.
        command: String,
        /// Its exit status.
        how: String,
        /// The end of what it printed.
        output: String,
    },
    /// A command could not be started.
    #[error("cannot run `{command}`")]
    Start {
        /// Its command line.
        command: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A program of another version than the table's.
    #[error("{path} should be version {wanted}, but reports {output:?}", path = .path.display())]
    Version {
        /// The program.
        path: PathBuf,
        /// The version in the table.
        wanted: String,
        /// The first line of its answer.
        output: String,
    },
    /// A program that needs libraries cannot be the only file of an image.
    #[error("{path} {found}", path = .path.display())]
    NotStatic {
        /// The program.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },
    /// Asked to stop.
    #[error("stopped")]
    Stopped,
    /// No components for this processor.
    #[error("there are no components for the processor `{arch}`")]
    Platform {
        /// As Rust calls it.
        arch: &'static str,
    },
    /// A component name that the table does not have.
    #[error("there is no component `{name}`; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

impl Explain for BundleError {
    fn code(&self) -> Code {
        match self {
            Self::Host(error) => error.code(),
            Self::Unsound(problems) => problems.code(),
            Self::Archive { .. } => codes::ARCHIVE,
            Self::Target { .. } => codes::TARGET,
            Self::Space { .. } => codes::SPACE,
            Self::NoSource { .. } | Self::Unreachable { .. } => codes::NO_SOURCE,
            Self::Checksum { .. } => codes::CHECKSUM,
            Self::Tools { .. } => codes::TOOLS,
            Self::Command { .. } | Self::Start { .. } => codes::COMPILE,
            Self::Version { .. } => codes::VERSION,
            Self::NotStatic { .. } => codes::NOT_STATIC,
            Self::Stopped => codes::STOPPED,
            Self::Platform { .. } => codes::PLATFORM,
            Self::Unknown { .. } => codes::UNKNOWN,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Host(error) => error.hint(),
            Self::Tools { packages, .. } => Some(format!("apt-get install {}", packages.join(" "))),
            _ => None,
        }
    }
}

/// Turns an error of the system about a path into ours: `fs::read(path).map_err(failed("read", path))`.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BundleError {
    move |source| HostError { doing, path: path.to_path_buf(), source }.into()
}

/// Names for a sentence.
pub(crate) fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Bytes as a person says them.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} B"),
    }
}

fn ending(output: &str) -> String {
    if output.is_empty() { String::new() } else { format!(": {output}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in
            [(0, "0 B"), (999, "999 B"), (1_500, "1.5 kB"), (23_999_999, "23.9 MB"), (6 << 30, "6.4 GB")]
        {
            assert_eq!(size(bytes), text);
        }
    }
}
