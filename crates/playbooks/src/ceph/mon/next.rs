//! What a monitor without data does; pure.

use ::ceph::Handed;

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// It makes the first map, as all initial monitors do.
    Bootstrap,
    /// It takes the map of those that are there.
    Join,
    /// It can do neither now.
    Wait(String),
}

/// A monitor bootstraps Ceph only while it is not initialized, and only if it was an initial monitor when the cluster's identity was made.
/// From then on there is no way back to that: an answer of the others is waited for, for as long as it takes.
pub(super) fn next(node: &str, handed: &Handed, quorum_answers: bool) -> Next {
    let is_initial = handed.initial_monitors.iter().any(|monitor| monitor.name == node);
    if !handed.is_initialized && is_initial {
        return Next::Bootstrap;
    }
    if quorum_answers {
        return Next::Join;
    }
    let others: Vec<&str> =
        handed.initial_monitors.iter().map(|monitor| monitor.name.as_str()).filter(|name| *name != node).collect();
    let whom = if others.is_empty() { "the monitors".to_owned() } else { others.join(", ") };
    Next::Wait(format!("a majority of Ceph's monitors ({whom}) to answer: it has their map, and this one has no data"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(is_initialized: bool) -> Handed {
        let text = serde_json::json!({
            "fsid": "6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10",
            "initial_monitors": [{"name": "m1", "ip": "10.0.0.1"}, {"name": "m2", "ip": "10.0.0.2"}],
            "is_initialized": is_initialized,
            "keys": {},
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn only_a_initial_monitor_bootstraps_and_only_once() {
        let wait = |text: &str| Next::Wait(text.to_owned());
        for (node, is_initialized, answers, expected) in [
            ("m1", false, false, Next::Bootstrap),
            ("m1", false, true, Next::Bootstrap),
            ("m1", true, true, Next::Join),
            (
                "m1",
                true,
                false,
                wait("a majority of Ceph's monitors (m2) to answer: it has their map, and this one has no data"),
            ),
            ("m3", false, true, Next::Join),
            (
                "m3",
                false,
                false,
                wait("a majority of Ceph's monitors (m1, m2) to answer: it has their map, and this one has no data"),
            ),
            ("m3", true, true, Next::Join),
        ] {
            assert_eq!(next(node, &handed(is_initialized), answers), expected, "{node} {is_initialized} {answers}");
        }
    }
}
