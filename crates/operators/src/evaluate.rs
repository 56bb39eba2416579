//! From what was seen to how each operator is. Pure.

use crate::seen::{Api, Leader, Node, Seen};

/// The operators there are, in the order of [`evaluate`].
pub const NAMES: [&str; 7] =
    ["dns", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "network", "nodes"];

/// How one operator is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// Its name.
    pub name: &'static str,
    /// How it is.
    pub health: Health,
}

/// How something is, and a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// Only the bootstrap node does it, or not all masters do it yet.
    Waiting(String),
    /// It works and changes: the masters take over, or versions differ.
    Progressing(String),
    /// As it should be.
    Fine(String),
    /// It works, with less than it should have.
    Degraded(String),
    /// It does not work.
    Down(String),
}

impl Health {
    /// Whether it does its work, on the masters.
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Fine(_) | Self::Progressing(_) | Self::Degraded(_))
    }

    /// Whether something is missing.
    pub fn is_degraded(&self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Degraded(_) | Self::Down(_))
    }

    /// Whether it is on its way to something else.
    pub fn is_progressing(&self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Progressing(_))
    }

    /// The reason, as conditions have it.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Waiting(_) => "WaitingForMasters",
            Self::Progressing(_) => "Progressing",
            Self::Fine(_) => "AsExpected",
            Self::Degraded(_) => "Degraded",
            Self::Down(_) => "NotAvailable",
        }
    }

    /// The message.
    pub fn message(&self) -> &str {
        let (Self::Waiting(message)
        | Self::Progressing(message)
        | Self::Fine(message)
        | Self::Degraded(message)
        | Self::Down(message)) = self;
        message
    }
}

/// How all operators are.
pub fn evaluate(seen: &Seen) -> Vec<Operator> {
    let health = [
        dns(seen),
        of_masters(seen, etcd_lacks, majority),
        api_server(seen),
        leader(seen, &seen.controller_manager),
        leader(seen, &seen.scheduler),
        of_nodes(seen, |node| node.no_network.clone(), "have a network"),
        nodes(seen),
    ];
    NAMES.into_iter().zip(health).map(|(name, health)| Operator { name, health }).collect()
}

fn masters(seen: &Seen) -> impl Iterator<Item = &Node> {
    seen.nodes.iter().filter(|node| node.api.is_some())
}

/// How many masters there are to be. What cluster.yaml has now is not seen from here; once the bootstrap is complete it is
/// those that have joined and were not removed.
fn expected(seen: &Seen) -> usize {
    let joined = masters(seen).count();
    if seen.is_complete { joined } else { joined.max(seen.masters) }
}

fn majority(of: usize) -> usize {
    of / 2 + 1
}

/// What every master does, where so many of them are enough.
fn of_masters(seen: &Seen, lacks: fn(&Node) -> Option<String>, enough: fn(usize) -> usize) -> Health {
    let of = expected(seen);
    let lacking: Vec<String> =
        masters(seen).filter_map(|node| lacks(node).map(|what| format!("{}: {what}", node.name))).collect();
    let fine = masters(seen).count() - lacking.len();
    let message = listed(&format!("{fine} of {of} masters"), &lacking);
    match (seen.is_complete, fine == of && of > 0) {
        (false, false) => Health::Waiting(listed(&format!("waiting for masters: {fine} of {of}"), &lacking)),
        (false, true) => Health::Progressing(format!("{message}; the bootstrap node hands over")),
        (true, true) => Health::Fine(message),
        (true, false) if fine >= enough(of) => Health::Degraded(message),
        (true, false) => Health::Down(message),
    }
}

fn api_lacks(node: &Node) -> Option<String> {
    match node.api.as_ref()? {
        Api::Ready => None,
        Api::NotReady(checks) if checks.is_empty() => Some("not ready".to_owned()),
        Api::NotReady(checks) => Some(format!("not ready ({})", checks.join(", "))),
        Api::Silent => Some("does not answer".to_owned()),
    }
}

/// A master's API server uses the member beside it and says how that is. One that is silent says nothing of it.
fn etcd_lacks(node: &Node) -> Option<String> {
    match node.api.as_ref()? {
        Api::NotReady(checks) if checks.iter().any(|check| check.starts_with("etcd")) => {
            Some("does not answer".to_owned())
        }
        Api::Ready | Api::NotReady(_) => None,
        Api::Silent => Some("not seen, its API server does not answer".to_owned()),
    }
}

fn api_server(seen: &Seen) -> Health {
    match of_masters(seen, api_lacks, |_| 1) {
        Health::Fine(message) if !seen.strangers.is_empty() => {
            Health::Degraded(format!("{message}; Service kubernetes leads to {}, no master", seen.strangers.join(", ")))
        }
        health => health,
    }
}

fn leader(seen: &Seen, leader: &Leader) -> Health {
    match leader {
        Leader::Leads(name) if masters(seen).any(|node| node.name == *name) => Health::Fine(format!("{name} leads")),
        Leader::Leads(name) if seen.is_complete => Health::Degraded(format!("{name} leads, which is not a master")),
        Leader::Leads(name) => Health::Waiting(format!("waiting for masters: {name} leads")),
        Leader::None | Leader::Lost(_) if !seen.is_complete => Health::Waiting("waiting for masters".to_owned()),
        Leader::None => Health::Down("no leader".to_owned()),
        Leader::Lost(name) => Health::Down(format!("no leader; the last one was {name}")),
    }
}

/// What every node has.
fn of_nodes(seen: &Seen, lacks: fn(&Node) -> Option<String>, do_what: &str) -> Health {
    let of = seen.nodes.len();
    let lacking: Vec<String> =
        seen.nodes.iter().filter_map(|node| lacks(node).map(|what| format!("{}: {what}", node.name))).collect();
    let fine = of - lacking.len();
    let message = listed(&format!("{fine} of {of} nodes {do_what}"), &lacking);
    if of == 0 {
        return Health::Waiting("waiting for masters".to_owned());
    }
    if masters(seen).count() < expected(seen) {
        return Health::Waiting(format!("waiting for masters: {message}"));
    }
    match fine {
        fine if fine == of => Health::Fine(message),
        0 => Health::Down(message),
        _ => Health::Degraded(message),
    }
}

fn nodes(seen: &Seen) -> Health {
    let health = of_nodes(seen, |node| node.not_ready.clone(), "are Ready");
    let other = seen.nodes.iter().filter(|node| node.version != seen.version);
    let other: Vec<String> = other.map(|node| format!("{} has {}", node.name, node.version)).collect();
    match health {
        Health::Fine(message) if !other.is_empty() => Health::Progressing(listed(&message, &other)),
        health => health,
    }
}

fn dns(seen: &Seen) -> Health {
    match seen.dns {
        Some(pods) if pods.ready >= pods.wanted => Health::Fine(format!("{} of {} pods", pods.ready, pods.wanted)),
        Some(pods) if pods.ready > 0 => Health::Degraded(format!("{} of {} pods", pods.ready, pods.wanted)),
        _ if !seen.is_complete => Health::Waiting("waiting for masters".to_owned()),
        Some(pods) => Health::Down(format!("0 of {} pods", pods.wanted)),
        None => Health::Down("not deployed".to_owned()),
    }
}

/// A sentence, and what more there is to it; of many the first few.
fn listed(sentence: &str, more: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = more.iter().take(SHOWN).map(|one| format!("; {one}")).collect::<String>();
    let rest = more.len().saturating_sub(SHOWN);
    if rest > 0 { format!("{sentence}{shown}; and {rest} more") } else { format!("{sentence}{shown}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::Replicas;

    fn node(name: &str, api: Option<Api>) -> Node {
        Node { name: name.into(), api, not_ready: None, no_network: None, version: "1.36.3".into() }
    }

    /// Three masters and a worker that are as they should be.
    fn whole() -> Seen {
        let mut nodes: Vec<Node> = ["m1", "m2", "m3"].map(|name| node(name, Some(Api::Ready))).into();
        nodes.push(node("w1", None));
        Seen {
            version: "1.36.3".into(),
            is_complete: true,
            nodes,
            controller_manager: Leader::Leads("m2".into()),
            scheduler: Leader::Leads("m1".into()),
            dns: Some(Replicas { ready: 2, wanted: 2 }),
            ..Seen::nothing(3)
        }
    }

    fn with(change: impl Fn(&mut Seen)) -> Seen {
        let mut seen = whole();
        change(&mut seen);
        seen
    }

    fn shown(seen: &Seen) -> String {
        let flag = |is: bool, letter: char| if is { letter } else { '-' };
        let line = |Operator { name, health }: &Operator| {
            let (a, p, d) = (health.is_available(), health.is_progressing(), health.is_degraded());
            let flags: String = [flag(a, 'A'), flag(p, 'P'), flag(d, 'D')].into_iter().collect();
            format!("{flags} {name:24}{}", health.message())
        };
        evaluate(seen).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn from_a_bootstrap_node_alone_to_masters_alone() {
        insta::assert_snapshot!("1-nothing", shown(&Seen::nothing(3)));
        insta::assert_snapshot!(
            "2-one-master",
            shown(&with(|seen| {
                seen.is_complete = false;
                seen.nodes.drain(1..3);
                seen.controller_manager = Leader::Leads("bootstrap".into());
                seen.scheduler = Leader::Leads("bootstrap".into());
                seen.dns = Some(Replicas { ready: 0, wanted: 2 });
            }))
        );
        insta::assert_snapshot!(
            "3-hand-over",
            shown(&with(|seen| {
                seen.is_complete = false;
                seen.controller_manager = Leader::Leads("bootstrap".into());
            }))
        );
        insta::assert_snapshot!("4-whole", shown(&whole()));
    }

    /// An operator, what happened, the reason and the message that follow.
    type Case = (&'static str, fn(&mut Seen), &'static str, &'static str);

    #[test]
    fn what_fails_is_named_where_it_fails() {
        insta::assert_snapshot!(
            "a-master-that-is-off",
            shown(&with(|seen| {
                seen.nodes[1].api = Some(Api::Silent);
                seen.nodes[1].not_ready = Some("Kubelet stopped posting node status.".into());
                seen.controller_manager = Leader::Lost("m2".into());
                seen.dns = Some(Replicas { ready: 1, wanted: 2 });
            }))
        );
        let cases: [Case; 12] = [
            (
                "etcd",
                |seen| seen.nodes[0].api = Some(Api::NotReady(vec!["etcd".into(), "etcd-readiness".into()])),
                "Degraded",
                "2 of 3 masters; m1: does not answer",
            ),
            (
                "kube-apiserver",
                |seen| seen.nodes[0].api = Some(Api::NotReady(vec!["etcd".into()])),
                "Degraded",
                "2 of 3 masters; m1: not ready (etcd)",
            ),
            (
                "etcd",
                |seen| seen.nodes[0].api = Some(Api::NotReady(vec!["poststarthook/x".into()])),
                "AsExpected",
                "3 of 3 masters",
            ),
            (
                "etcd",
                |seen| seen.nodes[..2].iter_mut().for_each(|node| node.api = Some(Api::NotReady(vec!["etcd".into()]))),
                "NotAvailable",
                "1 of 3 masters; m1: does not answer; m2: does not answer",
            ),
            (
                "kube-apiserver",
                |seen| seen.nodes[..2].iter_mut().for_each(|node| node.api = Some(Api::Silent)),
                "Degraded",
                "1 of 3 masters; m1: does not answer; m2: does not answer",
            ),
            (
                "kube-apiserver",
                |seen| seen.strangers = vec!["10.0.0.9".into()],
                "Degraded",
                "3 of 3 masters; Service kubernetes leads to 10.0.0.9, no master",
            ),
            ("kube-scheduler", |seen| seen.scheduler = Leader::None, "NotAvailable", "no leader"),
            (
                "kube-scheduler",
                |seen| seen.scheduler = Leader::Leads("w9".into()),
                "Degraded",
                "w9 leads, which is not a master",
            ),
            (
                "network",
                |seen| seen.nodes[3].no_network = Some("no part of the pod network".into()),
                "Degraded",
                "3 of 4 nodes have a network; w1: no part of the pod network",
            ),
            (
                "nodes",
                |seen| seen.nodes[3].version = "1.35.1".into(),
                "Progressing",
                "4 of 4 nodes are Ready; w1 has 1.35.1",
            ),
            (
                "nodes",
                |seen| {
                    seen.nodes.remove(2);
                },
                "AsExpected",
                "3 of 3 nodes are Ready",
            ),
            ("dns", |seen| seen.dns = None, "NotAvailable", "not deployed"),
        ];
        for (name, change, reason, message) in cases {
            let all = evaluate(&with(change));
            let health = &all.iter().find(|operator| operator.name == name).unwrap().health;
            assert_eq!((health.reason(), health.message()), (reason, message), "{name}");
        }
    }

    #[test]
    fn of_many_the_first_are_named() {
        let many: Vec<String> = (1..=5).map(|number| format!("w{number}")).collect();
        assert_eq!(listed("0 of 5", &many), "0 of 5; w1; w2; w3; and 2 more");
    }
}
