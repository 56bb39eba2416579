//! What the user gives: a bundle, a packed bundle, or programs in a directory or a tar archive.
//!
//! From a bundle, a component is taken when name, version and processor are those of the table. Loose programs are
//! found by their names, directly or in `bin/` and `cni/`, and have to say the right version.

use std::{
    fs,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use super::{Files, Job, Refusal};
use crate::{
    BundleError, Component, Entry, File, Manifest, State, codes,
    component::Arch,
    error::failed,
    manifest::{MANIFEST, SourceKind},
    pack::unpack,
    table,
    verify::verify,
};

/// The source.
pub(crate) struct Given {
    /// As the user wrote it.
    named: PathBuf,
    dir: PathBuf,
    /// If it is a bundle.
    manifest: Option<Manifest>,
}

/// What a component is in there.
pub(crate) enum Found {
    /// Programs, copied to the work directory.
    Programs(Files),
    /// A ready image, copied to the work directory, and its name.
    Image(PathBuf, String),
}

impl Given {
    /// Looks at what was given; archives are unpacked below `work`.
    pub(crate) fn open(path: &Path, work: &Path) -> Result<Self, BundleError> {
        let meta = fs::metadata(path).map_err(failed("read", path))?;
        let dir = if meta.is_dir() { path.to_path_buf() } else { unpack_any(path, &work.join("given"))? };
        let manifest = if dir.join(MANIFEST).exists() { Some(verify(&dir)?) } else { None };
        Ok(Self { named: path.to_path_buf(), dir, manifest })
    }

    /// A component, if it is in there; `image` is what its image has to be called.
    pub(crate) fn fetch(&self, job: &Job, image: Option<&str>) -> Result<Found, Refusal> {
        job.emit(State::Fetching(SourceKind::Given));
        match &self.manifest {
            Some(manifest) => self.take_from_bundle(manifest, job, image),
            None => self.take_loose(job).map(Found::Programs),
        }
    }

    fn take_from_bundle(&self, manifest: &Manifest, job: &Job, image: Option<&str>) -> Result<Found, Refusal> {
        let entry = fitting(manifest, job.component, job.arch, image).map_err(|why| self.not_here(&why))?;
        let copy_here = |file: &File| {
            let name = file.path.rsplit_once('/').map_or(file.path.as_str(), |(_, name)| name);
            Ok((name.to_owned(), copy(&self.dir.join(&file.path), &job.work().join(name))?))
        };
        match (&entry.image, entry.files.as_slice()) {
            (Some(image), [file]) => Ok(Found::Image(copy_here(file)?.1, image.clone())),
            (_, files) => Ok(Found::Programs(files.iter().map(copy_here).collect::<Result<_, BundleError>>()?)),
        }
    }

    fn take_loose(&self, job: &Job) -> Result<Files, Refusal> {
        let mut files = Files::new();
        for program in job.component.programs {
            let paths = ["", "bin", "cni"].map(|dir| self.dir.join(dir).join(program.name));
            let found = paths.iter().find(|path| path.is_file());
            let path = found.ok_or_else(|| self.not_here(&format!("there is no `{}` in it", program.name)))?;
            files.push((program.name.to_owned(), copy(path, &job.work().join(program.name))?));
        }
        Ok(files)
    }

    fn not_here(&self, why: &str) -> Refusal {
        let location = self.named.display().to_string();
        Refusal::Unavailable(BundleError::Unreachable { location, why: why.to_owned() })
    }
}

/// The entry of a bundle that can stand for a component of the table, or why none can.
fn fitting<'a>(
    manifest: &'a Manifest,
    component: &Component,
    arch: Arch,
    image: Option<&str>,
) -> Result<&'a Entry, String> {
    if manifest.arch != arch.name() {
        return Err(format!("it is a bundle for {}", manifest.arch));
    }
    let entry = manifest.component(component.name).ok_or("it does not have it")?;
    if entry.version != component.version {
        return Err(format!("it has version {}", entry.version));
    }
    if entry.image.as_deref() != image {
        return Err(format!("its image is called `{}`", entry.image.as_deref().unwrap_or_default()));
    }
    Ok(entry)
}

fn copy(from: &Path, to: &Path) -> Result<PathBuf, BundleError> {
    fs::copy(from, to).map_err(failed("read", from))?;
    Ok(to.to_path_buf())
}

/// Unpacks a packed bundle, or the known programs of a tar archive, compressed or not.
fn unpack_any(archive: &Path, to: &Path) -> Result<PathBuf, BundleError> {
    let mut start = [0; 4];
    let mut file = fs::File::open(archive).map_err(failed("read", archive))?;
    let read = file.read(&mut start).map_err(failed("read", archive))?;
    let file = BufReader::new(fs::File::open(archive).map_err(failed("read", archive))?);
    match &start[..read] {
        [0x28, 0xb5, 0x2f, 0xfd] => match unpack(archive, to) {
            Ok(_) => Ok(()),
            // Compressed like a bundle, but programs without a manifest.
            Err(BundleError::Unsound(problems)) if problems.iter().all(|it| it.code() == codes::MANIFEST) => {
                let plain = zstd::Decoder::new(file).map_err(damaged(archive))?;
                take_programs(plain, archive, to)
            }
            Err(error) => Err(error),
        },
        [0x1f, 0x8b, ..] => take_programs(flate2::read::GzDecoder::new(file), archive, to),
        _ => take_programs(file, archive, to),
    }?;
    Ok(to.to_path_buf())
}

fn take_programs(plain: impl Read, archive: &Path, to: &Path) -> Result<(), BundleError> {
    fs::create_dir_all(to).map_err(failed("create directory", to))?;
    let mut entries = tar::Archive::new(plain);
    for entry in entries.entries().map_err(damaged(archive))? {
        let mut entry = entry.map_err(damaged(archive))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        // Only the last part of the path is used, and only if we know it: nothing can lead elsewhere.
        let name = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
        let mut programs = table::COMPONENTS.iter().flat_map(|component| component.programs);
        if entry.header().entry_type().is_file() && programs.any(|program| program.name == name) {
            let target = to.join(name);
            let mut file = fs::File::create(&target).map_err(failed("write", &target))?;
            io::copy(&mut entry, &mut file).map_err(damaged(archive))?;
        }
    }
    Ok(())
}

fn damaged(archive: &Path) -> impl Fn(io::Error) -> BundleError {
    let path = archive.to_path_buf();
    move |source| BundleError::Archive { path: path.clone(), source }
}
