//! A machine that attaches volumes by iSCSI, as Longhorn's do.
//!
//! The packages are installed on every machine, also on one whose kernel cannot: there the run ends at [`kernel`], which
//! says so. `iscsid` is not enabled there. It would fail at every boot, and a unit that always fails hides those that
//! fail for a reason.

mod daemon;
mod initiator;
mod kernel;
mod proof;
mod seen;

use std::path::Path;

use engine::{Playbook, PlaybookError, Stays, Undos};

use super::{
    Task,
    ids::{INITIATOR_NAME, ISCSI_KERNEL, ISCSI_PROOF, ISCSID, PACKAGES},
    packages::{Installed, Packages, Wanted},
};
pub(super) use seen::{multipath, nfs, seen};

const NAME: &str = "prep-iscsi";

/// Reported when the packages go.
const NAME_STAYS: &str = "the initiator name in /etc/iscsi/initiatorname.iscsi stays: targets know this machine by it; \
                          where none does, delete it by hand";

/// The packages, with the client of NFS or without.
pub(super) const fn wanted(with_nfs: bool) -> Wanted {
    if with_nfs {
        Wanted { apt: &["open-iscsi", "nfs-common"], dnf: &["iscsi-initiator-utils", "nfs-utils"] }
    } else {
        Wanted { apt: &["open-iscsi"], dnf: &["iscsi-initiator-utils"] }
    }
}

/// The list.
pub(super) fn playbook(task: &Task) -> Result<Playbook, PlaybookError> {
    let state_dir = task.state_dir();
    Playbook::undone_by(&undos(Installed::default(), &state_dir))
        .step(Packages::new(task), &[])
        .step(initiator::InitiatorName::new(&state_dir), &[PACKAGES])
        .step(kernel::KernelSupport, &[PACKAGES])
        .step(daemon::Iscsid, &[INITIATOR_NAME, ISCSI_KERNEL])
        .step(proof::Proof::new(&state_dir), &[ISCSID])
        .build()
}

/// How it is undone. The module stays until the next boot: one in use cannot be unloaded, and one that is not used does
/// no harm.
pub(super) fn undos(packages: Installed, state_dir: &Path) -> Undos {
    Undos::new(NAME)
        .step(PACKAGES, packages.saying(NAME_STAYS))
        .step(INITIATOR_NAME, initiator::Named::new(state_dir))
        .step(ISCSI_KERNEL, Stays)
        .step(ISCSID, daemon::Started)
        .step(ISCSI_PROOF, proof::Proved::new(state_dir))
}
