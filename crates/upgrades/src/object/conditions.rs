//! Conditions by which `kubectl wait`, Flux and Argo CD know how it went (kstatus): `Ready`, `Reconciling`, `Stalled`.

use jiff::Timestamp;
use kubeapi::k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use super::{NodeUpgradeStatus, Phase};

/// The conditions of an object.
pub type Conditions = Vec<Condition>;

/// What the conditions are now; one that did not change keeps its time.
pub fn conditions(status: &NodeUpgradeStatus, now: Timestamp) -> Conditions {
    let failure = status.failure.as_ref().map(ToString::to_string);
    let waits = status.waits_for.as_ref().map(|message| message.message().to_owned());
    let message = failure.or(waits).unwrap_or_default();
    let is_done = status.phase == Phase::Done;
    let is_stalled = status.phase.is_end() && !is_done;
    [("Ready", is_done), ("Reconciling", !status.phase.is_end()), ("Stalled", is_stalled)]
        .map(|(kind, is_true)| {
            let value = if is_true { "True" } else { "False" };
            let before = status.conditions.iter().find(|one| one.type_ == kind && one.status == value);
            Condition {
                type_: kind.to_owned(),
                status: value.to_owned(),
                reason: status.phase.to_string(),
                message: message.clone(),
                observed_generation: Some(status.observed_generation),
                last_transition_time: before.map_or(Time(now), |before| before.last_transition_time.clone()),
            }
        })
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_is_one_of_three() {
        let shown = Phase::ALL.map(|phase| {
            let status = NodeUpgradeStatus { phase, ..NodeUpgradeStatus::default() };
            let all = conditions(&status, Timestamp::UNIX_EPOCH);
            let held: Vec<_> = all.iter().filter(|one| one.status == "True").map(|one| one.type_.as_str()).collect();
            format!("{phase:12} {}", held.join(" "))
        });
        insta::assert_snapshot!(shown.join("\n"), @r"
        Pending      Reconciling
        Cordoned     Reconciling
        Preflight    Reconciling
        Draining     Reconciling
        Armed        Reconciling
        Applying     Reconciling
        Rebooting    Reconciling
        Gating       Reconciling
        Restoring    Reconciling
        RollingBack  Reconciling
        Done         Ready
        Refused      Stalled
        RolledBack   Stalled
        Stuck        Stalled
        ");
    }

    #[test]
    fn what_did_not_change_keeps_its_time() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut status = NodeUpgradeStatus::default();
        status.conditions = conditions(&status, at(1));
        status.phase = Phase::Draining;
        assert!(conditions(&status, at(2)).iter().all(|one| one.last_transition_time == Time(at(1))));
        status.phase = Phase::Done;
        let times = conditions(&status, at(3)).iter().map(|one| one.last_transition_time.0).collect::<Vec<_>>();
        assert_eq!(times, [at(3), at(3), at(1)], "Stalled was false before");
    }
}
