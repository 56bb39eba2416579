//! Errors of Ceph, as a step has them.

use ::ceph::CephError;
use engine::StepError;

/// What may pass by itself is tried again.
pub(super) fn failed(error: &CephError) -> StepError {
    let failed = StepError::from_explained(error);
    if error.is_transient() { failed.retryable() } else { failed }
}
