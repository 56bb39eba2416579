//! The programs of the system that steps and components call are there.

use std::path::Path;

use super::super::{Check, Context, Finding, Roles, When, check::Checking};
use crate::codes;

/// See [`super`].
pub(in super::super) const CHECK: Check = Check {
    name: "programs",
    about: "the system's programs that are needed are installed",
    roles: Roles::All,
    when: When::Always,
    run: check,
};

/// Who needs it is said, because a person wants to know what for.
const NEEDED: &[(&str, &str)] = &[
    ("systemctl", "every service is a systemd unit"),
    ("busctl", "the network is changed under NetworkManager's guard"),
    ("nmcli", "the network is configured with NetworkManager"),
    ("ip", "to read addresses and routes"),
    ("ping", "after a change of the network it is seen whether others still answer"),
    ("nft", "kube-proxy and the agent write their rules with it"),
    ("conntrack", "kube-proxy clears stale connections with it"),
    ("mount", "the kubelet mounts volumes with it"),
];
const DIRECTORIES: &[&str] = &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

fn check<'a>(context: &'a Context<'a>) -> Checking<'a> {
    Box::pin(async move {
        let mut missing = Vec::new();
        for (program, why) in NEEDED {
            let mut found = false;
            for directory in DIRECTORIES {
                found = found || context.host.disk.exists(&Path::new(directory).join(program))?;
            }
            if !found {
                missing.push((*program, *why));
            }
        }
        Ok(evaluate(&missing))
    })
}

fn evaluate(missing: &[(&str, &str)]) -> Finding {
    if missing.is_empty() {
        return Finding::Fine;
    }
    let each: Vec<String> = missing.iter().map(|(program, why)| format!("`{program}` ({why})")).collect();
    Finding::problem(codes::NO_PROGRAM, format!("not installed: {}", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{super::super::check::reported, *};

    #[test]
    fn all_that_is_missing_is_named_with_its_use() {
        assert_eq!(evaluate(&[]), Finding::Fine);
        let two: Vec<_> = NEEDED.iter().filter(|(name, _)| matches!(*name, "nft" | "conntrack")).copied().collect();
        insta::assert_snapshot!(reported([evaluate(&two)]));
    }
}
