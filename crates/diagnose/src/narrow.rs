//! From everything that was found to what must be fixed. Pure.

use serde::Serialize;

use crate::{Finding, Kind};

/// What was found, in the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// What must be fixed, nearest to the machine first.
    pub findings: Vec<Cause>,
    /// What works today and may not tomorrow.
    pub warnings: Vec<Finding>,
    /// What could not be looked at.
    pub unknown: Vec<InconclusiveCheck>,
}

/// An inconclusive check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InconclusiveCheck {
    /// Its name.
    pub check: String,
    /// Why not.
    pub why: String,
}

/// Something to fix, with what does not work because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The reason, or what does not work where no reason was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// Symptoms that it explains.
    pub explains: Vec<Finding>,
}

impl Diagnosis {
    /// Whether nothing is wrong. What could not be looked at does not count.
    pub fn is_well(&self) -> bool {
        self.findings.is_empty()
    }

    /// What to fix first; `None` where only symptoms were found.
    pub fn likely_cause(&self) -> Option<&Finding> {
        self.findings.iter().map(|cause| &cause.finding).find(|finding| finding.kind == Kind::Cause)
    }
}

/// Sorts findings by what they say of each other. A symptom goes below the cause that is nearest to it among those its
/// part needs; without one, below the symptom of a part it needs; without that, below the nearest suspicion, which then is
/// the cause; else it stands for itself. What is suspected without need is a warning.
pub(crate) fn narrow(found: Vec<Finding>, unknown: Vec<InconclusiveCheck>) -> Diagnosis {
    let (mut findings, mut symptoms, mut suspicions, mut warnings) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for finding in found {
        match finding.kind {
            Kind::Cause => findings.push(Cause { finding, explains: Vec::new() }),
            Kind::Symptom => symptoms.push(finding),
            Kind::Suspicion => suspicions.push(finding),
            Kind::Warning => warnings.push(finding),
        }
    }
    symptoms.sort_by_key(|symptom| symptom.part);
    for symptom in symptoms {
        let known = findings.iter_mut().filter(|cause| explains(&cause.finding, &symptom));
        if let Some(nearest) = known.max_by_key(|cause| cause.finding.part) {
            nearest.explains.push(symptom);
            continue;
        }
        let suspected = suspicions.iter().enumerate().filter(|(_, suspicion)| explains(suspicion, &symptom));
        let nearest = suspected.max_by_key(|(_, suspicion)| suspicion.part).map(|(index, _)| index);
        findings.push(match nearest {
            Some(index) => {
                let finding = Finding { kind: Kind::Cause, ..suspicions.remove(index) };
                Cause { finding, explains: vec![symptom] }
            }
            None => Cause { finding: symptom, explains: Vec::new() },
        });
    }
    findings.sort_by_key(|cause| cause.finding.part);
    warnings.extend(suspicions.into_iter().map(|suspicion| Finding { kind: Kind::Warning, ..suspicion }));
    warnings.sort_by_key(|warning| warning.part);
    Diagnosis { findings, warnings, unknown }
}

fn explains(finding: &Finding, symptom: &Finding) -> bool {
    let same_part = finding.part == symptom.part && finding.kind != Kind::Symptom;
    same_part || symptom.part.needs_somehow(finding.part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Part, codes::CRASH_LOOP};

    fn reported(found: &[(Kind, Part)]) -> Vec<(Part, usize)> {
        let finding =
            |(kind, part): &(Kind, Part)| Finding { kind: *kind, ..Finding::cause(CRASH_LOOP, *part, "seen") };
        let diagnosis = narrow(found.iter().map(finding).collect(), Vec::new());
        diagnosis.findings.iter().map(|cause| (cause.finding.part, cause.explains.len())).collect()
    }

    #[test]
    fn a_cause_explains_what_stands_on_it_and_nothing_else() {
        use Kind::{Cause, Suspicion, Symptom, Warning};
        type Reported<'a> = (&'a [(Kind, Part)], &'a [(Part, usize)]);
        let cases: [Reported<'_>; 9] = [
            (&[], &[]),
            (&[(Symptom, Part::Node), (Cause, Part::Machine), (Symptom, Part::Etcd)], &[(Part::Machine, 2)]),
            (&[(Symptom, Part::Node), (Symptom, Part::Etcd)], &[(Part::Etcd, 1)]),
            (&[(Cause, Part::Kubelet), (Symptom, Part::Etcd)], &[(Part::Etcd, 0), (Part::Kubelet, 0)]),
            (&[(Warning, Part::Machine), (Symptom, Part::Node)], &[(Part::Node, 0)]),
            (&[(Suspicion, Part::Etcd)], &[]),
            (&[(Suspicion, Part::Etcd), (Symptom, Part::Node), (Symptom, Part::Etcd)], &[(Part::Etcd, 2)]),
            (&[(Suspicion, Part::Etcd), (Cause, Part::Machine), (Symptom, Part::Etcd)], &[(Part::Machine, 1)]),
            (
                &[(Symptom, Part::Kubelet), (Cause, Part::Kubelet), (Cause, Part::Etcd)],
                &[(Part::Etcd, 0), (Part::Kubelet, 1)],
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(reported(found), expected, "{found:?}");
        }
    }
}
