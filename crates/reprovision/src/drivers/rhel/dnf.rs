//! What dnf did: its transactions, one that was interrupted, and the way back.
//!
//! A machine that lost power in the middle of a transaction has packages twice (the new one is there, the old one not yet gone) and
//! packages of which no script has run. The list of packages shows neither: rpm has a package before its scripts have run. So what
//! [`repair`] does is what a person does after that, and one thing more:
//!
//! ```text
//! remove --duplicates (installs the newest again) ─► history redo N (what had not come) ─► reinstall (scripts of what had)
//! ```
//! The data base of rpm is not rebuilt: since RHEL 9 it is transactional itself, and before that rpm recovers it when it opens it.
//!
//! [`roll_back`] undoes all newer transactions as one. Undone one after the other, dnf would want packages of versions that were there
//! only in between, and that no repository may have any more.

use engine::StepError;
use explain::Code;
use host::{Cmd, CommandError, Host, Printed};
use nodekit::{
    dnf,
    packaging::{Failure, Problem, Work},
};

use crate::codes;

/// Of a kernel that is running, dnf would refuse to remove the package; it is the new one that runs when we go back.
const WITH_KERNEL: &str = "--setopt=protect_running_kernel=False";

/// The newest transaction; 0 where there is none.
pub(super) async fn newest(host: &Host) -> Result<u32, StepError> {
    let printed = run(host, &["history", "list"]).await.map_err(failed(codes::DNF))?;
    Ok(newest_in(&printed.stdout))
}

/// Whether this transaction was interrupted.
pub(super) async fn is_interrupted(host: &Host, transaction: u32) -> Result<bool, StepError> {
    Ok(transaction > 0 && shows_interruption(&info(host, transaction).await?))
}

/// Completes a transaction that was interrupted.
pub(super) async fn repair(host: &Host, transaction: u32) -> Result<(), StepError> {
    host.doing(format!("completing dnf transaction {transaction}, which was interrupted"));
    remove_duplicates(host).await?;
    let redo = ["--assumeyes", "history", "redo", &transaction.to_string()];
    run(host, &redo).await.map_err(failed(codes::DNF))?;
    let brought = brought(&info(host, transaction).await?);
    if brought.is_empty() {
        return Ok(());
    }
    let arguments: Vec<&str> =
        ["--assumeyes", "reinstall"].into_iter().chain(brought.iter().map(String::as_str)).collect();
    run(host, &arguments).await.map(drop).map_err(failed(codes::DNF))
}

/// Undoes all transactions that are newer than this one. Returns the newest one after that.
pub(super) async fn roll_back(host: &Host, to: u32) -> Result<u32, StepError> {
    let last = newest(host).await?;
    if last <= to {
        return Ok(last);
    }
    remove_duplicates(host).await?;
    host.doing(format!("undoing the dnf transactions from {} to {last}", to + 1));
    // It cannot be ordered to go back to before the first one.
    let first = to.max(1);
    if last > first {
        run(host, &["--assumeyes", WITH_KERNEL, "history", "rollback", &first.to_string()])
            .await
            .map_err(failed(codes::NOT_UNDONE))?;
    }
    if to == 0 {
        run(host, &["--assumeyes", WITH_KERNEL, "history", "undo", "1"]).await.map_err(failed(codes::NOT_UNDONE))?;
    }
    newest(host).await
}

async fn remove_duplicates(host: &Host) -> Result<(), StepError> {
    let question = Cmd::new("dnf").args(["--quiet", "check", "--duplicates"]).env("LC_ALL", "C");
    match host.commands.run(&question).await {
        Ok(_) => Ok(()),
        // What it found is in one of its outputs, how much of it in the other.
        Err(CommandError::Failed { output, .. }) if output.contains("duplicate") || output.contains("problem(s)") => {
            run(host, &["--assumeyes", "remove", "--duplicates"]).await.map(drop).map_err(failed(codes::DNF))
        }
        Err(error) => Err(error.into()),
    }
}

async fn info(host: &Host, transaction: u32) -> Result<String, StepError> {
    let printed = run(host, &["history", "info", &transaction.to_string()]).await;
    printed.map(|printed| printed.stdout).map_err(failed(codes::DNF))
}

/// Arguments that dnf was given, and why it did not do that.
type Failing = (String, Problem);

async fn run(host: &Host, arguments: &[&str]) -> Result<Printed, Failing> {
    dnf::run(host, arguments).await.map_err(|problem| (arguments.join(" "), problem))
}

/// With this code, unless the reason has one of its own: a lock, a mirror, no space.
fn failed(code: Code) -> impl FnOnce(Failing) -> StepError {
    move |(arguments, problem)| match problem {
        Problem::Failure(Failure::Failed(reported)) => {
            StepError::new(code, format!("`dnf {arguments}` failed: {}", explain::plain(&reported)))
        }
        problem => problem.into_error(Work::Install, "what a dnf transaction needs"),
    }
}

/// From `dnf history list`, which has the newest first: ` 12 | upgrade -y | 2026-11-19 02:00 | I, U | 31`, in dnf 5 without the bars.
fn newest_in(list: &str) -> u32 {
    let first = |line: &str| line.split([' ', '|']).find(|word| !word.is_empty())?.parse().ok();
    list.lines().find_map(first).unwrap_or_default()
}

/// From `dnf history info N`. One that came to its end, well or not, has a state of the packages after it: `End rpmdb      : 405:7bd1…`.
/// One that was killed has none, and counts as failed. In dnf 5 it is `Status         : Started`.
fn shows_interruption(info: &str) -> bool {
    let head = info.lines().take_while(|line| !line.to_ascii_lowercase().starts_with("packages altered"));
    let fields: Vec<(&str, &str)> =
        head.filter_map(|line| line.split_once(':')).map(|(name, value)| (name.trim(), value.trim())).collect();
    let field = |wanted| fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    let has_failed = field("Return-Code").is_some_and(|code| code != "Success");
    has_failed && field("End rpmdb").is_none_or(str::is_empty) || field("Status") == Some("Started")
}

/// The packages that a transaction brought, from the same: `    Upgrade  bash-5.1.8-9.el9.x86_64 @baseos`.
fn brought(info: &str) -> Vec<String> {
    const BRINGS: [&str; 5] = ["Install", "Upgrade", "Downgrade", "Reinstall", "Obsolete"];
    let altered = info.lines().skip_while(|line| !line.to_ascii_lowercase().starts_with("packages altered"));
    let package = |line: &str| {
        let mut words = line.split_whitespace().skip_while(|word| *word == "**");
        let action = words.next()?;
        BRINGS.contains(&action).then(|| words.next().map(str::to_owned)).flatten()
    };
    altered.filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{Machine, failed as shown},
        *,
    };

    const LIST: &str = "\
ID     | Command line                                                | Date and time    | Action(s)      | Altered
--------------------------------------------------------------------------------------------------------------------
    12 | upgrade --assumeyes                                         | 2026-11-19 02:00 | I, U           |   31 **
    11 | install -y cri-o-1.36.1 kubelet                             | 2026-11-18 11:23 | Install        |    4 EE
     1 |                                                             | 2026-10-01 08:00 | Install        |  401 EE
";

    const LIST_5: &str = "\
ID Command line           Date and time       Action(s) Altered
 7 dnf upgrade -y         2026-11-19 02:00:01                31
 6 dnf install -y kubelet 2026-11-18 11:23:45                 4
";

    const INFO: &str = "\
Transaction ID : 12
Begin time     : Thu Nov 19 02:00:01 2026
Begin rpmdb    : 405:7bd1a83bd4e5ab2f
End time       : Thu Jan  1 00:00:00 1970 (18446744071914 seconds)
End rpmdb      :
User           : System <unset>
Return-Code    : Failure: 1
Releasever     : 9
Command Line   : upgrade --assumeyes
Comment        :
Packages Altered:
    Install  kernel-core-5.14.0-503.el9.x86_64 @baseos
    Upgrade  bash-5.1.8-9.el9.x86_64           @baseos
 ** Upgraded bash-5.1.8-6.el9.x86_64           @@System
    Removed  vi-8-1.x86_64                     @@System
Scriptlet output:
   1 Install is a word of scripts
";

    #[test]
    fn what_dnf_prints() {
        for (list, expected) in [(LIST, 12), (LIST_5, 7), ("ID | Command line\n------\n", 0), ("", 0)] {
            assert_eq!(newest_in(list), expected);
        }
        let ended = INFO.replace("End rpmdb      :", "End rpmdb      : 405:7bd1a83bd4e5ab2f");
        for (info, expected) in [
            (INFO, true),
            (&INFO.replace("Failure: 1", "** Aborted **"), true),
            (&INFO.replace("Failure: 1", "Success"), false),
            (&ended, false),
            (&ended.replace("Failure: 1", "Success"), false),
            ("Transaction ID : 7\nStatus         : Started\n", true),
            ("Transaction ID : 7\nStatus         : Ok\nDescription    : dnf upgrade Status : Started\n", false),
        ] {
            assert_eq!(shows_interruption(info), expected, "{info}");
        }
        assert_eq!(brought(INFO), ["kernel-core-5.14.0-503.el9.x86_64", "bash-5.1.8-9.el9.x86_64"]);
    }

    fn machine(newest: u32, has_duplicates: bool) -> Machine {
        Machine::default().answering(move |command| {
            if command.contains("check --duplicates") && has_duplicates {
                return Err("exit status: 1|Error: Check discovered 1 problem(s)".into());
            }
            if command.ends_with("history rollback 3") {
                return Err("exit status: 1|Error: The following problems occurred / Cannot find rpm nevra x".into());
            }
            Ok(match command {
                list if list.ends_with("history list") => format!(" {newest} | upgrade | 2026 | U | 1\n"),
                info if info.contains("history info") => INFO.to_owned(),
                _ => String::new(),
            })
        })
    }

    /// What was run and changes something, without what every dnf is given.
    fn changes(machine: &Machine) -> String {
        let usual = "--quiet --setopt=*.skip_if_unavailable=false --setopt=exit_on_lock=True ";
        let asked = machine.asked().into_iter().filter(|command| command.contains("--assumeyes"));
        asked.map(|command| format!("  {}\n", command.replace(usual, ""))).collect()
    }

    #[tokio::test]
    async fn what_is_done_for_a_repair_and_for_the_way_back() {
        let mut reported = String::new();
        for has_duplicates in [false, true] {
            let machine = machine(12, has_duplicates);
            repair(&machine.host(), 12).await.unwrap();
            reported += &format!("repair, duplicates {has_duplicates}:\n{}", changes(&machine));
        }
        for (last, to) in [(12, 9), (12, 12), (5, 0), (1, 0), (0, 0), (4, 3)] {
            let machine = machine(last, false);
            let ended = roll_back(&machine.host(), to).await;
            let ended = ended.map_or_else(|error| shown(&error), |newest| format!("now {newest}"));
            reported += &format!("from {last} to {to}: {ended}\n{}", changes(&machine));
        }
        insta::assert_snapshot!(reported);
    }
}
