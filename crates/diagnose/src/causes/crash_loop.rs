//! A service that ends again and again, with the line of its log that shows why.

use nodekit::systemd;
use nodekit::systemd::Unit;

use crate::{Check, Checking, Context, Finding, codes::CRASH_LOOP, unit::part};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new("crash-loop", "services that are crash-looping", &[CRASH_LOOP], check);

/// They come back until they succeed, and have a check of their own.
const RUN_TO_AN_END: [&str; 2] = ["cluster-detect.service", "cluster-bootstrap.service"];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let units = context.units().await?;
        let mut found = Vec::new();
        for (name, unit) in &units.all {
            if unit.is_crash_looping(units.uptime) && !RUN_TO_AN_END.contains(&name.as_str()) {
                let output = systemd::last_log_line(&context.host, name).await;
                found.push(evaluate(unit, &output));
            }
        }
        Ok(found)
    })
}

fn evaluate(unit: &Unit, output: &str) -> Finding {
    let output = if output.is_empty() { "it has no output".to_owned() } else { format!("last log line: {output}") };
    let Unit { name, active, restarts, .. } = unit;
    let again = if *restarts == 0 { String::new() } else { format!(", started again {restarts} times") };
    let evidence = format!("{name} is {active}{again}; {output}");
    let fix = format!("its last log line is above; `journalctl -u {name}` shows the whole log");
    Finding::symptom(CRASH_LOOP, part(unit), evidence).with_fix(fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn the_last_log_line_is_reported() {
        let unit = Unit { name: "etcd.service".into(), active: "activating".into(), restarts: 4, ..Unit::default() };
        let finding = evaluate(&unit, "fatal: no space left on device");
        assert_eq!(finding.kind, Kind::Symptom);
        insta::assert_snapshot!(
            finding.evidence,
            @"etcd.service is activating, started again 4 times; last log line: fatal: no space left on device"
        );
        let first = Unit { restarts: 0, ..unit };
        assert_eq!(evaluate(&first, "").evidence, "etcd.service is activating; it has no output");
    }
}
