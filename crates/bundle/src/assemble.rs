//! Puts a bundle together from the cache.
//!
//! Files are copied, not linked: a change of a bundle must not change the cache. Where the file system can share
//! blocks between files, the copy costs nothing.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use crate::{
    BundleError, Cache, Entry, FORMAT, File, MANIFEST, Manifest, SourceKind, Sum, Wanted,
    component::{Arch, Shape},
    elf,
    error::failed,
    image::Image,
    obtained::{Content, Obtained},
    space,
    staged::Staged,
    wanted::{OWN, Own},
};

const PROGRAM: u32 = 0o755;
const DATA: u32 = 0o644;

/// Makes the bundle directory.
pub(crate) fn assemble(
    out: &Path,
    wanted: &Wanted,
    obtained: &[Obtained],
    cache: &Cache,
    arch: Arch,
) -> Result<Manifest, BundleError> {
    space::ensure("the bundle's directory", out, room(obtained, wanted.own.as_ref()))?;
    let staged = Staged::dir_beside(out)?;
    let target = Target { dir: staged.path(), cache, arch };
    let mut components = Vec::new();
    for one in obtained {
        components.push(target.component(one, wanted)?);
    }
    if let Some(own) = &wanted.own {
        let image = wanted.image_name(OWN, &own.version);
        let file = target.image(&image, OWN, None, &own.program)?;
        let (name, version) = (OWN.to_owned(), own.version.clone());
        components.push(Entry { name, version, source: SourceKind::Given, image: Some(image), files: vec![file] });
    }
    components.sort_by(|one, other| one.name.cmp(&other.name));
    let manifest = Manifest { format: FORMAT, arch: arch.name().to_owned(), components };
    let path = staged.path().join(MANIFEST);
    manifest.text().and_then(|text| fs::write(&path, text)).map_err(failed("write", &path))?;
    set_mode(&path, DATA)?;
    staged.commit()?;
    Ok(manifest)
}

/// The directory in the making.
struct Target<'a> {
    dir: &'a Path,
    cache: &'a Cache,
    arch: Arch,
}

impl Target<'_> {
    fn component(&self, obtained: &Obtained, wanted: &Wanted) -> Result<Entry, BundleError> {
        let Obtained { component, source, content } = obtained;
        let mut files = Vec::new();
        let mut image = wanted.image_of(component);
        match (content, component.shape) {
            (Content::Image(stored, name), _) => {
                files.push(self.copy(&stored.sha256, &image_path(component.name), DATA)?);
                image = Some(name.clone());
            }
            (Content::Programs(programs), Shape::Programs { dir }) => {
                for stored in programs {
                    files.push(self.copy(&stored.sha256, &format!("{dir}/{}", stored.name), PROGRAM)?);
                }
            }
            (Content::Programs(programs), Shape::Image { user }) => {
                for stored in programs {
                    let name = image.as_deref().unwrap_or(component.name);
                    files.push(self.image(name, component.name, user, &self.cache.object(&stored.sha256))?);
                }
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let (name, version) = (component.name.to_owned(), component.version.to_owned());
        Ok(Entry { name, version, source: *source, image, files })
    }

    fn copy(&self, sum: &Sum, path: &str, mode: u32) -> Result<File, BundleError> {
        let (from, to) = (self.cache.object(sum), self.prepare(path)?);
        fs::copy(&from, &to).map_err(failed("write", &to))?;
        self.describe(path, mode)
    }

    fn image(&self, image: &str, name: &str, user: Option<&str>, program: &Path) -> Result<File, BundleError> {
        elf::ensure_static(program)?;
        let path = image_path(name);
        let to = self.prepare(&path)?;
        Image { name: image, program: name, user, arch: self.arch, links: &[] }.write(program, &to)?;
        self.describe(&path, DATA)
    }

    fn prepare(&self, path: &str) -> Result<std::path::PathBuf, BundleError> {
        let to = self.dir.join(path);
        let dir = to.parent().unwrap_or(self.dir);
        fs::create_dir_all(dir).map_err(failed("create directory", dir))?;
        Ok(to)
    }

    /// Sums what really is in the directory now, not what should be.
    fn describe(&self, path: &str, mode: u32) -> Result<File, BundleError> {
        let file = self.dir.join(path);
        set_mode(&file, mode)?;
        let (sha256, size) = Sum::of_file(&file)?;
        Ok(File { path: path.to_owned(), size, sha256, mode })
    }
}

/// Bytes that the bundle takes, and twice its largest image while that is made.
fn room(obtained: &[Obtained], own: Option<&Own>) -> u64 {
    let stored = obtained.iter().flat_map(|one| match &one.content {
        Content::Programs(programs) => programs.iter(),
        Content::Image(image, _) => std::slice::from_ref(image).iter(),
    });
    let own = own.and_then(|own| fs::metadata(&own.program).ok()).map_or(0, |meta| meta.len());
    let sizes = || stored.clone().map(|file| file.size).chain([own]);
    sizes().sum::<u64>() + sizes().max().unwrap_or(0)
}

fn image_path(name: &str) -> String {
    format!("images/{name}.tar")
}

fn set_mode(path: &Path, mode: u32) -> Result<(), BundleError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed("write", path))
}
