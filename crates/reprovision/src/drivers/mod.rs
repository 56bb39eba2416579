//! How the work on a node is done.
//!
//! A driver is what is fetched, what must be true before anything is changed, and three lists: what is done before the
//! reboot, what after it and before the kubelet, and how it is undone. It is given the [`Run`] and the machine, and neither knows
//! phases nor orders. What it fetched is kept, and is what is applied: it is never fetched a second time.
//!
//! To add one: a module here with a [`Driver`], its line in [`of`], its name in `upgrades::Driver`.

mod rhcos;
mod rhel;

use std::{collections::BTreeMap, pin::Pin};

use checks::Check;
use engine::{Playbook, PlaybookError, StepError, Undos};
use host::{Disk, Host};

use crate::Run;

/// What every check of a driver may observe.
#[derive(Clone)]
pub struct Subject {
    /// The run.
    pub run: Run,
    /// The machine.
    pub host: Host,
}

/// What a driver says of its target: `target` (a digest), `from`, `to`.
pub type Described = BTreeMap<String, String>;

/// A future of a driver.
pub type Working<'a, T> = Pin<Box<dyn Future<Output = Result<T, StepError>> + Send + 'a>>;

/// How the work on a node is done.
pub trait Driver: Send + Sync {
    /// What must be true and needs no payload. Reads only.
    fn checks(&self) -> &'static [Check<Subject>];

    /// Fetches the payload and keeps it; done before, it does nothing.
    fn fetch<'a>(&'a self, run: &'a Run, host: &'a Host) -> Working<'a, ()>;

    /// What must be true of the payload and for it. Reads only.
    fn payload_checks(&self) -> &'static [Check<Subject>];

    /// What the payload makes of the node, and what the node is now.
    fn describe<'a>(&'a self, run: &'a Run, host: &'a Host) -> Working<'a, Described>;

    /// What is done before the reboot.
    fn stage1(&self, run: &Run) -> Result<Playbook, PlaybookError>;

    /// Whether the machine has to be rebooted after stage 1.
    fn needs_reboot<'a>(&'a self, run: &'a Run, host: &'a Host) -> Working<'a, bool>;

    /// What is done after the reboot, before the kubelet.
    fn stage2(&self, run: &Run) -> Result<Playbook, PlaybookError>;

    /// How all of it is undone, from what is on the disk: also where the payload is gone.
    fn undos(&self, disk: &dyn Disk) -> Result<Undos, StepError>;

    /// Whether the way back needs a reboot to be complete.
    fn way_back_reboots(&self) -> bool;

    /// What only the way back needed, undone once the node is confirmed; nothing by default.
    fn finish(&self) -> Option<Undos> {
        None
    }
}

/// The driver of this name.
pub fn of(name: upgrades::Driver) -> &'static dyn Driver {
    match name {
        upgrades::Driver::Rhcos => &rhcos::Rhcos,
        upgrades::Driver::Rhel => &rhel::Rhel,
    }
}
