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
    script::{Bash, Scripts},
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
        stage1(run, Arc::new(Bash))
    }

    fn needs_reboot<'a>(&'a self, _run: &'a Run, host: &'a Host) -> Working<'a, bool> {
        Box::pin(async { Ok(!payload::says_no_reboot(&*host.disk)?) })
    }

    fn stage2(&self, run: &Run) -> Result<Playbook, PlaybookError> {
        stage2(run, Arc::new(Bash))
    }

    fn undos(&self, disk: &dyn Disk) -> Result<Undos, StepError> {
        let record = Record::read(disk)?;
        Ok(undos(record.as_ref().and_then(Record::before), PutBack::of(disk)?))
    }

    fn way_back_reboots(&self) -> bool {
        true
    }
}

fn stage1(run: &Run, scripts: Arc<dyn Scripts>) -> Result<Playbook, PlaybookError> {
    let stage = Stage { which: Which::First, run: run.clone(), scripts };
    let undos = undos(None, PutBack { count: 0 });
    Playbook::undone_by(&undos).step(Kept { run: run.clone() }, &[]).step(stage, &[ids::KEPT]).build()
}

fn stage2(run: &Run, scripts: Arc<dyn Scripts>) -> Result<Playbook, PlaybookError> {
    let stage = Stage { which: Which::Second, run: run.clone(), scripts };
    Playbook::undone_by(&undos(None, PutBack { count: 0 })).step(stage, &[]).build()
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
    use std::{
        path::PathBuf,
        sync::atomic::{AtomicU32, Ordering::Relaxed},
    };

    use engine::Runner;

    use super::{
        script::{Ended, Ending, Script},
        testing::Machine,
        *,
    };

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

    /// Changes a file that is declared and one that is not, and has dnf make a transaction. Stage 2 fails as often as it is asked.
    struct Changing(PathBuf, AtomicU32);

    impl Scripts for Changing {
        fn run<'a>(&'a self, script: &'a Script, _: &'a [String], _: &'a Host) -> Ending<'a> {
            let (_, stage) = script.env.iter().find(|(name, _)| *name == "BOOTSTRAP_STAGE").unwrap();
            std::fs::write(self.0.join("etc/declared"), stage).unwrap();
            std::fs::write(self.0.join("etc/other"), stage).unwrap();
            std::fs::write(self.0.join("newest"), format!("4{stage}")).unwrap();
            let fails = stage == "2" && self.1.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
            let killed = || Ended::Badly { status: "signal: 9".into(), was_killed: true, last: String::new() };
            Box::pin(async move { if fails { killed() } else { Ended::Well } })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_engine_carries_it_there_and_back() {
        let machine = Machine::default();
        machine.write("/newest", "40");
        machine.write("/etc/declared", "before");
        let note = r#"{"run": "a", "sha256": "00", "kind": "tar", "fetched": "2026-11-19T02:00:00Z"}"#;
        for (name, text) in [("payload.json", note), ("files/bootstrap.sh", ""), ("files/files", "/etc/declared\n")] {
            machine.write(&format!("{DIR}/{name}"), text);
        }
        let newest = machine.path("/newest");
        let machine = machine.answering(move |command| {
            if command.contains("history rollback") {
                std::fs::write(&newest, "43").unwrap();
            }
            let is_list = command.ends_with("history list");
            Ok(if is_list { std::fs::read_to_string(&newest).unwrap() } else { String::new() })
        });
        let (run, host) = (testing::run("a"), machine.host());
        let scripts = Arc::new(Changing(machine.path("/"), AtomicU32::new(1)));
        let runner = Runner::new(host.clone(), crate::paths::STATE_DIR, "worker-01");
        for playbook in [stage1(&run, scripts.clone()).unwrap(), stage2(&run, scripts).unwrap()] {
            for is_again in [false, true] {
                let report = runner.run(&playbook).await.unwrap();
                assert!(report.is_complete() && report.changed.is_empty() == is_again, "{report:?}");
            }
        }
        assert_eq!(machine.read("/etc/declared").as_deref(), Some("2"));
        machine.asked();
        let report = runner.undo(&Rhel.undos(&*host.disk).unwrap()).await.unwrap();
        assert_eq!(report.undone, ["stage-2", "stage-1", "kept"]);
        let rolled = machine.asked().into_iter().filter(|command| command.contains("history rollback 40")).count();
        let files = ["/etc/declared", "/etc/other"].map(|path| machine.read(path).unwrap());
        assert_eq!((rolled, files, report.notes.len()), (1, ["before".into(), "2".into()], 2));
        let report = runner.undo(&Rhel.undos(&*host.disk).unwrap()).await.unwrap();
        assert!(report.undone.is_empty() && report.failed.is_empty() && machine.asked().is_empty());
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
