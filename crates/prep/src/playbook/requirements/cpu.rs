//! The processor is of the 6th generation (Skylake) or newer, whose graphics transcode well.
//!
//! By family and model, as in the kernel's `intel-family.h`: numbers do not follow age, so those that are older are
//! listed, and what is not known is taken for newer.

use crate::Verdict;

use super::{Check, Facts, for_gpu};
use crate::playbook::survey::Cpu;

pub(super) const CHECK: Check = Check { name: "cpu-generation", is_for: for_gpu, evaluate };

const FAMILY: u32 = 6;
/// A number of its own, between the old ones and the newest.
const PENTIUM_4: u32 = 15;

/// Models of family 6 from Skylake's number on that are older than Skylake: Broadwell-X, -D and -G, Airmont and Silvermont
/// in small devices.
const OLDER: [u32; 8] = [0x4F, 0x56, 0x5A, 0x5D, 0x57, 0x6E, 0x75, 0x85];
/// The first model of Skylake.
const SKYLAKE: u32 = 0x4E;

fn evaluate(facts: &Facts<'_>) -> (Verdict, String) {
    let Some(cpu) = &facts.survey.cpu else { return (Verdict::Unknown, "not in /proc/cpuinfo".to_owned()) };
    let Cpu { vendor, family, model, name } = cpu;
    let shown = if name.is_empty() { format!("family {family}, model {model}") } else { name.clone() };
    if !facts.survey.has_gpu {
        return (Verdict::Met, format!("{shown}: without an Intel GPU it does not matter"));
    }
    if vendor != "GenuineIntel" {
        return (Verdict::Warning, format!("{shown}: not Intel's, so only a card of Intel would transcode"));
    }
    let is_older = match *family {
        FAMILY => *model < SKYLAKE || OLDER.contains(model),
        family => family < FAMILY || family == PENTIUM_4,
    };
    if is_older {
        (Verdict::Warning, format!("{shown}: older than the 6th generation (Skylake), which is recommended"))
    } else {
        (Verdict::Met, format!("{shown}: 6th generation (Skylake) or newer"))
    }
}
