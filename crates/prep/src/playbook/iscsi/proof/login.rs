//! This machine logs in to itself: a target of our own, on loopback and for a moment only.
//!
//! ```text
//! a file ─► tgtd, as a unit of ours ─► discovery ─► login ─► a disk that reads as the file ─► logout ─► all removed
//! ```
//! The target has a port and a control number of its own, so that another target on this machine is not disturbed.
//! [`clean`] removes everything, whatever was reached; it comes before the first step too, for a run that was killed.

use std::{path::Path, time::Duration};

use engine::StepError;
use host::{Cmd, CommandError, Host, write_atomic};
use tokio::time::{Instant, sleep};

use nodekit::systemd::stop;

use crate::codes;

const UNIT: &str = "node-bootstrap-iscsi-target.service";
const TARGET: &str = "iqn.2026-11.internal.node-bootstrap:proof";
const PORTAL: &str = "127.0.0.1:3269";
const CONTROL: &str = "17";
const FILE: &str = "login.img";
/// A target wants whole blocks; what is compared is the beginning.
const SIZE: usize = 4 << 20;
/// How long a target may take to answer, and a disk to appear.
const LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(200);

/// Logs in, compares, logs out.
pub(super) async fn prove(host: &Host, state_dir: &Path) -> Result<(), StepError> {
    clean(host, state_dir).await?;
    let proved = log_in(host, state_dir).await;
    // What went wrong is worth more than what could not be removed after it.
    proved.and(clean(host, state_dir).await)
}

async fn log_in(host: &Host, state_dir: &Path) -> Result<(), StepError> {
    let file = state_dir.join(FILE);
    let shown = file.to_string_lossy().into_owned();
    let content: Vec<u8> = (0..SIZE / 8).flat_map(usize::to_le_bytes).collect();
    write_atomic(&*host.disk, &file, &content, 0o600)?;

    host.doing("making a target on this machine");
    let unit = format!("--unit={UNIT}");
    let portal = format!("portal={PORTAL}");
    let daemon = ["--quiet", "--collect", &unit, "tgtd", "--foreground", "--control-port", CONTROL, "--iscsi", &portal];
    run(host, "systemd-run", &daemon).await?;
    wait(host, "the target to answer", || async {
        tgtadm(host, &["--mode", "system", "--op", "show"]).await.map(Some)
    })
    .await?;
    tgtadm(host, &["--mode", "target", "--op", "new", "--tid", "1", "--targetname", TARGET]).await?;
    let unit = ["--mode", "logicalunit", "--op", "new", "--tid", "1", "--lun", "1", "--backing-store", &shown];
    tgtadm(host, &unit).await?;
    tgtadm(host, &["--mode", "target", "--op", "bind", "--tid", "1", "--initiator-address", "127.0.0.1"]).await?;

    host.doing("logging in to it");
    run(host, "iscsiadm", &["--mode", "discovery", "--type", "sendtargets", "--portal", PORTAL]).await?;
    run(host, "iscsiadm", &[&NODE[..], &["--login"]].concat()).await?;
    let disk = wait(host, "the disk to appear", || async {
        Ok(attached(&run(host, "iscsiadm", &["--mode", "session", "--print", "3"]).await?))
    });
    let disk = disk.await?;
    host.doing(format!("comparing {disk} with what the target holds"));
    run(host, "cmp", &["--bytes=65536", &shown, &disk]).await.map(drop)
}

/// Removes everything of a login; what is not there is no error.
pub(super) async fn clean(host: &Host, state_dir: &Path) -> Result<(), StepError> {
    for arguments in [&["--logout"][..], &["--op", "delete"]] {
        forget(host, &[&NODE, arguments].concat()).await?;
    }
    for dir in PORTALS {
        // That there is none has no exit code of its own here.
        if host.disk.exists(&Path::new(dir).join(PORTAL.replace(':', ",")))? {
            forget(host, &["--mode", "discoverydb", "--type", "sendtargets", "--portal", PORTAL, "--op", "delete"])
                .await?;
        }
    }
    stop(host, UNIT).await?;
    Ok(host::remove_file(&*host.disk, &state_dir.join(FILE))?)
}

/// Where portals are remembered that were asked for their targets; one place for each family of distributions.
const PORTALS: [&str; 2] = ["/etc/iscsi/send_targets", "/var/lib/iscsi/send_targets"];

/// Our target as this machine remembers it.
const NODE: [&str; 6] = ["--mode", "node", "--targetname", TARGET, "--portal", PORTAL];

/// What there is none of is an error to iscsiadm, with an exit code of its own; and without iscsiadm there is nothing.
async fn forget(host: &Host, arguments: &[&str]) -> Result<(), StepError> {
    let command = Cmd::new("iscsiadm").args(arguments.iter().copied()).env("LC_ALL", "C");
    match host.commands.run(&command).await {
        Err(CommandError::Failed { ref status, .. }) if status == "exit status: 21" => Ok(()),
        Ok(_) | Err(CommandError::NotStarted { .. }) => Ok(()),
        Err(error) => Err(StepError::from_explained(&error)),
    }
}

async fn tgtadm(host: &Host, arguments: &[&str]) -> Result<String, StepError> {
    run(host, "tgtadm", &[&["--control-port", CONTROL, "--lld", "iscsi"], arguments].concat()).await
}

async fn run(host: &Host, program: &str, arguments: &[&str]) -> Result<String, StepError> {
    let failed = |error: CommandError| {
        StepError::new(codes::ISCSI_UNPROVEN, "a login to a target on this machine failed").with_source(error)
    };
    let command = Cmd::new(program).args(arguments.iter().copied()).env("LC_ALL", "C");
    Ok(host.commands.run(&command).await.map_err(failed)?.stdout)
}

/// Asks until there is an answer; at the end the last error, or that there was none.
async fn wait<F: Future<Output = Result<Option<String>, StepError>>>(
    host: &Host,
    what: &str,
    ask: impl Fn() -> F,
) -> Result<String, StepError> {
    let deadline = Instant::now() + LIMIT;
    host.doing(format!("waiting for {what}"));
    loop {
        let answer = ask().await;
        match answer {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) | Err(_) if Instant::now() < deadline => sleep(POLL).await,
            Err(error) => return Err(error),
            Ok(None) => {
                let message =
                    format!("a login to a target on this machine failed: waited {} s for {what}", LIMIT.as_secs());
                return Err(StepError::new(codes::ISCSI_UNPROVEN, message));
            }
        }
    }
}

/// The disk of our target, as `iscsiadm` lists it below the target's name.
fn attached(sessions: &str) -> Option<String> {
    let ours = sessions.split("Target: ").find(|session| session.starts_with(TARGET))?;
    let disk = ours.lines().find_map(|line| line.trim().strip_prefix("Attached scsi disk "))?;
    let (name, state) = disk.split_once(char::is_whitespace)?;
    state.contains("running").then(|| format!("/dev/{name}"))
}

#[cfg(test)]
mod tests {
    use super::{super::super::super::testing::Machine, *};

    const SESSIONS: &str = "iSCSI Transport Class version 2.0-870\n\
        Target: iqn.2019-10.io.longhorn:pvc-1 (non-flash)\n\t\tAttached scsi disk sdb\t\tState: running\n\
        Target: iqn.2026-11.internal.node-bootstrap:proof (non-flash)\n\tCurrent Portal: 127.0.0.1:3269,1\n\
        \t\t\tscsi3 Channel 00 Id 0 Lun: 0\n\t\t\tscsi3 Channel 00 Id 0 Lun: 1\n\
        \t\t\t\tAttached scsi disk sda\t\tState: running\n";

    #[test]
    fn our_disk_is_found_among_others() {
        assert_eq!(attached(SESSIONS).as_deref(), Some("/dev/sda"));
        assert_eq!(attached(&SESSIONS.replace("sda\t\tState: running", "sda\t\tState: transport-offline")), None);
        assert_eq!(attached(""), None);
    }

    #[tokio::test]
    async fn all_that_was_made_is_removed() {
        let machine = Machine::default().answering(|command| {
            Ok(if command.ends_with("--print 3") { SESSIONS } else { "LoadState=loaded\n" }.to_owned())
        });
        machine.write("/state/x", "");
        machine.write("/etc/iscsi/send_targets/127.0.0.1,3269/st_config", "");
        prove(&machine.host(), Path::new("/state")).await.unwrap();
        assert!(machine.read("/state/login.img").is_none());
        insta::assert_snapshot!(machine.asked().join("\n"));
    }
}
