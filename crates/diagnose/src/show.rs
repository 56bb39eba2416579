//! A diagnosis as text for people. The first word of a line is enough; colour is for the edge.

use checks::show::entry;
use explain::counted;

use crate::{Cause, Check, Diagnosis, Finding, narrow::InconclusiveCheck};

/// One line per check: name and what it looks at.
pub fn list(checks: &[Check]) -> String {
    checks::show::list(checks, |check| check.about.to_owned())
}

/// What must be fixed first, then what to know, then what could not be looked at.
pub fn show(diagnosis: &Diagnosis) -> String {
    let mut text = String::new();
    for Cause { finding, explains } in &diagnosis.findings {
        text += &reported("problem", finding, explains);
    }
    for warning in &diagnosis.warnings {
        text += &reported("warning", warning, &[]);
    }
    for (why, checks) in by_reason(&diagnosis.unknown) {
        text += &entry("unknown", "", &format!("{}: {why}", checks.join(", ")), &[]);
    }
    text += &if diagnosis.is_well() {
        "no problems found\n".to_owned()
    } else {
        format!("{}; `blackstart explain CODE` for details\n", counted(diagnosis.findings.len(), "problem"))
    };
    text
}

/// What cannot be checked for the same reason is reported together.
fn by_reason(unknown: &[InconclusiveCheck]) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for InconclusiveCheck { check, why } in unknown {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, checks)) => checks.push(check),
            None => reasons.push((why, vec![check])),
        }
    }
    reasons
}

/// The one thing to fix first, for those who only asked why something failed; `None` where no reason was found.
pub fn show_likely_cause(diagnosis: &Diagnosis) -> Option<String> {
    let finding = diagnosis.likely_cause()?;
    let more = match diagnosis.findings.len() {
        1 => "`blackstart diagnose` checks again".to_owned(),
        all => format!("`blackstart diagnose` shows {} more", all - 1),
    };
    Some(format!("likely cause[{}]: {}\n  fix: {}\n  {more}\n", finding.id(), finding.evidence, finding.fix))
}

fn reported(word: &str, finding: &Finding, explains: &[Finding]) -> String {
    let symptoms = explains.iter().map(|symptom| format!("so: {}", symptom.evidence));
    let notes: Vec<String> = std::iter::once(format!("fix: {}", finding.fix)).chain(symptoms).collect();
    entry(word, "", &format!("{}: {}", finding.id(), finding.evidence), &notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Part, codes, narrow::narrow, registry};

    fn broken() -> Diagnosis {
        let found = vec![
            Finding::symptom(codes::CRASH_LOOP, Part::ApiServer, "kube-apiserver.service is activating"),
            Finding::symptom(codes::CRASH_LOOP, Part::Controllers, "kube-scheduler.service is activating"),
            Finding::cause(codes::READ_ONLY, Part::Machine, "/var/lib/etcd is mounted read-only"),
            Finding::cause(codes::KERNEL_SETTING, Part::PodNetwork, "net.ipv4.ip_forward is 0"),
            Finding::warning(codes::SERVICE_DISABLED, Part::Kubelet, "kubelet.service runs and is disabled"),
        ];
        narrow(found, vec![InconclusiveCheck { check: "clock".into(), why: "no answer within 12 s".into() }])
    }

    #[test]
    fn what_to_fix_comes_first() {
        insta::assert_snapshot!("broken", show(&broken()));
        insta::assert_snapshot!("likely_cause", show_likely_cause(&broken()).unwrap());
    }

    #[test]
    fn where_all_is_well() {
        let well = Diagnosis::default();
        assert_eq!(show(&well), "no problems found\n");
        assert_eq!(show_likely_cause(&well), None);
        let no_reason =
            narrow(vec![Finding::symptom(codes::CRASH_LOOP, Part::Etcd, "etcd.service is failed")], Vec::new());
        assert_eq!(show_likely_cause(&no_reason), None, "a symptom is no reason");
    }

    #[test]
    fn the_registry_is_a_list_that_people_read() {
        insta::assert_snapshot!("list", list(registry()));
    }
}
