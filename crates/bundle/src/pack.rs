//! A bundle as one file: tar, compressed with zstd. The same bundle gives the same bytes.
//!
//! Both directions stream: memory does not grow with the bundle. What is packed was verified first, and what is
//! unpacked is verified before it appears at its target.

use std::{
    fs,
    io::{self, BufReader, BufWriter, Read, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

use crate::{
    BundleError, Manifest,
    error::failed,
    manifest::{MANIFEST, stays_inside},
    problems::{Flaw, Problem, Problems},
    staged::{Staged, may_be_replaced},
    tarball::{append, append_file},
    verify::verify,
};

/// Half the time of level 9, and larger by a twentieth only.
const LEVEL: i32 = 6;

/// The output does not depend on how many there are, as long as there is at least one.
const WORKERS: u32 = 2;

/// Packs the bundle in `dir` into the file `to`.
pub fn pack(dir: &Path, to: &Path) -> Result<Manifest, BundleError> {
    let manifest = verify(dir)?;
    let staged = Staged::beside(to)?;
    let file = fs::File::create(staged.path()).map_err(failed("write", staged.path()))?;
    write(&manifest, dir, BufWriter::new(file)).map_err(failed("write", to))?;
    staged.commit()?;
    Ok(manifest)
}

fn write(manifest: &Manifest, dir: &Path, to: impl Write) -> io::Result<()> {
    let mut compressed = zstd::Encoder::new(to, LEVEL)?;
    compressed.multithread(WORKERS)?;
    compressed.include_checksum(true)?;
    let mut archive = tar::Builder::new(compressed);
    append(&mut archive, MANIFEST, 0o644, &manifest.text()?)?;
    let mut files: Vec<_> = manifest.files().collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    for file in files {
        append_file(&mut archive, &file.path, file.mode, &dir.join(&file.path))?;
    }
    archive.into_inner()?.finish()?.flush()
}

/// Unpacks the archive `from` into the directory `to`, replacing an older bundle there.
pub fn unpack(from: &Path, to: &Path) -> Result<Manifest, BundleError> {
    may_be_replaced(to)?;
    let file = fs::File::open(from).map_err(failed("read", from))?;
    let damaged = |source| BundleError::Archive { path: from.to_path_buf(), source };
    let mut plain = zstd::Decoder::new(BufReader::new(file)).map_err(damaged)?;
    let staged = Staged::dir_beside(to)?;
    let mut archive = tar::Archive::new(&mut plain);
    let mut problems = Vec::new();
    for entry in archive.entries().map_err(damaged)? {
        problems.extend(take(&mut entry.map_err(damaged)?, staged.path(), from)?);
    }
    // What follows the last entry has to be whole too: the frame's checksum is at its end.
    io::copy(&mut plain, &mut io::sink()).map_err(damaged)?;
    if !problems.is_empty() {
        return Err(Problems::of(from, problems).into());
    }
    let manifest = verify(staged.path()).map_err(|error| renamed(error, from))?;
    staged.commit()?;
    Ok(manifest)
}

/// Writes one entry below `dir`, or says why not. Only plain files with plain paths are ever written.
fn take<R: Read>(entry: &mut tar::Entry<R>, dir: &Path, archive: &Path) -> Result<Option<Problem>, BundleError> {
    let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let problem = |flaw| Ok(Some(Problem { path: path.clone(), flaw }));
    if !stays_inside(&path) {
        return problem(Flaw::Escapes);
    }
    if entry.header().entry_type() != tar::EntryType::Regular {
        return problem(Flaw::NotRegular);
    }
    let mode = entry.header().mode().map_err(|source| BundleError::Archive { path: archive.to_path_buf(), source })?;
    let target = dir.join(&path);
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).map_err(failed("create directory", parent))?;
    }
    let created = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target);
    let mut file = match created {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return problem(Flaw::Twice),
        Err(error) => return Err(failed("write", &target)(error)),
    };
    copy(entry, &mut file).map_err(|end| match end {
        End::Reading(source) => BundleError::Archive { path: archive.to_path_buf(), source },
        End::Writing(source) => failed("write", &target)(source),
    })?;
    let permissions = fs::Permissions::from_mode(mode & 0o777);
    file.set_permissions(permissions).map_err(failed("write", &target))?;
    Ok(None)
}

/// At which end a copy broke: a damaged archive and a full disk are not the same.
enum End {
    Reading(io::Error),
    Writing(io::Error),
}

fn copy(from: &mut impl Read, to: &mut impl Write) -> Result<(), End> {
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match from.read(&mut buffer).map_err(End::Reading)? {
            0 => return Ok(()),
            read => to.write_all(&buffer[..read]).map_err(End::Writing)?,
        }
    }
}

/// A person knows the archive, not the hidden directory it was unpacked to.
fn renamed(error: BundleError, dir: &Path) -> BundleError {
    match error {
        BundleError::Unsound(problems) => Problems::of(dir, problems.iter().cloned().collect()).into(),
        other => other,
    }
}
