//! The programs that the work calls, and those that the machine-config-daemon calls on the host, are there.

use std::path::Path;

use checks::{Check, Checking, Part};

use super::problem;
use crate::{codes::NO_TOOL, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("host-tools", "the system's programs that are needed are installed", &[NO_TOOL], check);

const NEEDED: [(&str, &str); 8] = [
    ("podman", "it runs the machine-config-daemon"),
    ("rpm-ostree", "it changes the system's image"),
    ("ostree", "it keeps the old deployment"),
    ("systemctl", "the machine is rebooted with it"),
    ("systemd-run", "the machine-config-daemon reboots with it"),
    ("rpm", "the machine-config-daemon asks it for the owner of files"),
    ("skopeo", "the machine-config-daemon asks it for its version"),
    ("unshare", "files of the old deployment are put back with it"),
];
const DIRECTORIES: [&str; 4] = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move {
        let mut missing = Vec::new();
        for (program, why) in NEEDED {
            let mut is_there = false;
            for directory in DIRECTORIES {
                is_there = is_there || subject.host.disk.exists(&Path::new(directory).join(program))?;
            }
            if !is_there {
                missing.push(format!("`{program}` ({why})"));
            }
        }
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![problem(NO_TOOL, Part::Machine, format!("not installed: {}", missing.join(", ")))])
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{super::testing::Machine, reported},
        *,
    };

    #[tokio::test]
    async fn what_lacks_is_named_with_its_use() {
        let machine = Machine::default();
        for (program, _) in NEEDED.iter().skip(2) {
            machine.write(&format!("/usr/bin/{program}"), "");
        }
        let two = reported(&CHECK, &machine).await;
        insta::assert_snapshot!(two, @"  Cause BS-IPB-042 not installed: `podman` (it runs the machine-config-daemon), `rpm-ostree` (it changes the system's image)");
        for program in ["podman", "rpm-ostree"] {
            machine.write(&format!("/usr/sbin/{program}"), "");
        }
        assert_eq!(reported(&CHECK, &machine).await, "  nothing\n");
    }
}
