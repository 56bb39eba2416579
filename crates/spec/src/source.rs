//! The files of a description, read but not understood.
//!
//! [`Sources`] is plain data, so that everything behind it is pure: a file that could not be read is an entry like any
//! other and becomes a problem later, beside all the others.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use crate::{codes, location::FileId};
use explain::Diagnostic;

/// No description is larger: 5,000 nodes take about 1 MiB.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// `cluster.yaml` and the node files, as text.
#[derive(Debug, Default)]
pub struct Sources {
    cluster: Option<SourceFile>,
    nodes: Vec<SourceFile>,
}

/// One file: its name as shown to people, and its text.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) text: Result<String, Diagnostic>,
}

impl Sources {
    /// A `cluster.yaml` alone.
    pub fn cluster(text: impl Into<String>) -> Self {
        Self { cluster: Some(SourceFile::new("cluster.yaml", text)), nodes: Vec::new() }
    }

    /// Adds a node file; `name` is the one shown to people, for example `nodes/master-01.yaml`.
    #[must_use]
    pub fn with_node(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.nodes.push(SourceFile::new(name, text));
        self
    }

    /// Reads `cluster.yaml` and `nodes/*.yaml` of a directory. What cannot be read becomes a problem of the check.
    pub fn read(dir: &Path) -> Self {
        match fs::metadata(dir) {
            Ok(meta) if meta.is_dir() => {
                Self { cluster: Some(read_cluster(dir)), nodes: read_nodes(&dir.join("nodes")) }
            }
            Ok(_) => Self::unreadable(dir, Diagnostic::new(codes::NOT_FOUND, "this is a file, not a directory")),
            Err(error) => Self::unreadable(dir, from_io("directory", &error)),
        }
    }

    fn unreadable(path: &Path, why: Diagnostic) -> Self {
        Self { cluster: Some(SourceFile { name: path.display().to_string(), text: Err(why) }), nodes: Vec::new() }
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(self.cluster.iter().chain(&self.nodes))
    }

    pub(crate) fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.cluster.iter().chain(&self.nodes).nth(id.0 as usize)
    }
}

impl SourceFile {
    fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = without_byte_order_mark(text.into());
        let text = if text.len() as u64 > MAX_FILE_BYTES { Err(too_large()) } else { Ok(text) };
        Self { name: name.into(), text }
    }

    fn read(path: &Path) -> Self {
        Self { name: shown(path), text: read_text(path) }
    }
}

fn from_io(what: &str, error: &io::Error) -> Diagnostic {
    if error.kind() == io::ErrorKind::NotFound {
        Diagnostic::new(codes::NOT_FOUND, format!("there is no such {what}"))
    } else {
        Diagnostic::new(codes::UNREADABLE, format!("cannot read this {what}: {error}"))
    }
}

fn too_large() -> Diagnostic {
    Diagnostic::new(codes::TOO_LARGE, format!("this file is larger than {} MiB", MAX_FILE_BYTES / (1024 * 1024)))
}

fn read_cluster(dir: &Path) -> SourceFile {
    let mut file = SourceFile::read(&dir.join("cluster.yaml"));
    if let Err(why) = &mut file.text
        && why.code == codes::NOT_FOUND
        && dir.join("cluster.yml").exists()
    {
        why.hint = "there is a cluster.yml: rename it to cluster.yaml".into();
    }
    file
}

/// The node files, sorted by name; hidden files and other endings (editors' left-overs, a README) are not ours.
fn read_nodes(dir: &Path) -> Vec<SourceFile> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            return vec![SourceFile { name: shown(dir), text: Err(from_io("directory", &error)) }];
        }
    };
    let mut files = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) if is_node_file(&entry.path()) => files.push(SourceFile::read(&entry.path())),
            Ok(_) => {}
            Err(error) => {
                files.push(SourceFile { name: shown(dir), text: Err(from_io("directory", &error)) });
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn is_node_file(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    yaml && !hidden
}

fn read_text(path: &Path) -> Result<String, Diagnostic> {
    let from_io = |error: io::Error| from_io("file", &error);
    let meta = fs::metadata(path).map_err(from_io)?;
    // A named pipe would block and a device need not end, so only plain files are opened.
    if !meta.is_file() {
        return Err(Diagnostic::new(codes::UNREADABLE, "this is not a plain file"));
    }
    if meta.len() > MAX_FILE_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(from_io)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(from_io)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    String::from_utf8(bytes).map(without_byte_order_mark).map_err(|error| not_utf8(error.as_bytes()))
}

fn not_utf8(bytes: &[u8]) -> Diagnostic {
    if let [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] = bytes {
        return Diagnostic::new(codes::NOT_UTF8, "this file is UTF-16 text");
    }
    let valid = bytes.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
    let line = 1 + bytes.iter().take(valid).filter(|byte| **byte == b'\n').count();
    let byte = bytes.get(valid).copied().unwrap_or_default();
    Diagnostic::new(codes::NOT_UTF8, format!("this file is not UTF-8: byte 0x{byte:02x} in line {line}"))
        .with_hint("save the file as UTF-8, or check that it is a text file")
}

fn without_byte_order_mark(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}
