//! A master's way to etcd, as steps need it.

use std::path::Path;

use engine::StepError;
use etcd::Access;
use host::Host;

/// With the certificate of this master.
pub(crate) fn etcd_access(host: &Host, kubernetes_dir: &Path) -> Result<Access, StepError> {
    Access::read(&*host.disk, kubernetes_dir).map_err(|error| StepError::from_explained(&error))
}
