//! A service that ran once and was stopped, masked, or kept from starting at the next boot.

use nodekit::systemd::Unit;
use std::path::Path;

use crate::{
    Check, Checking, Context, Finding,
    codes::{SERVICE_DISABLED, SERVICE_STOPPED},
    unit::part,
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "stopped",
    "services that were stopped, masked or disabled",
    &[SERVICE_STOPPED, SERVICE_DISABLED],
    check,
);

/// What starts with the machine has a link here.
const WANTED_BY: &str = "/etc/systemd/system/multi-user.target.wants";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let mut found = Vec::new();
        for (service, unit) in context.started_services().await? {
            let is_enabled = context.host.disk.exists(&Path::new(WANTED_BY).join(service.name))?;
            found.extend(evaluate(&unit, is_enabled));
        }
        Ok(found)
    })
}

/// The check of files reports a unit without a file.
fn evaluate(unit: &Unit, is_enabled: bool) -> Option<Finding> {
    let Unit { name, load, active, sub, .. } = unit;
    let stopped =
        |evidence: String, fix: String| Some(Finding::cause(SERVICE_STOPPED, part(unit), evidence).with_fix(fix));
    match (load.as_str(), active.as_str()) {
        ("masked", _) if !unit.is_up() => stopped(
            format!("{name} is masked, so nothing can start it"),
            format!("`systemctl unmask {name} && systemctl enable --now {name}`"),
        ),
        // What the condition is about has a check of its own.
        ("loaded", "inactive" | "failed") if unit.is_held_back => {
            let evidence = format!("{name} is {active}: a condition in its file does not hold");
            let fix = format!("`systemctl status {name}` shows which; fix it, then `systemctl start {name}`");
            Some(Finding::symptom(SERVICE_STOPPED, part(unit), evidence).with_fix(fix))
        }
        // systemd starts our services again whenever they end: one that is not started again was stopped, however it ended.
        ("loaded", "inactive" | "deactivating" | "failed") => {
            stopped(format!("{name} is {active} ({sub}): it was stopped by hand"), format!("`systemctl start {name}`"))
        }
        // The check of files reports what is wrong with its file.
        ("bad-setting" | "error", _) if !unit.is_up() => {
            let evidence = format!("{name} is {active} and cannot be started: systemd calls its file `{load}`");
            let fix = format!("`systemd-analyze verify {name}` shows what is wrong with it");
            Some(Finding::symptom(SERVICE_STOPPED, part(unit), evidence).with_fix(fix))
        }
        ("loaded" | "masked", _) if !is_enabled || load == "masked" => {
            let evidence = format!("{name} runs and is {}", if load == "masked" { "masked" } else { "disabled" });
            let fix =
                format!("`systemctl unmask {name}; systemctl enable {name}`: else it is gone after the next boot");
            Some(Finding::warning(SERVICE_DISABLED, part(unit), evidence).with_fix(fix))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_its_answer() {
        let unit = |load: &str, active: &str, sub: &str| Unit {
            name: "kubelet.service".into(),
            load: load.into(),
            active: active.into(),
            sub: sub.into(),
            ..Unit::default()
        };
        let mut text = String::new();
        for (unit, is_enabled) in [
            (unit("loaded", "active", "running"), true),
            (unit("loaded", "activating", "auto-restart"), true),
            (unit("loaded", "failed", "failed"), true),
            (unit("not-found", "inactive", "dead"), true),
            (unit("loaded", "inactive", "dead"), true),
            (unit("loaded", "inactive", "dead"), false),
            (Unit { is_held_back: true, ..unit("loaded", "inactive", "dead") }, true),
            (Unit { is_held_back: true, ..unit("loaded", "failed", "failed") }, true),
            (unit("loaded", "active", "running"), false),
            (unit("masked", "inactive", "dead"), true),
            (unit("masked", "active", "running"), true),
            (unit("bad-setting", "active", "running"), true),
            (unit("bad-setting", "inactive", "dead"), true),
        ] {
            let found = evaluate(&unit, is_enabled);
            let reported =
                found.map_or_else(|| "nothing".to_owned(), |one| format!("{:?}: {}", one.kind, one.evidence));
            text += &format!("{} {} {}, enabled {is_enabled}: {reported}\n", unit.load, unit.active, unit.sub);
        }
        insta::assert_snapshot!(text);
    }
}
