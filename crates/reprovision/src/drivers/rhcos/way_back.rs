//! The way back: the old deployment is booted next, and its files are as they were.
//!
//! ```text
//! still in the old one ─► drop what waits for a reboot ─► files put back
//! in the new one ─► old one made the default, looked at ─► files put back here ─► and in the /etc of the old one
//! ```
//! Every deployment has an `/etc` of its own. The old one's was written to by the machine-config-daemon before it was left, so it is
//! repaired from the new one. What is in `/var` is of both.

use std::path::{Path, PathBuf};

use engine::{Notes, StepError};
use host::{Cmd, Host, remove_file};

use super::{
    kept::{self, Kept, Restored},
    mcd,
    rpm_ostree::Status,
};
use crate::codes::{CANNOT_ROLL_BACK, NOTHING_KEPT};

/// In a mount namespace of its own, where `/sysroot` may be written to. The directory is the first argument, paths come by the input.
const COPY: &str = "set -e; mount -o remount,rw /sysroot; cd /; \
                    exec xargs -0 -r cp --archive --parents --no-dereference --remove-destination --target-directory=\"$1\" --";
const REMOVE: &str = "set -e; mount -o remount,rw /sysroot; cd \"$1\"; exec xargs -0 -r rm -f --";

/// Goes back, if the machine-config-daemon was started. May be done again, also after the reboot.
pub(super) async fn go(host: &Host) -> Result<Notes, StepError> {
    let disk = &*host.disk;
    if kept::read_started(disk)?.is_none() {
        return Ok(Notes::new());
    }
    let gone =
        || StepError::new(NOTHING_KEPT, "the machine-config-daemon was started, and what was before is not kept");
    let kept = kept::read(disk)?.ok_or_else(gone)?;
    // It never gives up by itself, and would write it all again.
    mcd::stop(host).await?;
    let is_back = choose(host, &kept).await?;
    let restored = kept.restore(disk)?;
    if !is_back {
        repair(host, &kept, &restored).await?;
    }
    remove_file(disk, &kept::started())?;
    Ok(kept.remarks)
}

/// Makes the old deployment the one that is booted next; whether it is booted already.
async fn choose(host: &Host, kept: &Kept) -> Result<bool, StepError> {
    let mut status = Status::read(host).await?;
    if status.pending().is_some_and(|pending| pending.id != kept.deployment) {
        run(host, "rpm-ostree", &["cleanup", "--pending"]).await?;
        status = Status::read(host).await?;
    }
    if status.booted()?.id == kept.deployment {
        return Ok(true);
    }
    let name = format!("{}.{}", kept.deployment.checksum, kept.deployment.serial);
    let lost = || {
        StepError::new(CANNOT_ROLL_BACK, format!("deployment {name}, which was booted before, is not there any more"))
    };
    let booted = status.deployments.iter().position(|deployment| deployment.booted).unwrap_or_default();
    match status.position(&kept.deployment).ok_or_else(lost)? {
        0 => return Ok(false),
        at if at == booted + 1 => run(host, "rpm-ostree", &["rollback"]).await?,
        // Another one stands between, of an update in two steps: a rollback would lead there.
        at => run(host, "ostree", &["admin", "set-default", &at.to_string()]).await?,
    }
    let first = Status::read(host).await?.position(&kept.deployment);
    if first == Some(0) {
        return Ok(false);
    }
    Err(StepError::new(
        CANNOT_ROLL_BACK,
        format!("deployment {name} is still not the default after `rpm-ostree rollback`"),
    ))
}

/// Does the same in the `/etc` of the old deployment as was done here.
async fn repair(host: &Host, kept: &Kept, restored: &Restored) -> Result<(), StepError> {
    let root = kept.deployment.directory();
    if !host.disk.exists(&root)? {
        let message = format!("the files of the old deployment are not in {}", root.display());
        return Err(StepError::new(CANNOT_ROLL_BACK, message));
    }
    for (script, paths) in [(COPY, &restored.there), (REMOVE, &restored.gone)] {
        let list = list(paths);
        if !list.is_empty() {
            let arguments = ["--mount", "/bin/sh", "-c", script, "sh"];
            let command = Cmd::new("unshare").args(arguments).arg(root.as_os_str()).input(list);
            host.commands.run(&command).await?;
        }
    }
    Ok(())
}

/// Those in `/etc`, relative, each with a zero after it.
fn list(paths: &[PathBuf]) -> Vec<u8> {
    let relative = paths.iter().filter(|path| path.starts_with("/etc")).filter_map(|path| path.strip_prefix("/").ok());
    relative.flat_map(|path: &Path| [path.as_os_str().as_encoded_bytes(), b"\0"].concat()).collect()
}

async fn run(host: &Host, program: &str, arguments: &[&str]) -> Result<(), StepError> {
    host.commands.run(&Cmd::new(program).args(arguments.iter().copied())).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::{
        super::{
            node,
            samples::{OLD_OS, OS, Sample},
            stored::Target,
            testing::{Machine, status},
        },
        *,
    };

    async fn machine() -> Machine {
        let machine = Machine::default();
        machine.write(node::CURRENT, "old config");
        machine.write("/ostree/deploy/rhcos/deploy/old.0/etc/x", "");
        let target = Target::parse(&Sample::default().served()).unwrap();
        kept::keep(&machine.host(), "uid-1-1", &target).await.unwrap();
        machine.write(node::CURRENT, "new config");
        machine.asked();
        machine
    }

    fn asked(machine: &Machine) -> String {
        machine.asked().iter().map(|command| format!("  {command}\n")).collect()
    }

    #[tokio::test]
    async fn from_wherever_it_is() {
        let mut text = String::new();
        let new_first = vec![("new", OS, "b"), ("old", OLD_OS, "p")];
        let old_first = vec![("old", OLD_OS, "p"), ("new", OS, "b")];
        for (case, before, after) in [
            ("still in the old one", vec![("old", OLD_OS, "b")], None),
            ("staged", vec![("new", OS, "s"), ("old", OLD_OS, "bp")], None),
            ("in the new one", new_first.clone(), Some(old_first.clone())),
            ("rolled back, not rebooted", old_first.clone(), None),
            ("one in between", vec![("new", OS, "b"), ("mid", OS, ""), ("old", OLD_OS, "p")], Some(old_first)),
        ] {
            let machine = machine().await;
            kept::start(&*machine.host().disk, "uid-1-1").unwrap();
            let (before, after) = (status(&before), after.map(|after| status(&after)));
            let done = std::sync::atomic::AtomicBool::new(false);
            machine.answers(move |command| {
                use std::sync::atomic::Ordering::Relaxed;
                if command.contains("rollback") || command.contains("set-default") {
                    done.store(true, Relaxed);
                }
                let now = after.as_ref().filter(|_| done.load(Relaxed)).unwrap_or(&before);
                (command == "rpm-ostree status --json").then(|| Ok(now.clone()))
            });
            go(&machine.host()).await.unwrap();
            text += &format!("{case}:\n{}", asked(&machine));
            assert_eq!(machine.read(node::CURRENT).unwrap(), "old config");
            assert!(go(&machine.host()).await.unwrap().is_empty() && machine.asked().is_empty());
        }
        insta::assert_snapshot!(text);
    }

    #[tokio::test]
    async fn where_it_cannot_go_nothing_is_put_back() {
        let lost = vec![("new", OS, "b")];
        let deaf = vec![("new", OS, "b"), ("old", OLD_OS, "p")];
        for (deployments, words) in [(lost, "not there any more"), (deaf, "still not the default")] {
            let machine = machine().await;
            kept::start(&*machine.host().disk, "uid-1-1").unwrap();
            machine.deployed(&deployments);
            let error = go(&machine.host()).await.unwrap_err();
            assert_eq!(error.code(), CANNOT_ROLL_BACK);
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(machine.read(node::CURRENT).unwrap(), "new config");
        }
    }

    #[tokio::test]
    async fn what_was_never_started_is_not_undone() {
        let machine = machine().await;
        assert!(go(&machine.host()).await.unwrap().is_empty());
        assert!(machine.asked().is_empty());
        assert_eq!(machine.read(node::CURRENT).unwrap(), "new config");
    }

    #[test]
    fn only_what_is_of_one_deployment_is_listed() {
        let paths = ["/etc/a b", "/var/lib/kubelet/config.json", "/etc/c"].map(PathBuf::from);
        assert_eq!(list(&paths), b"etc/a b\0etc/c\0");
    }
}
