//! A service that the kernel ended because memory ran out.

use nodekit::systemd::Unit;

use crate::{Check, Checking, Context, Finding, codes::OUT_OF_MEMORY, unit::part};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("memory", "services that the kernel killed for lack of memory", &[OUT_OF_MEMORY], check);

/// `SIGKILL`, which is also what others may send: only with the kernel's word for it does it mean memory.
const KILLED: &str = "9";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let units = context.units().await?;
        let killed: Vec<&Unit> =
            units.all.values().filter(|unit| was_killed(unit) && unit.is_crash_looping(units.uptime)).collect();
        if killed.is_empty() {
            return Ok(Vec::new());
        }
        let arguments = ["--dmesg", "--since=-2min", "--output=cat", "--no-pager", "--quiet", "--lines=2000"];
        let log = context.output("journalctl", arguments).await.unwrap_or_default();
        Ok(killed.into_iter().filter_map(|unit| evaluate(unit, &log)).collect())
    })
}

fn was_killed(unit: &Unit) -> bool {
    unit.result == "oom-kill" || (unit.result == "signal" && unit.status == KILLED)
}

/// systemd knows it where control groups are of version 2; else the kernel's log does.
fn evaluate(unit: &Unit, log: &str) -> Option<Finding> {
    let line = log.lines().rev().find(|line| is_about(line, &unit.name));
    let output = match line {
        Some(line) => format!("the kernel logged: {}", line.trim()),
        None if unit.result == "oom-kill" => "systemd calls its end `oom-kill`".to_owned(),
        None => return None,
    };
    let evidence = format!("{} ran out of memory {} times; {output}", unit.name, unit.restarts.max(1));
    let fix = format!("more memory, or a higher limit: `systemctl show -p MemoryMax,MemoryCurrent {}`", unit.name);
    Some(Finding::cause(OUT_OF_MEMORY, part(unit), evidence).with_fix(fix))
}

/// `Memory cgroup out of memory: Killed process 4711 (kube-scheduler) total-vm:…`; the kernel keeps 15 letters of a name.
fn is_about(line: &str, unit: &str) -> bool {
    let program: String = unit.trim_end_matches(".service").chars().take(15).collect();
    line.to_lowercase().contains("out of memory: killed process") && line.contains(&format!("({program})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_log_is_needed_unless_systemd_knows() {
        let unit = |result: &str, status: &str| Unit {
            name: "kube-controller-manager.service".into(),
            result: result.into(),
            status: status.into(),
            restarts: 2,
            ..Unit::default()
        };
        let log = "usb 1-1: new device\nMemory cgroup out of memory: Killed process 7 (kube-controller) total-vm:1kB\n\
                   Memory cgroup out of memory: Killed process 8 (etcd) total-vm:1kB\n";
        let killed = unit("signal", "9");
        assert!(was_killed(&killed) && !was_killed(&unit("signal", "15")) && !was_killed(&unit("exit-code", "9")));
        insta::assert_snapshot!(
            evaluate(&killed, log).unwrap().evidence,
            @"kube-controller-manager.service ran out of memory 2 times; the kernel logged: Memory cgroup out of memory: Killed process 7 (kube-controller) total-vm:1kB"
        );
        assert_eq!(evaluate(&killed, "Out of memory: Killed process 8 (etcd)"), None);
        assert!(evaluate(&unit("oom-kill", "9"), "").unwrap().evidence.contains("`oom-kill`"));
    }
}
