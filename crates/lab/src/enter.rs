//! The way into a machine: a helper on this computer, and the command that it starts in the machine and waits for.
//!
//! A machine's process namespace ends only when all processes in it are reaped, and who reaps the command is the helper,
//! outside. A machine that goes down stops all its processes (SIGSTOP) before it ends them. `nsenter --pid` would stop
//! itself because its child is stopped, and never go on: the machine would hang in its last moment, until it gets a
//! SIGCONT. So `nsenter` only enters, and a shell waits. It does not care about a child that is stopped, and Ctrl-Z stops
//! the command and its caller, but not it. It needs neither its caller nor the machine's supervisor.
//!
//! Both programs are this computer's own: nothing of the machine runs before the command, and that in the machine's
//! process namespace.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    process::ExitStatus,
    thread::sleep,
    time::{Duration, Instant},
};

/// Waits for a command and ends with its exit code, or 128 and the number of the signal that ended it. The shell's own
/// remark about such a signal is not the command's output.
const WAIT: &str = r#"trap : TSTP TTIN TTOU; exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit "$?""#;

/// How long process 1 may live after a helper that was killed together with it.
const TOGETHER: Duration = Duration::from_secs(1);

/// In a process's flags: it is ending.
const EXITING: u32 = 0x4;

/// The arguments by which `nsenter` goes into a machine, to be followed by a command.
pub(crate) fn arguments(leader: i32) -> Vec<String> {
    let leader = leader.to_string();
    let mut arguments = vec!["--target", &leader, "--pid", "--no-fork", "--", "sh", "-c", WAIT, "sh"];
    arguments.extend(["nsenter", "--target", &leader, "--mount", "--uts", "--ipc", "--net", "--cgroup", "--"]);
    arguments.into_iter().map(str::to_owned).collect()
}

/// Whether a command that entered a machine and ended like this was ended with the machine.
pub(crate) fn ended_with(leader: i32, status: ExitStatus) -> bool {
    if status.success() {
        return false;
    }
    // A command's signal is a code by now: this one was the helper's, and process 1 gets the same one.
    let grace = if status.signal().is_some() { TOGETHER } else { Duration::ZERO };
    let deadline = Instant::now() + grace;
    loop {
        if is_ending(&fs::read_to_string(format!("/proc/{leader}/stat")).unwrap_or_default()) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
}

/// Whether a machine goes down, by the `/proc/PID/stat` of its process 1; it is empty for one that is gone. Before it
/// ends, process 1 becomes `systemd-shutdown`, which ends all others.
fn is_ending(stat: &str) -> bool {
    // A name may contain anything, so what counts is the last parenthesis.
    let Some((name, fields)) = stat.rsplit_once(") ") else { return true };
    let flags = fields.split(' ').nth(6).and_then(|flags| flags.parse::<u32>().ok());
    name.ends_with("(systemd-shutdow") || flags.is_some_and(|flags| flags & EXITING != 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };

    use super::*;

    #[test]
    fn the_helper_does_not_fork_before_it_waits() {
        insta::assert_snapshot!(arguments(42).join(" "), @r#"--target 42 --pid --no-fork -- sh -c trap : TSTP TTIN TTOU; exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit "$?" sh nsenter --target 42 --mount --uts --ipc --net --cgroup --"#);
    }

    /// The helper, with a command of this computer.
    fn waiting_for(line: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", WAIT, "sh", "sh", "-c", line]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    #[test]
    fn a_helper_ends_like_its_command_and_adds_nothing() {
        for (line, code, out, err) in [
            ("echo out; echo err >&2", 0, "out\n", "err\n"),
            ("exit 3", 3, "", ""),
            ("exit 255", 255, "", ""),
            ("kill -TERM $$", 143, "", ""),
            ("kill -KILL $$", 137, "", ""),
            ("[ -e /proc/self/fd/3 ] && echo a descriptor too many; :", 0, "", ""),
        ] {
            let output = waiting_for(line).wait_with_output().unwrap();
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            assert_eq!(
                (output.status.code(), text(output.stdout), text(output.stderr)),
                (Some(code), out.into(), err.into()),
                "{line}"
            );
        }
    }

    fn state(pid: i32) -> String {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1[..1].to_owned()
    }

    fn eventually(what: &str, is_true: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !is_true() {
            assert!(Instant::now() < deadline, "not in time: {what}");
            sleep(Duration::from_millis(5));
        }
    }

    /// What a machine does that goes down, in the same order.
    #[test]
    fn a_helper_reaps_a_command_that_was_stopped_and_killed() {
        let helper = waiting_for("kill -STOP $$; sleep 1000");
        let pid = i32::try_from(helper.id()).unwrap();
        let children = format!("/proc/{pid}/task/{pid}/children");
        let child = || fs::read_to_string(&children).unwrap().trim().parse::<i32>().ok();
        eventually("the command is stopped", || child().is_some_and(|child| state(child) == "T"));
        for signal in [Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU] {
            kill(Pid::from_raw(pid), signal).unwrap();
        }
        eventually("the helper sleeps again", || state(pid) == "S");
        kill(Pid::from_raw(child().unwrap()), Signal::SIGKILL).unwrap();
        assert_eq!(helper.wait_with_output().unwrap().status.code(), Some(137));
    }

    #[test]
    fn a_machine_ends_when_its_process_1_does() {
        for (stat, ending) in [
            ("812 (systemd) S 811 812 812 0 -1 4194560 1 2 3", false),
            ("812 (init) x) S 811 812 812 0 -1 4194560 1 2 3", false),
            ("812 (systemd-shutdow) S 811 812 812 0 -1 4194560 1 2 3", true),
            ("812 (systemd) D 811 812 812 0 -1 4194564 1 2 3", true),
            ("812 (systemd) Z 811 812 812 0 -1 4227340 1 2 3", true),
            ("", true),
        ] {
            assert_eq!(is_ending(stat), ending, "{stat}");
        }
    }

    #[test]
    fn only_what_failed_was_ended() {
        let (gone, here) = (i32::MAX, i32::try_from(std::process::id()).unwrap());
        for (leader, status, ended) in [
            (gone, ExitStatus::from_raw(0), false),
            (gone, ExitStatus::from_raw(143 << 8), true),
            (gone, ExitStatus::from_raw(9), true),
            (here, ExitStatus::from_raw(143 << 8), false),
            (here, ExitStatus::from_raw(9), false),
        ] {
            assert_eq!(ended_with(leader, status), ended, "{leader}: {status}");
        }
    }
}
