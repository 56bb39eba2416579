//! The machine has booted a deployment, and no other waits for a reboot: it would come with ours, or instead of it.

use checks::{Check, Checking, Part};
use explain::plain;

use super::{super::rpm_ostree::Status, found, problem};
use crate::{
    codes::{BAD_STATUS, STAGED},
    drivers::Subject,
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("deployments", "a deployment is booted, and no other waits for a reboot", &[BAD_STATUS, STAGED], check);

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move {
        let status = match Status::read(&subject.host).await {
            Ok(status) => status,
            // Whatever the reason is: a machine that does not say it cannot be worked on.
            Err(error) => return Ok(vec![problem(BAD_STATUS, Part::Machine, explain::chain(&error))]),
        };
        if let Err(error) = status.booted() {
            return Ok(vec![found(&error)]);
        }
        let waiting = status.pending().map(|pending| {
            let how = if pending.staged { "is staged" } else { "is the default" };
            problem(STAGED, Part::Machine, format!("deployment {} {how}, and not booted", plain(&pending.name())))
        });
        Ok(waiting.into_iter().collect())
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::{
                samples::{OLD_OS, OS},
                testing::Machine,
            },
            reported,
        },
        *,
    };

    #[tokio::test]
    async fn what_is_booted_and_what_waits() {
        let mut text = String::new();
        for (case, deployments) in [
            ("one", &[("old", OLD_OS, "b")][..]),
            ("two, the first is booted", &[("new", OS, "b"), ("old", OLD_OS, "p")]),
            ("staged", &[("new", OS, "s"), ("old", OLD_OS, "b")]),
            ("rolled back and not rebooted", &[("new", OS, ""), ("old", OLD_OS, "b")]),
            ("none booted", &[("old", OLD_OS, "")]),
        ] {
            let machine = Machine::default();
            machine.deployed(deployments);
            text += &format!("{case}:\n{}", reported(&CHECK, &machine).await);
        }
        let machine = Machine::default();
        machine.answers(|_| Some(Err("exit status: 1|error: System was not booted via libostree".into())));
        text += &format!("no ostree:\n{}", reported(&CHECK, &machine).await);
        insta::assert_snapshot!(text);
    }
}
