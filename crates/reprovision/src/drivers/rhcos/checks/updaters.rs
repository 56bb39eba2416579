//! Nobody else changes the system meanwhile, or is about to.

use std::path::Path;

use checks::{Check, Checking, Finding, Part};
use nodekit::systemd;

use super::{super::payload::ENCAPSULATED, problem, unclear};
use crate::{
    codes::{ARMED_BY_ANOTHER, OTHER_UPDATER},
    drivers::Subject,
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("updaters", "nothing else updates the system", &[OTHER_UPDATER, ARMED_BY_ANOTHER], check);

const UPDATERS: [&str; 2] = ["zincati.service", "rpm-ostreed-automatic.timer"];

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move {
        let mut found = Vec::new();
        // We never write there: where it is, it is not ours.
        if subject.host.disk.exists(Path::new(ENCAPSULATED))? {
            let evidence = format!("{ENCAPSULATED} is there, and no run of ours has written it");
            found.push(problem(ARMED_BY_ANOTHER, Part::Machine, evidence));
        }
        for unit in UPDATERS {
            if systemd::check(&subject.host, unit).await.map_err(|error| unclear(&error))?.is_up() {
                found.push(Finding::warning(OTHER_UPDATER, Part::Machine, format!("{unit} is active")));
            }
        }
        Ok(found)
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{super::testing::Machine, reported},
        *,
    };

    #[tokio::test]
    async fn who_else_is_at_it() {
        let machine = Machine::default();
        assert_eq!(reported(&CHECK, &machine).await, "  nothing\n");
        machine.write(ENCAPSULATED, "{}");
        machine.answers(|command| command.ends_with("zincati.service").then(|| Ok("ActiveState=active\n".into())));
        insta::assert_snapshot!(reported(&CHECK, &machine).await, @r"
          Cause BS-IPB-045 /etc/ignition-machine-config-encapsulated.json is there, and no run of ours has written it
          Warning BS-IPB-017 zincati.service is active
        ");
    }
}
