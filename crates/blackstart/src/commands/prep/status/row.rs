//! What is read of each node.

use ::prep::Reported;

/// A Node as the API has it.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) name: String,
    /// Whether its kubelet does; if not, its report may be outdated.
    pub(super) answers: bool,
    pub(super) iscsi: Option<Reported>,
    pub(super) gpu: Option<Reported>,
}
