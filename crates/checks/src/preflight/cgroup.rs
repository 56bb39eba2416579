//! Control groups are mounted, in version 2 if possible, with the controllers that the kubelet needs.

use super::{Check, Context, advice};
use crate::{Checking, Finding, Inconclusive, Part, codes};

/// See [`super`].
pub(super) const CHECK: Check = Check::new(
    "cgroup",
    "control groups of version 2 with the controllers that containers need",
    &[codes::NO_CGROUPS],
    check,
);

const NEEDED: [&str; 4] = ["cpu", "cpuset", "memory", "pids"];
const UNIFIED: &str = "/sys/fs/cgroup/cgroup.controllers";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        // In version 2 this file is at the top; a hybrid system has it elsewhere, without controllers worth having.
        if let Some(controllers) = context.text(UNIFIED)? {
            return Ok(evaluate(Version::Two, &controllers.split_whitespace().collect::<Vec<_>>()));
        }
        let mounts = context.required_text("/proc/self/mountinfo")?;
        let controllers = version_one(&mounts);
        if controllers.is_empty() {
            return Err(Inconclusive("no control groups are mounted at /sys/fs/cgroup".to_owned()));
        }
        Ok(evaluate(Version::One, &controllers))
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

fn evaluate(version: Version, controllers: &[&str]) -> Vec<Finding> {
    let missing: Vec<&str> = NEEDED.into_iter().filter(|needed| !controllers.contains(needed)).collect();
    if !missing.is_empty() {
        let hint = match version {
            // The most frequent case: some boards switch it off to save memory.
            Version::Two if missing.contains(&"memory") => {
                "add `cgroup_enable=memory` to the kernel's command line and restart the machine".to_owned()
            }
            Version::One | Version::Two => codes::NO_CGROUPS.fix.to_owned(),
        };
        let message = format!("control groups lack {}", missing.join(", "));
        return vec![Finding::cause(codes::NO_CGROUPS, Part::Machine, message).with_fix(hint)];
    }
    match version {
        Version::Two => Vec::new(),
        Version::One => advice(
            "cgroup v1, which Kubernetes no longer develops; the kubelet is configured to accept it",
            "boot with `systemd.unified_cgroup_hierarchy=1` where you can",
        ),
    }
}

/// The controllers of version 1 are the mount options of their hierarchies.
fn version_one(mountinfo: &str) -> Vec<&str> {
    let hierarchies = mountinfo.lines().filter_map(|line| line.split_once(" - cgroup "));
    hierarchies.flat_map(|(_, source)| source.split_whitespace().last().unwrap_or_default().split(',')).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::reported, *};
    use crate::Kind;

    const HYBRID: &str = "\
70 134 0:50 / /sys/fs/cgroup ro,nosuid shared:17 - tmpfs tmpfs ro,size=4096k,mode=755
74 70 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:21 - cgroup cgroup rw,cpu,cpuacct
75 70 0:36 / /sys/fs/cgroup/pids rw,nosuid shared:22 - cgroup cgroup rw,pids
76 70 0:32 / /sys/fs/cgroup/memory rw,nosuid shared:23 - cgroup cgroup rw,memory
77 70 0:31 / /sys/fs/cgroup/cpuset rw,nosuid shared:24 - cgroup cgroup rw,cpuset
79 70 0:38 / /sys/fs/cgroup/unified rw,nosuid shared:26 - cgroup2 cgroup rw
";

    #[test]
    fn version_two_is_fine_and_version_one_a_warning() {
        assert_eq!(evaluate(Version::Two, &["cpuset", "cpu", "io", "memory", "pids"]), Vec::new());
        assert_eq!(evaluate(Version::One, &version_one(HYBRID)).first().map(|found| found.kind), Some(Kind::Warning));
    }

    #[test]
    fn a_missing_controller_is_named() {
        let without_memory = HYBRID.lines().filter(|line| !line.contains("memory")).collect::<Vec<_>>().join("\n");
        let verdicts = [
            evaluate(Version::Two, &["cpuset", "cpu", "io", "pids"]),
            evaluate(Version::Two, &["memory", "io"]),
            evaluate(Version::One, &version_one(&without_memory)),
        ];
        insta::assert_snapshot!(reported(verdicts));
    }
}
