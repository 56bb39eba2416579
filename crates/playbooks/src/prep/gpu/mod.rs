//! A machine that transcodes with an Intel GPU.
//!
//! What counts is a display device of Intel, its driver, a render node and what `vainfo` says of it: modules load and
//! `/dev/dri` exists on machines without any. A machine without such a GPU is left as it is, and that is no error: in a
//! cluster some have one and some have not.
//!
//! The marker holds what was verified and when. It is the last thing that is written and the first that goes when
//! something it tells of is no longer true; so whoever looks for it sees a machine that works.

mod device;
mod evidence;
mod marker;
mod modules;
mod proof;
mod source;

use engine::{Playbook, PlaybookError, Reversal};

use super::{
    Survey, Task,
    packages::{Installed, Packages, Wanted},
};
use crate::stays::Stays;

pub(super) use evidence::Evidence;

const NAME: &str = "prep-gpu";

/// The packages; those of the second family come from RPM Fusion.
pub(super) const WANTED: Wanted = Wanted {
    apt: &["intel-media-va-driver-non-free", "intel-opencl-icd", "libva-dev", "vainfo"],
    dnf: &["intel-media-driver", "intel-compute-runtime", "libva-devel", "libva-utils"],
};

/// The list.
pub(super) fn playbook(task: &Task, survey: &Survey, add_non_free: bool) -> Result<Playbook, PlaybookError> {
    if !survey.is_applicable(task) {
        return Playbook::new(NAME).step(marker::Marker, &[]);
    }
    Playbook::new(NAME)
        .step(marker::TrueMarker, &[])?
        .step(modules::Modules, &["true-marker"])?
        .step(source::PackageSource::new(task, add_non_free), &["true-marker"])?
        .step(Packages::new(task), &["package-source"])?
        .step(proof::Proof, &["gpu-modules", "packages"])?
        .step(marker::Marker, &["gpu-proof"])
}

/// How it is taken back. Modules stay until the next boot, a screen may hang on them; a marker that was no longer true is not
/// put back.
pub(super) fn reversal(packages: Installed) -> Reversal {
    Reversal::new(NAME)
        .step("true-marker", Stays)
        .step("gpu-modules", Stays)
        .step("packages", packages)
        .step("marker", marker::Marked)
}
