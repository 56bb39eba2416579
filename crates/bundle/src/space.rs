//! Is there room? Asked before the work starts, so that a full disk is found in a second and not after minutes.

use std::path::Path;

use nix::sys::statvfs::statvfs;

use crate::{BundleError, error::failed};

/// Refuses where the file system that will hold `path` has less room than that.
pub(crate) fn ensure(what: &'static str, path: &Path, needed: u64) -> Result<(), BundleError> {
    // The directory may not be there yet; the nearest one above it is on the same file system.
    let path = std::path::absolute(path).map_err(failed("stat", path))?;
    let there = path.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/"));
    let stat = statvfs(there).map_err(|errno| failed("stat", there)(errno.into()))?;
    let free = stat.blocks_available() * stat.fragment_size();
    if free < needed {
        return Err(BundleError::Space { what, path: there.to_path_buf(), needed, free });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_much_is_needed_and_free() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("not/yet/there");
        ensure("a test", &below, 1).unwrap();
        let error = ensure("a test", &below, u64::MAX).unwrap_err();
        let BundleError::Space { path, needed, .. } = &error else { panic!("{error}") };
        assert_eq!((path.as_path(), *needed), (dir.path(), u64::MAX));
        assert!(error.to_string().starts_with("a test needs 18446744073.7 GB at "), "{error}");
    }
}
