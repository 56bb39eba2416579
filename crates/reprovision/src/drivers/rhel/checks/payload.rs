//! The payload is on the node as it came, and there is something in it that can be run.

use checks::{Check, Checking};
use engine::StepError;

use super::found;
use crate::{
    codes,
    drivers::{
        Subject,
        rhel::{kept, payload},
    },
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> = Check::new(
    "payload",
    "the payload is whole and can be run, and what it changes can be kept",
    &[codes::PAYLOAD_LOST, codes::PAYLOAD_UNKNOWN, codes::FILES_LIST],
    check,
);

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async { Ok(problems(subject).iter().map(found).collect()) })
}

/// All that is wrong with it.
fn problems(subject: &Subject) -> Vec<StepError> {
    let disk = &*subject.host.disk;
    let whole = payload::whole(&subject.run, disk).map(drop);
    let entry = payload::entry(disk).map(drop);
    let can_be_kept = payload::declared(disk)
        .and_then(|files| files.iter().try_for_each(|path| kept::is_there(disk, path).map(drop)));
    [whole, entry, can_be_kept].into_iter().filter_map(Result::err).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Machine, run},
        *,
    };

    const DIR: &str = "/var/lib/blackstart-reprovision/payload";

    #[tokio::test]
    async fn all_that_is_wrong_is_reported_at_once() {
        let machine = Machine::default();
        let mut reported = machine.checked(&CHECK, &run("a")).await;
        machine.write(&format!("{DIR}/files/README"), "");
        machine.write(&format!("{DIR}/files/files"), "/usr\n");
        reported += &machine.checked(&CHECK, &run("a")).await;
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let note = format!(r#"{{"run": "a", "sha256": "{sum}", "kind": "tar", "fetched": "2026-11-19T02:00:00Z"}}"#);
        machine.write(&format!("{DIR}/payload.json"), note);
        machine.write(&format!("{DIR}/raw"), "abc");
        machine.write(&format!("{DIR}/files/files"), "/usr/bin/dnf\n");
        machine.write(&format!("{DIR}/files/bootstrap.sh"), "");
        reported += &machine.checked(&CHECK, &run("a")).await;
        insta::assert_snapshot!(reported);
    }
}
