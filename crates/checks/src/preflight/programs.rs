//! The programs of the system that steps and components call are there.

use std::path::Path;

use super::{Check, Context, problem};
use crate::{Checking, Finding, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("programs", "the system's programs that are needed are installed", &[codes::NO_PROGRAM], check);

/// Who needs it is shown, because a person wants to know what for.
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

fn check(context: &Context) -> Checking<'_> {
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

fn evaluate(missing: &[(&str, &str)]) -> Vec<Finding> {
    if missing.is_empty() {
        return Vec::new();
    }
    let each: Vec<String> = missing.iter().map(|(program, why)| format!("`{program}` ({why})")).collect();
    problem(codes::NO_PROGRAM, format!("not installed: {}", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{super::reported, *};

    #[test]
    fn all_that_is_missing_is_named_with_its_use() {
        assert_eq!(evaluate(&[]), Vec::new());
        let two: Vec<_> = NEEDED.iter().filter(|(name, _)| matches!(*name, "nft" | "conntrack")).copied().collect();
        insta::assert_snapshot!(reported([evaluate(&two)]));
    }
}
