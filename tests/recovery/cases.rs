//! Which instants there are, from the events of an undisturbed run: a new step is covered without being named here.

use std::fmt;

use serde_json::Value;

/// How a run is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The process is killed; systemd starts it again.
    Kill,
    /// The power of the machine is cut; it boots again.
    PowerLoss,
}

/// When in a step, by the words of `crates/fault`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) step: String,
    pub(crate) when: String,
}

/// One instant and one way to end it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) instant: Instant,
    pub(crate) ending: Ending,
}

impl Case {
    /// What the program is given.
    pub(crate) fn variable(&self) -> String {
        let Instant { step, when } = &self.instant;
        let ending = match self.ending {
            Ending::Kill => "kill",
            Ending::PowerLoss => "halt",
        };
        format!("{step}:{when}:{ending}")
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self.ending {
            Ending::Kill => "SIGKILL",
            Ending::PowerLoss => "power loss",
        };
        write!(f, "{} {}, {ending}", self.instant.step, self.instant.when)
    }
}

/// Before, during and after every step of the events. A step with many changes is met within one and
/// between two in their middle, and before the last; one that only waits is met while it waits.
pub(crate) fn instants(events: &[Value]) -> Vec<Instant> {
    let mut steps: Vec<&str> = Vec::new();
    for event in events {
        if let Some(step) = event["step"].as_str()
            && !steps.contains(&step)
        {
            steps.push(step);
        }
    }
    let of = |step: &str, state: &str| events.iter().filter(|e| e["step"] == step && e["state"] == state).count();
    let mut all = Vec::new();
    for step in steps {
        let changes = of(step, "applying");
        let mut add = |when: String| all.push(Instant { step: step.to_owned(), when });
        match changes {
            0 => add("started".into()),
            1 => {
                add("before-1".into());
                add("within-1".into());
            }
            many => {
                add("before-1".into());
                add(format!("within-{}", many / 2));
                add(format!("before-{}", many / 2 + 1));
                if many > many / 2 + 1 {
                    add(format!("before-{many}"));
                }
            }
        }
        if of(step, "waiting") > 0 {
            add("waiting".into());
        }
        add("ended".into());
    }
    all
}

/// Every instant with every ending.
pub(crate) fn all(instants: &[Instant]) -> Vec<Case> {
    let with = |ending| instants.iter().cloned().map(move |instant| Case { instant, ending });
    with(Ending::Kill).chain(with(Ending::PowerLoss)).collect()
}

/// `count` of the cases, spread over them and others for every seed.
pub(crate) fn sample(cases: &[Case], count: usize, seed: u64) -> Vec<Case> {
    if cases.len() <= count {
        return cases.to_vec();
    }
    let stride = cases.len() / count;
    let offset = usize::try_from(seed % stride as u64).unwrap_or_default();
    cases.iter().skip(offset).step_by(stride).take(count).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    fn events(reported: &[(&str, &str)]) -> Vec<Value> {
        reported.iter().map(|(step, state)| json!({"step": step, "state": state})).collect()
    }

    #[test]
    fn every_step_is_met_before_during_and_after() {
        let events = events(&[
            ("looks", "started"),
            ("etcd", "started"),
            ("etcd", "applying"),
            ("looks", "unchanged"),
            ("etcd", "waiting"),
            ("etcd", "verified"),
            ("pki", "started"),
            ("pki", "applying"),
            ("pki", "applying"),
            ("pki", "applying"),
            ("pki", "applying"),
            ("pki", "verified"),
        ]);
        let words: Vec<String> = instants(&events).iter().map(|i| format!("{} {}", i.step, i.when)).collect();
        assert_eq!(
            words.join(", "),
            "looks started, looks ended, etcd before-1, etcd within-1, etcd waiting, etcd ended, \
             pki before-1, pki within-2, pki before-3, pki before-4, pki ended"
        );
    }

    #[test]
    fn samples_of_all_seeds_together_are_everything() {
        let reported: Vec<(String, &str)> = (0..25).map(|number| (format!("step-{number}"), "started")).collect();
        let reported: Vec<(&str, &str)> = reported.iter().map(|(step, state)| (step.as_str(), *state)).collect();
        let cases = all(&instants(&events(&reported)));
        let mut met = BTreeSet::new();
        for seed in 0..40 {
            let chosen = sample(&cases, 4, seed);
            assert_eq!(chosen.len(), 4);
            met.extend(chosen.iter().map(Case::variable));
        }
        assert_eq!(met.len(), cases.len());
    }
}
