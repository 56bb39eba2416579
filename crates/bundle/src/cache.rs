//! Components that were fetched or built before, by their content.
//!
//! ```text
//! objects/ab/ab12…     a file under its SHA-256 sum
//! records/etcd/3f….json  which files a recipe gave
//! work/etcd/…          what is being made; only the process that holds the lock has something here
//! locks/etcd           one process at a time works on a component, others wait and share its result
//! ```
//! An object is moved into place whole, then the record that names it. Nothing is synced to disk: every object is
//! summed again before it is used, and one that a crash or a bad disk has spoilt is made again.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use serde::{Deserialize, Serialize};

use crate::{BundleError, Recipe, Stop, Sum, error::failed, lock::Lock, staged::remove};

/// The cache of components.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

/// A file in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The program's name.
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) sha256: Sum,
}

#[derive(Serialize, Deserialize)]
struct Record {
    recipe: Recipe,
    files: Vec<Stored>,
}

impl Cache {
    /// In this directory, which is made when it is needed.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where the user's programs keep what they can make again: `$XDG_CACHE_HOME`, else `~/.cache`; without a home
    /// directory, as in a service, `/var/cache`.
    pub fn of_user() -> Self {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        Self::at(caches.unwrap_or_else(|| "/var/cache".into()).join("blackstart/bundle"))
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// True where a recipe's files were kept once; they are verified only when they are used.
    pub(crate) fn knows(&self, recipe: &Recipe, component: &str) -> bool {
        self.record(recipe, component).exists()
    }

    /// Begins to work on a component; `waiting` is called once if another process is at it.
    pub(crate) fn claim(&self, component: &str, stop: &Stop, waiting: impl FnOnce()) -> Result<Claim<'_>, BundleError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (locks, work) = (self.root.join("locks"), self.root.join("work").join(component));
        create_dir(&locks)?;
        let lock = Lock::take(&locks.join(component), stop, waiting)?;
        remove(&work)?;
        // A compiler that outlived a killed run may still write to the old name.
        let work = work.join(format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        create_dir(&work)?;
        Ok(Claim { cache: self, component: component.to_owned(), work, _lock: lock })
    }

    /// The file's place in the cache.
    pub(crate) fn object(&self, sum: &Sum) -> PathBuf {
        self.root.join("objects").join(&sum.as_str()[..2]).join(sum.as_str())
    }

    fn record(&self, recipe: &Recipe, component: &str) -> PathBuf {
        self.root.join("records").join(component).join(format!("{}.json", recipe.key()))
    }
}

/// A component that this process works on. Its scratch files go away when it is dropped.
pub(crate) struct Claim<'a> {
    cache: &'a Cache,
    component: String,
    work: PathBuf,
    _lock: Lock,
}

impl Claim<'_> {
    /// A directory for whatever is needed on the way.
    pub(crate) fn work(&self) -> &Path {
        &self.work
    }

    /// The files that a recipe gave before, if all of them are still what they were.
    pub(crate) fn find(&self, recipe: &Recipe) -> Result<Option<Vec<Stored>>, BundleError> {
        let path = self.cache.record(recipe, &self.component);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("read", &path)(error)),
        };
        let Ok(Record { files, .. }) = serde_json::from_slice::<Record>(&text) else {
            remove(&path)?;
            return Ok(None);
        };
        for file in &files {
            if !self.is_whole(file)? {
                remove(&path)?;
                return Ok(None);
            }
        }
        Ok(Some(files))
    }

    /// Moves files into the cache, and remembers them as the result of a recipe if there is one.
    pub(crate) fn keep(
        &self,
        recipe: Option<&Recipe>,
        files: Vec<(String, PathBuf)>,
    ) -> Result<Vec<Stored>, BundleError> {
        let stored = files.into_iter().map(|(name, path)| self.store(name, &path)).collect::<Result<Vec<_>, _>>()?;
        if let Some(recipe) = recipe {
            self.remember(recipe, &stored)?;
        }
        Ok(stored)
    }

    /// Moves one file into the cache.
    pub(crate) fn store(&self, name: String, path: &Path) -> Result<Stored, BundleError> {
        let (sha256, size) = Sum::of_file(path)?;
        let object = self.cache.object(&sha256);
        create_dir(object.parent().unwrap_or(&self.cache.root))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o555)).map_err(failed("write", path))?;
        fs::rename(path, &object).map_err(failed("write", &object))?;
        Ok(Stored { name, size, sha256 })
    }

    fn remember(&self, recipe: &Recipe, files: &[Stored]) -> Result<(), BundleError> {
        let record = Record { recipe: recipe.clone(), files: files.to_vec() };
        let path = self.cache.record(recipe, &self.component);
        create_dir(path.parent().unwrap_or(&self.cache.root))?;
        let fresh = self.work.join("record.json");
        let text = serde_json::to_vec_pretty(&record).map_err(io::Error::from);
        text.and_then(|text| fs::write(&fresh, text)).map_err(failed("write", &fresh))?;
        fs::rename(&fresh, &path).map_err(failed("write", &path))
    }

    fn is_whole(&self, file: &Stored) -> Result<bool, BundleError> {
        let object = self.cache.object(&file.sha256);
        let whole = match fs::metadata(&object) {
            Ok(meta) => meta.len() == file.size && Sum::of_file(&object)?.0 == file.sha256,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed("stat", &object)(error)),
        };
        if !whole {
            remove(&object)?;
        }
        Ok(whole)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        // Best effort: the next claim of this component removes what is left.
        let _ = remove(&self.work);
    }
}

fn create_dir(dir: &Path) -> Result<(), BundleError> {
    fs::create_dir_all(dir).map_err(failed("create directory", dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Component, component::Arch};

    fn sample(cache: &Cache) -> (Recipe, Vec<Stored>) {
        let recipe = Recipe::go_modules(Component::named("runc").unwrap(), Arch::AMD64);
        let claim = cache.claim("runc", &Stop::default(), || {}).unwrap();
        let file = claim.work().join("runc");
        fs::write(&file, "a program").unwrap();
        let stored = claim.keep(Some(&recipe), vec![("runc".to_owned(), file)]).unwrap();
        (recipe, stored)
    }

    fn find(cache: &Cache, recipe: &Recipe) -> Option<Vec<Stored>> {
        cache.claim("runc", &Stop::default(), || {}).unwrap().find(recipe).unwrap()
    }

    #[test]
    fn what_was_kept_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let (recipe, stored) = sample(&cache);
        assert!(cache.knows(&recipe, "runc"));
        assert_eq!(find(&cache, &recipe), Some(stored));
        let other = Recipe::release(Component::named("runc").unwrap(), Arch::AMD64).unwrap();
        assert_eq!(find(&cache, &other), None);
        assert_eq!(fs::read_dir(dir.path().join("work/runc")).unwrap().count(), 0, "scratch files are gone");
    }

    #[test]
    fn what_was_spoilt_is_not_used_and_can_be_made_again() {
        for spoil in [
            (|object: &Path, _: &Path| fs::write(object, "A program").unwrap()) as fn(&Path, &Path),
            |object, _| fs::write(object, "").unwrap(),
            |object, _| fs::remove_file(object).unwrap(),
            |_, record| fs::write(record, "{").unwrap(),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let cache = Cache::at(dir.path());
            let (recipe, stored) = sample(&cache);
            let object = cache.object(&stored[0].sha256);
            fs::set_permissions(&object, fs::Permissions::from_mode(0o755)).unwrap();
            spoil(&object, &cache.record(&recipe, "runc"));
            assert_eq!(find(&cache, &recipe), None);
            assert!(!cache.knows(&recipe, "runc"));
            assert_eq!(sample(&cache).1, stored);
            assert_eq!(find(&cache, &recipe), Some(stored));
        }
    }

    #[test]
    fn a_claim_clears_what_a_killed_run_left() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join("work/runc/1-0/half");
        fs::create_dir_all(&left).unwrap();
        let other = dir.path().join("work/etcd/1-0/half");
        fs::create_dir_all(&other).unwrap();
        drop(Cache::at(dir.path()).claim("runc", &Stop::default(), || {}).unwrap());
        assert!(!left.exists());
        assert!(other.exists(), "another component may be in the making");
    }
}
