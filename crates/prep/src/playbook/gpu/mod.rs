//! A machine that transcodes with an Intel GPU.
//!
//! What counts is a display device of Intel, its driver, a render node and what `vainfo` says of it: modules load and
//! `/dev/dri` exists on machines without any. A machine without such a GPU is left as it is, and that is no error: in a
//! cluster some have one and some have not.
//!
//! The marker holds what was verified and when. It is the last thing that is written and the first that goes when
//! something in it is no longer true; so where it is found, the machine works.

mod device;
mod evidence;
mod marker;
mod modules;
mod proof;
mod source;

use engine::{Playbook, PlaybookError, Stays, Undos};

use super::{
    Task,
    ids::{GPU_MODULES, GPU_PROOF, MARKER, PACKAGE_SOURCE, PACKAGES, TRUE_MARKER},
    packages::{Installed, Packages, Wanted},
};
pub(super) use evidence::Evidence;

const NAME: &str = "prep-gpu";

/// The packages; those of the second family come from RPM Fusion.
pub(super) const WANTED: Wanted = Wanted {
    apt: &["intel-media-va-driver-non-free", "intel-opencl-icd", "libva-dev", "vainfo"],
    dnf: &["intel-media-driver", "intel-compute-runtime", "libva-devel", "libva-utils"],
};

/// The list.
pub(super) fn playbook(task: &Task, is_applicable: bool, add_non_free: bool) -> Result<Playbook, PlaybookError> {
    Playbook::undone_by(&undos(Installed::default()))
        .step_if(is_applicable, marker::TrueMarker, &[])
        .step_if(is_applicable, modules::Modules, &[TRUE_MARKER])
        .step_if(is_applicable, source::PackageSource::new(task, add_non_free), &[TRUE_MARKER])
        .step_if(is_applicable, Packages::new(task), &[PACKAGE_SOURCE])
        .step_if(is_applicable, proof::Proof, &[GPU_MODULES, PACKAGES])
        .step(marker::Marker, &[GPU_PROOF])
        .build()
}

/// How it is undone. Modules stay until the next boot, a screen may hang on them; a marker that was no longer true is not
/// put back.
pub(super) fn undos(packages: Installed) -> Undos {
    Undos::new(NAME)
        .step(TRUE_MARKER, Stays)
        .step(GPU_MODULES, Stays)
        .step(PACKAGES, packages)
        .step(MARKER, marker::Marked)
}
