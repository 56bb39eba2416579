//! No other program updates the node by itself while a payload does.

use checks::{Check, Checking, Finding, Part};

use super::command;
use crate::{codes, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("updaters", "no automatic updater is active", &[codes::OTHER_UPDATER], check);

/// Units of updaters, as patterns.
const UNITS: [&str; 4] =
    ["dnf-automatic*.timer", "dnf5-automatic*.timer", "yum-cron.service", "packagekit-offline-update.service"];

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async {
        let question = ["list-units", "--state=active,activating", "--plain", "--no-legend", "--no-pager"];
        let printed = subject.host.commands.run(&command("systemctl", question).args(UNITS)).await?;
        Ok(evaluate(&printed.stdout))
    })
}

fn evaluate(units: &str) -> Vec<Finding> {
    let names: Vec<&str> = units.lines().filter_map(|line| line.split_whitespace().next()).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let fix = format!("`systemctl disable --now {}` on the node, or leave it to the payload to do so", names.join(" "));
    vec![Finding::warning(codes::OTHER_UPDATER, Part::Machine, format!("{} is active", names.join(", "))).with_fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_updater_is_a_warning() {
        assert_eq!(evaluate(""), []);
        let found = evaluate("dnf-automatic.timer loaded active waiting dnf-automatic timer\n");
        assert_eq!(
            (found[0].kind, found[0].evidence.as_str()),
            (checks::Kind::Warning, "dnf-automatic.timer is active")
        );
    }
}
