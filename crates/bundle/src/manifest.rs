//! `manifest.json`: what a bundle holds. It is the contract between who makes a bundle and who installs it.
//!
//! [`FORMAT`] grows when an older program could misread what a newer one wrote; a program refuses what is newer than
//! itself. Nothing in it depends on when or where the bundle was made, so that the same content gives the same bytes.

use std::{
    fs, io,
    path::{Component, Path},
};

use serde::{Deserialize, Serialize, de};

use crate::{
    BundleError, Sum,
    error::failed,
    problems::{Flaw, Problem, Problems},
};

/// The newest format this program knows, and the one it writes.
pub const FORMAT: u32 = 1;

/// The manifest's file name.
pub const MANIFEST: &str = "manifest.json";

/// What a bundle holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// See [`FORMAT`].
    pub format: u32,
    /// The processor it is for, as Go calls it.
    pub arch: String,
    /// By name.
    pub components: Vec<Entry>,
}

/// A component in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// For example `etcd`.
    pub name: String,
    /// Without a leading `v`.
    pub version: String,
    /// Where it came from.
    pub source: SourceKind,
    /// What an image is called once it is imported; `None` for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// By path.
    pub files: Vec<File>,
}

/// Where a component came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A directory or archive of the user.
    Given,
    /// Its publisher's download.
    Release,
    /// Built from Go modules.
    GoModules,
}

impl SourceKind {
    /// As the manifest writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Release => "release",
            Self::GoModules => "go-modules",
        }
    }
}

/// A file in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Below the bundle's root, with `/`.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// Of its content.
    pub sha256: Sum,
    /// Permission bits, written in octal.
    #[serde(serialize_with = "write_mode", deserialize_with = "read_mode")]
    pub mode: u32,
}

impl Manifest {
    /// Reads the manifest of the bundle in a directory; its files are not looked at.
    pub fn read(dir: &Path) -> Result<Self, BundleError> {
        let path = dir.join(MANIFEST);
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_file() => {}
            Ok(_) => return Err(unsound(dir, Flaw::NotRegular)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(unsound(dir, Flaw::NoManifest));
            }
            Err(error) => return Err(failed("stat", &path)(error)),
        }
        let text = fs::read(&path).map_err(failed("read", &path))?;
        Self::parse(&text).map_err(|flaw| unsound(dir, flaw))
    }

    /// Understands the text of a manifest, or says what is wrong with it.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Flaw> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let garbled = |error: serde_json::Error| Flaw::Garbled(error.to_string());
        let Version { format } = serde_json::from_slice(text).map_err(garbled)?;
        if format > FORMAT {
            return Err(Flaw::Newer { found: format, known: FORMAT });
        }
        serde_json::from_slice(text).map_err(garbled)
    }

    /// The text of the manifest.
    pub(crate) fn text(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// The component of this name.
    pub fn component(&self, name: &str) -> Option<&Entry> {
        self.components.iter().find(|entry| entry.name == name)
    }

    /// What a component's image is called once it is imported.
    pub fn image(&self, name: &str) -> Option<&str> {
        self.component(name)?.image.as_deref()
    }

    /// All files of all components.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.components.iter().flat_map(|entry| &entry.files)
    }

    /// Bytes of all files.
    pub fn size(&self) -> u64 {
        self.files().map(|file| file.size).sum()
    }
}

/// True for a path that stays below where it starts: relative, plain names only, written the one canonical way.
pub(crate) fn stays_inside(path: &str) -> bool {
    let plain = |part: Component| matches!(part, Component::Normal(_));
    let canonical = |part: &str| !part.is_empty() && part != "." && part != "..";
    Path::new(path).components().all(plain) && path.split('/').all(canonical) && !path.contains('\0')
}

fn unsound(dir: &Path, flaw: Flaw) -> BundleError {
    Problems::of(dir, vec![Problem { path: MANIFEST.to_owned(), flaw }]).into()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn write_mode<S: serde::Serializer>(mode: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{mode:04o}"))
}

fn read_mode<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let text = String::deserialize(deserializer)?;
    match u32::from_str_radix(&text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err(de::Error::custom(format!("`{text}` is not a file mode such as \"0755\""))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        let file = |path: &str| File { path: path.to_owned(), size: 3, sha256: Sum::of(b"abc"), mode: 0o755 };
        Manifest {
            format: FORMAT,
            arch: "amd64".to_owned(),
            components: vec![
                Entry {
                    name: "kubelet".to_owned(),
                    version: "1.36.3".to_owned(),
                    source: SourceKind::GoModules,
                    image: None,
                    files: vec![file("bin/kubelet")],
                },
                Entry {
                    name: "pause".to_owned(),
                    version: "3.10.2".to_owned(),
                    source: SourceKind::Release,
                    image: Some("blackstart.local/pause:3.10.2".to_owned()),
                    files: vec![File { mode: 0o644, ..file("images/pause.tar") }],
                },
            ],
        }
    }

    #[test]
    fn is_written_for_people_and_read_back() {
        let text = sample().text().unwrap();
        insta::assert_snapshot!(String::from_utf8(text.clone()).unwrap());
        assert_eq!(Manifest::parse(&text).unwrap(), sample());
        assert_eq!(sample().image("pause"), Some("blackstart.local/pause:3.10.2"));
        assert_eq!(sample().size(), 6);
    }

    #[test]
    fn what_cannot_be_understood_is_reported() {
        let good = String::from_utf8(sample().text().unwrap()).unwrap();
        for (text, says) in [
            (String::new(), "EOF"),
            (good.replace("\"format\": 1", "\"format\": 2, \"new\": true"), "Newer { found: 2, known: 1 }"),
            (good.replace("0755", "999"), "not a file mode"),
            (good.replace("0755", "4755"), "not a file mode"),
            (good.replace("ba7816bf", "zz"), "not a SHA-256 sum"),
            (good.replace("go-modules", "hearsay"), "hearsay"),
            (good.replace("arch", "archive"), "unknown field"),
        ] {
            let flaw = format!("{:?}", Manifest::parse(text.as_bytes()).unwrap_err());
            assert!(flaw.contains(says), "{says}: {flaw}");
        }
    }

    #[test]
    fn paths_stay_inside() {
        for path in ["bin/kubelet", "a", "a/b/c", "..a/b.."] {
            assert!(stays_inside(path), "{path}");
        }
        for path in ["", "/", "/bin/sh", "../x", "bin/../../x", "bin/..", "./bin", "bin//x", "bin/", ".", "a\0b"] {
            assert!(!stays_inside(path), "{path}");
        }
    }
}
