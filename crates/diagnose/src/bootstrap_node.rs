//! What is different on a bootstrap node. Its control plane stands on the kubelet, not beside it, and what it has given up to the
//! masters is not broken. Pure.

use playbooks::cluster::Tenure;

use crate::Part;

/// What still means something once the masters take over.
const AFTER_HAND_OVER: &[&str] =
    &["ignition", "storage", "clock", "memory", "address", "bootstrap", "second-bootstrap", "hand-over"];

const WORKLOADS: &str = "workloads";

/// Whether a check is meant for a bootstrap node at this time; any is for other machines.
pub(crate) fn is_meant(check: &str, tenure: Option<Tenure>) -> bool {
    match tenure {
        None => true,
        // Its pods wait for masters, as it does.
        Some(Tenure::Holds) => check != WORKLOADS,
        Some(Tenure::HandsOver) => AFTER_HAND_OVER.contains(&check),
        Some(Tenure::Retired) => false,
    }
}

/// The part of a bootstrap node that something is about.
pub(crate) fn part(part: Part) -> Part {
    match part {
        Part::Containerd | Part::Kubelet => Part::StaticPods,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn what_was_given_up_is_not_looked_for() {
        for (check, tenure, expected) in [
            ("etcd", None, true),
            ("etcd", Some(Tenure::Holds), true),
            (WORKLOADS, None, true),
            (WORKLOADS, Some(Tenure::Holds), false),
            ("etcd", Some(Tenure::HandsOver), false),
            ("hand-over", Some(Tenure::HandsOver), true),
            ("hand-over", Some(Tenure::Retired), false),
        ] {
            assert_eq!(is_meant(check, tenure), expected, "{check} {tenure:?}");
        }
        let is_known = |name: &&&str| registry().iter().any(|check| check.name == **name);
        assert_eq!(AFTER_HAND_OVER.iter().filter(is_known).count(), AFTER_HAND_OVER.len());
        assert!(is_known(&&WORKLOADS));
    }

    #[test]
    fn etcd_stands_on_the_kubelet() {
        assert!(Part::Etcd.needs_somehow(part(Part::Kubelet)) && Part::Etcd.needs_somehow(part(Part::Containerd)));
        assert!(part(Part::Node).needs_somehow(part(Part::Kubelet)));
    }
}
