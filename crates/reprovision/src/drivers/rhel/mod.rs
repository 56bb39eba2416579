//! Nodes of RHEL and its relatives: a payload of bash and Ansible, in two stages with a reboot between.
//!
//! ```text
//! checks ─► fetch (once; unpacked) ─► payload checks ─► kept ─► stage-1 ─► reboot ─► stage-2 ─► kubelet
//!                                                         └── way back: packages (dnf history) ◄──┘ then files, kernel, reboot
//! ```
//! What a stage does is the payload's business; what is ours is that it is run with what the API gave, to its end, again after a
//! crash, and that there is a way back as far as one goes: dnf's transactions, the files that the payload declares, the kernel. What
//! is beyond these stays, and the way back says so.
//!
//! [`payload`] has what a payload may hold. To add a check: a file in `checks/` and its line in the list there.

mod api;
mod checks;
mod dnf;
mod ids;
mod kept;
mod payload;
mod record;
mod script;
mod stage;
#[cfg(test)]
mod testing;
mod unpack;

use std::sync::Arc;

use ::checks::Check;
use engine::{Playbook, PlaybookError, StepError, Undos};
use host::{Disk, Host};

use self::{
    kept::{Kept, PutBack},
    record::{Begun, Record},
    script::Bash,
    stage::{Stage, Undone, Which},
};
use super::{Described, Driver, Subject, Working};
use crate::Run;

/// What its ledger calls it: one list, run in two parts and undone as a whole.
const PLAYBOOK: &str = "reprovision-rhel";

/// How much of a sum is enough for people.
const SHORT: usize = 12;

/// The driver.
pub(super) struct Rhel;

impl Driver for Rhel {
    fn checks(&self) -> &'static [Check<Subject>] {
        checks::before()
    }

    fn fetch<'a>(&'a self, run: &'a Run, host: &'a Host) -> Working<'a, ()> {
        Box::pin(payload::fetch(run, host))
    }

    fn payload_checks(&self) -> &'static [Check<Subject>] {
        checks::of_payload()
    }

    fn describe<'a>(&'a self, run: &'a Run, host: &'a Host) -> Working<'a, Described> {
        Box::pin(describe(run, host))
    }

    fn stage1(&self, run: &Run) -> Result<Playbook, PlaybookError> {
        let undos = undos(None, PutBack { count: 0 });
        let stage = Stage { which: Which::First, run: run.clone(), scripts: Arc::new(Bash) };
        Playbook::undone_by(&undos).step(Kept { run: run.clone() }, &[]).step(stage, &[ids::KEPT]).build()
    }

    fn needs_reboot<'a>(&'a self, _run: &'a Run, host: &'a Host) -> Working<'a, bool> {
        Box::pin(async { Ok(!payload::says_no_reboot(&*host.disk)?) })
    }

    fn stage2(&self, run: &Run) -> Result<Playbook, PlaybookError> {
        let undos = undos(None, PutBack { count: 0 });
        let stage = Stage { which: Which::Second, run: run.clone(), scripts: Arc::new(Bash) };
        Playbook::undone_by(&undos).step(stage, &[]).build()
    }

    fn undos(&self, disk: &dyn Disk) -> Result<Undos, StepError> {
        let record = Record::read(disk)?;
        Ok(undos(record.as_ref().and_then(Record::before), PutBack::of(disk)?))
    }

    fn way_back_reboots(&self) -> bool {
        true
    }
}

fn undos(before: Option<&Begun>, kept: PutBack) -> Undos {
    let stage = |which| Undone { which, before: before.cloned() };
    Undos::new(PLAYBOOK)
        .step(ids::KEPT, kept)
        .step(ids::STAGE_1, stage(Which::First))
        .step(ids::STAGE_2, stage(Which::Second))
}

async fn describe(run: &Run, host: &Host) -> Result<Described, StepError> {
    let disk = &*host.disk;
    let sum = payload::of(run, disk)?.sha256;
    let to = payload::version(disk)?.unwrap_or_else(|| sum.chars().take(SHORT).collect());
    let from = format!("kernel {}, dnf transaction {}", record::kernel(host)?, dnf::newest(host).await?);
    Ok([("target", format!("sha256:{sum}")), ("from", from), ("to", to)]
        .map(|(key, value)| (key.to_owned(), value))
        .into())
}

#[cfg(test)]
mod tests {
    use super::{testing::Machine, *};

    const DIR: &str = "/var/lib/blackstart-reprovision/payload";

    #[test]
    fn the_lists_make_sense_and_can_be_undone() {
        let run = testing::run("a");
        let mut reported = String::new();
        for playbook in [Rhel.stage1(&run).unwrap(), Rhel.stage2(&run).unwrap()] {
            reported += &format!("{}:\n", playbook.name());
            for about in playbook.about() {
                reported += &format!("  {}: {}, as {}\n", about.id, about.title, about.why);
            }
        }
        for check in Rhel.checks().iter().chain(Rhel.payload_checks()) {
            let codes: Vec<&str> = check.codes.iter().map(|code| code.id).collect();
            reported += &format!("{}: {} ({})\n", check.name, check.about, codes.join(", "));
        }
        insta::assert_snapshot!(reported);
    }

    #[tokio::test]
    async fn what_it_says_of_itself() {
        let machine = Machine::default().answering(|_| Ok("  41 | upgrade | 2026 | U | 1\n".to_owned()));
        let (run, host) = (testing::run("a"), machine.host());
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let note = format!(r#"{{"run": "a", "sha256": "{sum}", "kind": "tar", "fetched": "2026-11-19T02:00:00Z"}}"#);
        machine.write(&format!("{DIR}/payload.json"), note);
        let without = Rhel.describe(&run, &host).await.unwrap();
        assert_eq!(without["to"], "ba7816bf8f01");
        assert!(Rhel.needs_reboot(&run, &host).await.unwrap());
        machine.write(&format!("{DIR}/files/version"), "4.17.3\n");
        machine.write(&format!("{DIR}/files/no-reboot"), "");
        insta::assert_debug_snapshot!(Rhel.describe(&run, &host).await.unwrap());
        assert!(!Rhel.needs_reboot(&run, &host).await.unwrap());
        assert!(Rhel.undos(&*host.disk).is_ok());
    }
}
