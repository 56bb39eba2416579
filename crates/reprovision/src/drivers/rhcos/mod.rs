//! RHCOS: an Ignition payload, made true by the machine-config-daemon of `OpenShift`.
//!
//! ```text
//! fetch ─► payload (pure: images, transform, reconcilable) ─► machine-config ─► kept ─► pin-deployment ─► mcd-pull ─► mcd
//!    reboot, by the daemon or by us ─► booted-image ─► current-config ─► stale-files
//! ```
//! The daemon is run from the payload's own image, with a file of ours: the path at which it would look by itself arms a unit of the
//! system, and is never written. It works on the old deployment's `/etc`, stages the new one, and reboots by itself, at a moment
//! that nobody is told: so every step looks at the machine, and may be cut off anywhere.
//!
//! What the daemon does is known from its source, openshift/machine-config-operator 7ff337a4. Given a file by
//! `--machineconfig-file` it renames nothing: that it is done shows in `currentconfig`, its last note before the reboot.
//!
//! Not looked at after a power cut: extensions and kernel types of the lost deployment, where neither the image nor the arguments
//! of the kernel change.

mod checks;
mod data_url;
mod fetch;
mod ids;
mod images;
mod kept;
mod machine_config;
mod mcd;
mod node;
mod payload;
mod problem;
mod reconcilable;
mod registry;
mod rpm_ostree;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod server;
mod steps;
mod stored;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transform;
mod way_back;

use ::checks::Check;
use engine::{Playbook, PlaybookError, Stays, StepError, Undos};
use host::{Disk, Host};

use super::{Described, Driver, Subject, Working};
use crate::Run;
use ids::{BOOTED_IMAGE, CURRENT_CONFIG, KEPT, MACHINE_CONFIG, MCD, MCD_PULL, PIN_DEPLOYMENT, STALE_FILES};
use rpm_ostree::Status;
use stored::Target;

const NAME: &str = "reprovision-rhcos";

/// See the module.
pub(super) struct Rhcos;

impl Driver for Rhcos {
    fn checks(&self) -> &'static [Check<Subject>] {
        checks::FIRST
    }

    fn fetch<'a>(&'a self, run: &'a Run, host: &'a Host) -> Working<'a, ()> {
        Box::pin(fetch::fetch(run, host))
    }

    fn payload_checks(&self) -> &'static [Check<Subject>] {
        checks::OF_PAYLOAD
    }

    fn describe<'a>(&'a self, run: &'a Run, host: &'a Host) -> Working<'a, Described> {
        Box::pin(async move {
            let target = Target::read(&*host.disk, run)?;
            let current = node::previous(&*host.disk)?;
            let from = current.as_ref().map_or("no MachineConfig", |config| config.name());
            let booted = Status::read(host).await?.booted()?.name();
            let to = format!("{} on {}", target.config.name(), target.images.os.short());
            let described = [("target", target.digest()), ("from", format!("{from} on {booted}")), ("to", to)];
            Ok(described.map(|(key, text)| (key.to_owned(), explain::plain(&text).into_owned())).into())
        })
    }

    fn stage1(&self, run: &Run) -> Result<Playbook, PlaybookError> {
        Playbook::undone_by(&undos())
            .step(steps::MachineConfigFile { run: run.clone() }, &[])
            .step(steps::KeptFiles { run: run.clone() }, &[MACHINE_CONFIG])
            .step(steps::PinnedDeployment { run: run.clone() }, &[KEPT])
            .step(steps::McdImage { run: run.clone() }, &[PIN_DEPLOYMENT])
            .step(steps::AppliedByMcd { run: run.clone() }, &[MCD_PULL])
            .build()
    }

    fn needs_reboot<'a>(&'a self, run: &'a Run, host: &'a Host) -> Working<'a, bool> {
        Box::pin(async move {
            let disk = &*host.disk;
            // What it has written is of this boot: services have read what was there before.
            let boot_id = node::boot_id(disk)?;
            let started = kept::read_started(disk)?.filter(|started| started.run == run.order.run);
            if started.is_some_and(|started| started.boot_id == boot_id) {
                return Ok(true);
            }
            let target = Target::read(disk, run)?;
            Ok(!Status::read(host).await?.booted()?.is_of(&target.config.spec().os_image_url))
        })
    }

    fn stage2(&self, run: &Run) -> Result<Playbook, PlaybookError> {
        Playbook::undone_by(&undos())
            .step(steps::BootedImage { run: run.clone() }, &[])
            .step(steps::CurrentConfig { run: run.clone() }, &[BOOTED_IMAGE])
            .step(steps::StaleFiles { run: run.clone() }, &[CURRENT_CONFIG])
            .build()
    }

    fn undos(&self, _disk: &dyn Disk) -> Result<Undos, StepError> {
        Ok(undos())
    }

    fn way_back_reboots(&self) -> bool {
        true
    }

    fn finish(&self) -> Option<Undos> {
        let others = ids::ALL.iter().filter(|id| **id != PIN_DEPLOYMENT);
        Some(Undos::new(NAME).step(PIN_DEPLOYMENT, steps::UnpinForGood).keeping(others))
    }
}

/// How all of it is undone. None of it needs the payload: what it needs was kept.
fn undos() -> Undos {
    Undos::new(NAME)
        .step(KEPT, Stays)
        .step(PIN_DEPLOYMENT, steps::Unpin)
        .step(MCD_PULL, Stays)
        .step(MCD, steps::Returned)
        .step(STALE_FILES, Stays)
}
