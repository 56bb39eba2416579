//! What can be seen of a lab's machines without asking anybody inside: quick enough to be done several times a second,
//! and possible from the first moment of `lab up`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Capabilities, Lab, LabError, Machine, cuts};

/// Whether a machine has power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// It was never made, or is made and has no process.
    Off,
    /// It runs, however far it is.
    On,
    /// Its processes are stopped where they are.
    Paused,
}

/// A machine as seen from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideStatus {
    /// Its name.
    pub name: String,
    /// Whether it has power.
    pub power: Power,
    /// What it is cut off from, as a person says it; empty if from nothing.
    pub cut_off_from: Vec<String>,
    /// Where its files are for root on this computer: its own `/` while it is on, else what it has written.
    pub root: PathBuf,
}

/// All machines of a lab.
pub fn outside_status(lab: &Lab, capabilities: &Capabilities) -> Result<Vec<OutsideStatus>, LabError> {
    let cuts = cuts::read(lab);
    let one = |name: &str| {
        let machine = Machine::new(lab, name, capabilities)?;
        let leader = machine.groups.leader();
        let power = match leader {
            None => Power::Off,
            Some(_) if machine.groups.is_frozen() => Power::Paused,
            Some(_) => Power::On,
        };
        Ok(OutsideStatus {
            name: name.to_owned(),
            power,
            cut_off_from: cuts.iter().filter_map(|cut| cuts::other_side(cut, name)).collect(),
            root: leader
                .map_or_else(|| machine.upper(), |leader| Path::new("/proc").join(leader.to_string()).join("root")),
        })
    };
    lab.machines.iter().map(|machine| one(&machine.name)).collect()
}
