//! Who needs ansible-playbook has it. A `bootstrap.sh` may bring its own.

use std::path::Path;

use checks::{Check, Checking, Finding, Part};

use crate::{
    codes,
    drivers::{
        Subject,
        rhel::payload::{self, Entry},
    },
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("ansible", "a payload that is a playbook finds ansible-playbook", &[codes::NO_ANSIBLE], check);

const DIRECTORIES: [&str; 3] = ["/usr/bin", "/usr/local/bin", "/usr/sbin"];

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async {
        let disk = &*subject.host.disk;
        // That there is nothing to run is another check's.
        if !matches!(payload::entry(disk), Ok(Entry::Playbook)) {
            return Ok(Vec::new());
        }
        for directory in DIRECTORIES {
            if disk.exists(&Path::new(directory).join("ansible-playbook"))? {
                return Ok(Vec::new());
            }
        }
        let message = format!("there is no ansible-playbook in {}", DIRECTORIES.join(", "));
        Ok(vec![Finding::cause(codes::NO_ANSIBLE, Part::Machine, message)])
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Machine, run},
        *,
    };

    #[tokio::test]
    async fn only_a_playbook_alone_needs_it() {
        const FILES: &str = "/var/lib/blackstart-reprovision/payload/files";
        let machine = Machine::default();
        assert_eq!(machine.checked(&CHECK, &run("a")).await, "fine\n");
        machine.write(&format!("{FILES}/playbook.yml"), "");
        assert!(machine.checked(&CHECK, &run("a")).await.starts_with("BS-IPB-069 Cause"));
        machine.write("/usr/bin/ansible-playbook", "");
        assert_eq!(machine.checked(&CHECK, &run("a")).await, "fine\n");
    }
}
