//! The machine-config-daemon has made of the machine what the `MachineConfig` says, but for the reboot.
//!
//! It writes files and units, stages a deployment, writes `currentconfig`, and reboots: so this program may be killed at the end of its
//! success, and the next boot looks at what came of it. With a system too old for images it reboots in between, and is
//! run again. What is staged is lost by a power cut, and then all of it is done again.

use std::time::Duration;

use engine::{About, Act, Notes, Planned, Step, StepError, Undo, Verdict};
use host::{Disk, Host};

use super::super::{
    ids::MCD,
    kept,
    mcd::Mcd,
    node,
    rpm_ostree::Status,
    stored::{self, Target, sha256},
    way_back,
};
use crate::Run;

const NICS: &str = "persist-nics";
const COMPLETE: &str = "machine-config-daemon";

/// It has.
pub(in super::super) struct AppliedByMcd {
    pub(in super::super) run: Run,
}

/// What the machine is to be, and whether it is, or will be with the next boot.
pub(in super::super) struct Seen {
    image: String,
    is_applied: bool,
}

impl AppliedByMcd {
    async fn look(&self, host: &Host) -> Result<(Target, bool), StepError> {
        let disk = &*host.disk;
        let target = Target::read(disk, &self.run)?;
        let is_applied = has_config(disk, &target, &self.run)? && has_system(host, &target).await?;
        Ok((target, is_applied))
    }
}

/// The daemon notes the config it was given as its last act but one. One of the same name that was there before is not it.
fn has_config(disk: &dyn Disk, target: &Target, run: &Run) -> Result<bool, StepError> {
    let Some(current) = node::current(disk)? else { return Ok(false) };
    if current.spec() == target.config.spec() {
        return Ok(current.name() == target.config.name());
    }
    let is_started = kept::read_started(disk)?.is_some_and(|started| started.run == run.order.run);
    let bytes = disk.read_optional(node::CURRENT.as_ref())?;
    let is_new = || Ok(kept::of_run(disk, &run.order.run)?.config != bytes.map(|bytes| sha256(&bytes)));
    if is_started && current.name() == target.config.name() { is_new() } else { Ok(false) }
}

/// Booted, with its arguments of the kernel; or about to be.
async fn has_system(host: &Host, target: &Target) -> Result<bool, StepError> {
    let status = Status::read(host).await?;
    let image = &target.config.spec().os_image_url;
    if status.pending().is_some_and(|pending| pending.is_of(image)) {
        return Ok(true);
    }
    let is_booted = status.pending().is_none() && status.booted()?.is_of(image);
    Ok(is_booted && node::has_arguments(&*host.disk, &target.config.spec().kernel_arguments)?)
}

impl Step for AppliedByMcd {
    type Seen = Seen;
    type Undo = Returned;

    fn about(&self) -> About {
        About::new(MCD, "Run the machine-config-daemon", "it writes the node's files and stages the new system")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let (target, is_applied) = self.look(host).await?;
        Ok(Seen { image: target.images.mco.to_string(), is_applied })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        if seen.is_applied {
            return Ok(Vec::new());
        }
        Ok(vec![
            Planned::act(NICS, format!("keep the names of network devices, with {}", seen.image)),
            Planned::act(COMPLETE, format!("run the machine-config-daemon of {}", seen.image)),
        ])
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        if seen.is_applied {
            return Verdict::Met;
        }
        let what = "the machine-config-daemon to note its config, and the new system to be staged".to_owned();
        Verdict::Waiting { what, progress: String::new() }
    }

    async fn act(&self, act: &Act, host: &Host) -> Result<(), StepError> {
        let disk = &*host.disk;
        let target = Target::read(disk, &self.run)?;
        let image = target.images.mco.to_string();
        let silence = Duration::from_secs(self.run.order.apply_seconds);
        let mcd = Mcd { host, image: &image, secret: &self.run.secret, silence };
        // What it changes is found again only where that is noted before.
        kept::of_run(disk, &self.run.order.run)?;
        kept::start(disk, &self.run.order.run)?;
        if act.key == NICS {
            return mcd.persist_nics().await;
        }
        let target = &target;
        let is_done =
            move || async move { Ok(has_config(&*host.disk, target, &self.run)? && has_system(host, target).await?) };
        mcd.complete(&stored::machine_config(), is_done).await
    }
}

/// How it is undone: see [`way_back`]. That comes before the entries, as a whole.
pub(in super::super) struct Returned;

impl Undo for Returned {
    fn shows(&self) -> Vec<String> {
        vec![
            "make the previous deployment the default, and put back the files of the previous MachineConfig".to_owned(),
        ]
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        way_back::go(host).await
    }

    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{
            samples::{OLD_OS, OS, Sample},
            testing::{Machine, status},
        },
        *,
    };

    async fn machine() -> (Machine, AppliedByMcd) {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        let old = Sample { name: "rendered-worker-old".into(), os: OLD_OS.into(), ..Sample::default() };
        machine.write(node::CURRENT, &old.full().to_string());
        machine.write("/proc/cmdline", "root=/dev/x mitigations=auto");
        machine.apply(&super::super::KeptFiles { run: machine.run() }).await;
        let step = AppliedByMcd { run: machine.run() };
        (machine, step)
    }

    fn made(machine: &Machine) -> String {
        let target = Target::read(&*machine.host().disk, &machine.run()).unwrap();
        String::from_utf8(target.bytes()).unwrap()
    }

    #[tokio::test]
    async fn what_is_looked_at_is_the_machine() {
        let (machine, step) = machine().await;
        let staged = [("new", OS, "s"), ("old", OLD_OS, "bp")];
        let booted = [("new", OS, "b"), ("old", OLD_OS, "p")];
        let made = made(&machine);
        // What the daemon writes may differ in what nobody has asked for.
        let other = made.replace("\"extensions\":[]", "\"extensions\":[\"usbguard\"]");
        let mut text = format!("nothing done:\n{}", machine.planned(&step).await);
        for (case, config, deployments, cmdline) in [
            ("staged", &made, &staged[..], "root=/dev/x"),
            ("booted", &made, &booted, "mitigations=auto"),
            ("booted without its arguments", &made, &booted, "root=/dev/x"),
            ("the power was cut, and what was staged is lost", &made, &[("old", OLD_OS, "bp")], "root=/dev/x"),
            ("another spec, and the daemon never ran", &other, &booted, "mitigations=auto"),
        ] {
            machine.write(node::CURRENT, config);
            machine.write("/proc/cmdline", cmdline);
            machine.deployed(deployments);
            text += &format!("{case}:\n{}", machine.planned(&step).await);
        }
        machine.write(node::CURRENT, &other);
        kept::start(&*machine.host().disk, "uid-1-1").unwrap();
        text += &format!("another spec, written by the daemon:\n{}", machine.planned(&step).await);
        insta::assert_snapshot!(text.replace(&"1".repeat(64), "1…"));
    }

    #[tokio::test]
    async fn it_is_run_and_undone() {
        let (machine, step) = machine().await;
        let (made, current) = (made(&machine), machine.path(node::CURRENT));
        let staged = std::sync::atomic::AtomicBool::new(false);
        machine.answers(move |command| {
            use std::sync::atomic::Ordering::Relaxed;
            if command.contains("--machineconfig-file") {
                std::fs::write(&current, &made).unwrap();
                staged.store(true, Relaxed);
            }
            let flags = [("new", OS, "s"), ("old", OLD_OS, "b")];
            let now = status(if staged.load(Relaxed) { &flags } else { &[("old", OLD_OS, "b")] });
            (command == "rpm-ostree status --json").then_some(Ok(now))
        });
        machine.asked();
        machine.apply(&step).await;
        assert_eq!(machine.planned(&step).await, "  nothing\n");
        let started = kept::read_started(&*machine.host().disk).unwrap().unwrap();
        assert_eq!((started.run.as_str(), started.boot_id.as_str()), ("uid-1-1", "boot-1"));
        assert!(!machine.asked().concat().contains("hunter2"));

        assert!(Returned.before(&machine.host()).await.unwrap().is_empty());
        assert!(machine.read(node::CURRENT).unwrap().contains("rendered-worker-old"));
        assert!(machine.asked().contains(&"rpm-ostree cleanup --pending".to_owned()));
    }
}
