//! The changes this crate asks for, with the modes of a PKI.

use std::path::PathBuf;

use host::{Change, Content};

use crate::{existing::Existing, table};

const FILE: u32 = 0o600;
const DIRECTORY: u32 = 0o700;

/// A key, or a file with a key inside.
pub(crate) fn secret(path: PathBuf, text: String) -> Change {
    Change::File { path, mode: FILE, content: Content::Secret(text.into_bytes()) }
}

/// A certificate or public key.
pub(crate) fn public(path: PathBuf, text: String) -> Change {
    Change::File { path, mode: FILE, content: Content::Plain(text.into_bytes()) }
}

/// The directories that are missing or open to others. The root may be shared with others and is only created.
pub(crate) fn directories(existing: &Existing) -> Vec<Change> {
    let root = (!existing.has_root()).then(|| existing.root().to_path_buf());
    let below = table::DIRECTORIES.iter().filter(|name| existing.lacks_private_directory(name, DIRECTORY));
    let paths = root.into_iter().chain(below.map(|name| existing.path(name)));
    paths.map(|path| Change::Directory { path, mode: DIRECTORY }).collect()
}

/// The files that stay as they are but have another mode, written again with the right one.
pub(crate) fn modes(existing: &Existing, planned: &[Change]) -> Vec<Change> {
    let stays = |path: &PathBuf| planned.iter().all(|change| change.path() != path);
    let differing = existing.files_without_mode(FILE).map(|(name, found)| (existing.path(name), found));
    differing
        .filter(|(path, _)| stays(path))
        .map(|(path, found)| {
            let public = path.extension().is_some_and(|extension| extension == "crt" || extension == "pub");
            let bytes = found.bytes.clone();
            let content = if public { Content::Plain(bytes) } else { Content::Secret(bytes) };
            Change::File { path, mode: FILE, content }
        })
        .collect()
}
