//! Packages can be worked with: no other process does so, and what was last begun was completed.
//!
//! A transaction that others have left half done is not completed here: a preflight changes nothing, and it is not ours.

use std::path::Path;

use checks::{Check, Checking, Finding, Part};
use nodekit::dnf::holder;

use super::inconclusive;
use crate::{
    codes,
    drivers::{Subject, rhel::dnf},
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> = Check::new(
    "package-manager",
    "dnf is there, free, and was not interrupted",
    &[codes::NO_DNF, codes::PACKAGES_HELD, codes::TRANSACTION_INTERRUPTED],
    check,
);

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async {
        let _turn = super::turn_at_dnf().await;
        let host = &subject.host;
        let found = |code, message: String| Ok(vec![Finding::cause(code, Part::Machine, message)]);
        if !host.disk.exists(Path::new("/usr/bin/dnf"))? {
            return found(codes::NO_DNF, "there is no /usr/bin/dnf".to_owned());
        }
        if let Some(holder) = holder(host).await {
            return found(codes::PACKAGES_HELD, format!("{holder} has the lock of rpm"));
        }
        let newest = dnf::newest(host).await.map_err(|error| inconclusive(&error))?;
        if dnf::is_interrupted(host, newest).await.map_err(|error| inconclusive(&error))? {
            return found(codes::TRANSACTION_INTERRUPTED, format!("dnf transaction {newest} was interrupted"));
        }
        Ok(Vec::new())
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Machine, run},
        *,
    };

    #[tokio::test]
    async fn who_holds_it_and_what_was_left() {
        let mut reported = String::new();
        for (locks, list, code) in [
            ("", " 41 | upgrade |", "Success"),
            ("", "", "Success"),
            ("2106 packagekitd /var/lib/rpm/.rpm.lock\n", " 41 | upgrade |", "Success"),
            ("", " 41 | upgrade |", "Failure: 1"),
        ] {
            let machine = Machine::default().answering(move |command| {
                Ok(match command {
                    locked if locked.starts_with("lslocks") => locks.to_owned(),
                    history if history.ends_with("history list") => list.to_owned(),
                    _ => format!("Return-Code    : {code}\n"),
                })
            });
            reported += &machine.checked(&CHECK, &run("a")).await;
        }
        let machine = Machine::default();
        std::fs::remove_file(machine.path("/usr/bin/dnf")).unwrap();
        reported += &machine.checked(&CHECK, &run("a")).await;
        insta::assert_snapshot!(reported);
    }
}
