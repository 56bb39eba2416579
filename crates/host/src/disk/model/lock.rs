//! A lock on the model: held until it is dropped.

use std::path::PathBuf;

use super::ModelDisk;
use crate::{HostError, disk::LockGuard};

pub(super) struct ModelLock {
    pub(super) disk: ModelDisk,
    pub(super) path: PathBuf,
}

impl LockGuard for ModelLock {
    fn note(&self, _text: &str) -> Result<(), HostError> {
        Ok(())
    }
}

impl Drop for ModelLock {
    fn drop(&mut self) {
        self.disk.lock().locked.remove(&self.path);
    }
}
