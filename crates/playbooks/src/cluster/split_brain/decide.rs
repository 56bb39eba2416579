//! Whether this master starts a cluster or joins one. Pure.
//!
//! | this master | the others | it |
//! |---|---|---|
//! | any | one has data, or has decided what to start with | joins |
//! | the first | all say that they know of no cluster | bootstraps, together with them |
//! | the first | most of all masters, itself counted, know of none, the rest is silent for a minute | bootstraps alone |
//! | any | anything else | waits |
//! | the temporary bootstrap node | one has data, or has decided | refuses: a second cluster must not be made |
//! | the temporary bootstrap node | one answers what cannot be believed | waits |
//! | the temporary bootstrap node | anything else | bootstraps alone; masters are switched on later |
//!
//! Silence is not a no: a cluster may be running that is unreachable from here. Of the masters that a cluster was bootstrapped with,
//! most must agree on every write; so where most masters know of none, none that works can be among the silent ones.

use jiff::{SignedDuration, Timestamp};

/// How long masters may be silent before the first one starts without them.
pub(super) const DEADLINE: SignedDuration = SignedDuration::from_secs(60);

/// What another master reported of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It knows of no cluster.
    Apart,
    /// It is part of one, or has decided to be.
    Part {
        /// It can hand out the cluster's keys.
        admits: bool,
    },
    /// Nothing.
    Silent {
        /// Since when this node knows.
        since: Timestamp,
        /// The error of the system.
        why: String,
    },
    /// Something that cannot be believed.
    Untrusted(String),
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cluster) enum Decision {
    /// This master starts the cluster, with these others.
    Bootstrap(Vec<String>),
    /// There is a cluster, or one is about to be.
    Join,
    /// It cannot be decided yet.
    Wait(String),
}

/// Decides. `first` is the name of the first master, `None` if this is it.
pub(super) fn decide(first: Option<&str>, others: &[(String, Answer)], now: Timestamp) -> Decision {
    if others.iter().any(|(_, answer)| matches!(answer, Answer::Part { admits: true })) {
        return Decision::Join;
    }
    if let Some((name, _)) = others.iter().find(|(_, answer)| matches!(answer, Answer::Part { .. })) {
        return Decision::Wait(format!("{name} to have the cluster's keys, so that it can let this master in"));
    }
    let reported = || others.iter().map(|(name, answer)| emit(name, answer)).collect::<Vec<_>>().join("; ");
    if let Some(first) = first {
        return Decision::Wait(format!(
            "{first} to start the cluster, or another master to be part of it ({})",
            reported()
        ));
    }
    let apart = |answer: &Answer| *answer == Answer::Apart;
    if others.iter().all(|(_, answer)| apart(answer)) {
        return Decision::Bootstrap(others.iter().map(|(name, _)| name.clone()).collect());
    }
    let (all, apart_and_self) = (others.len() + 1, others.iter().filter(|(_, answer)| apart(answer)).count() + 1);
    let rest = || others.iter().filter(|(_, answer)| !apart(answer));
    let is_long = |since: Timestamp| now.duration_since(since) >= DEADLINE;
    if apart_and_self <= all / 2 {
        return Decision::Wait(format!(
            "most of the {all} masters to report that there is no cluster yet ({}); if there is none, \
             `systemctl stop cluster-bootstrap` and then `blackstart node up --force-new-cluster` starts one",
            reported()
        ));
    }
    if rest().all(|(_, answer)| matches!(answer, Answer::Silent { since, .. } if is_long(*since))) {
        return Decision::Bootstrap(Vec::new());
    }
    let seconds = DEADLINE.as_secs();
    Decision::Wait(format!("the other masters, to bootstrap etcd with them, for {seconds} s at most ({})", reported()))
}

/// Decides for the temporary bootstrap node. Masters are switched on after it, so silence is usual. Those that have a cluster it handed
/// over before are noticed when they come (`pivot/masters`), and their etcd takes this one's for a stranger.
pub(super) fn decide_temporary(masters: &[(String, Answer)]) -> Result<Decision, String> {
    if let Some((name, _)) = masters.iter().find(|(_, answer)| matches!(answer, Answer::Part { .. })) {
        return Err(format!("{name} is part of a cluster already"));
    }
    let untrusted = masters.iter().find(|(_, answer)| matches!(answer, Answer::Untrusted(_)));
    Ok(match untrusted {
        Some((name, answer)) => Decision::Wait(format!("an answer from a trusted master: {}", emit(name, answer))),
        None => Decision::Bootstrap(Vec::new()),
    })
}

fn emit(name: &str, answer: &Answer) -> String {
    match answer {
        Answer::Apart => format!("{name} knows of none"),
        Answer::Part { .. } => format!("{name} is part of one"),
        Answer::Silent { since, why } => format!("{name} is silent since {since:.0}: {why}"),
        Answer::Untrusted(why) => format!("{name} is not trusted: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-16T08:00:00Z";

    /// One letter per other master: a apart, p part, P part and admits, s silent for 30 s, S silent for two minutes, d untrusted.
    fn reported(first: Option<&str>, others: &str) -> String {
        let now: Timestamp = NOW.parse().unwrap();
        let silent =
            |seconds| Answer::Silent { since: now - SignedDuration::from_secs(seconds), why: "refused".into() };
        let answer = |letter| match letter {
            'a' => Answer::Apart,
            'p' => Answer::Part { admits: false },
            'P' => Answer::Part { admits: true },
            's' => silent(30),
            'S' => silent(120),
            _ => Answer::Untrusted("another CA".into()),
        };
        let named = (2..).zip(others.chars()).map(|(number, letter)| (format!("m{number}"), answer(letter)));
        match decide(first, &named.collect::<Vec<_>>(), now) {
            Decision::Bootstrap(with) if with.is_empty() => "bootstrap alone".into(),
            Decision::Bootstrap(with) => format!("bootstrap with {}", with.join(" and ")),
            Decision::Join => "join".into(),
            Decision::Wait(what) => format!("wait for {what}"),
        }
    }

    #[test]
    fn a_bootstrap_node_starts_alone_or_not_at_all() {
        let now: Timestamp = NOW.parse().unwrap();
        let silent = Answer::Silent { since: now, why: "refused".into() };
        let masters = |second: Answer| [("m1".to_owned(), silent.clone()), ("m2".to_owned(), second)];
        let (starts, exists) = (Ok(Decision::Bootstrap(Vec::new())), Err("m2 is part of a cluster already".to_owned()));
        let untrusted = "an answer from a trusted master: m2 is not trusted: another CA".to_owned();
        for (second, expected) in [
            (silent.clone(), starts.clone()),
            (Answer::Apart, starts),
            (Answer::Part { admits: false }, exists.clone()),
            (Answer::Part { admits: true }, exists),
            (Answer::Untrusted("another CA".into()), Ok(Decision::Wait(untrusted))),
        ] {
            assert_eq!(decide_temporary(&masters(second.clone())), expected, "{second:?}");
        }
    }

    #[test]
    fn a_cluster_is_started_once() {
        let of_first = ["", "aa", "aP", "SP", "ap", "as", "aS", "SS", "ad", "a", "S", "aaaa", "aaSS", "aSSS", "aaSs"];
        let of_others = ["aa", "Pa", "SS", "pS", "SP"];
        let lines = of_first.map(|others| format!("first {others:5} {}", reported(None, others)));
        let more = of_others.map(|others| format!("other {others:5} {}", reported(Some("m2"), others)));
        insta::assert_snapshot!(lines.into_iter().chain(more).collect::<Vec<_>>().join("\n"));
    }
}
