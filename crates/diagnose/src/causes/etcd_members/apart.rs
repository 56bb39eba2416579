//! Whether the masters that answer are one cluster of etcd. Pure.
//!
//! A cluster has a number, and two numbers are two clusters. A member that was made to start alone, by hand or with an old
//! copy of its data, may keep the number: then it has a leader and a list of members of its own, in which the others are not.

use std::collections::BTreeSet;

use etcd::survey::{Heard, Reported};

use crate::{Finding, Part, codes::ETCD_APART};

/// The masters on either side of the divide.
pub(super) struct Sides<'a> {
    /// In the cluster of this master, or, where it does not answer, of the first that does.
    pub(super) ours: Vec<(&'a str, &'a Reported)>,
    /// In another one.
    pub(super) theirs: Vec<(&'a str, &'a Reported)>,
}

impl<'a> Sides<'a> {
    pub(super) fn of(own: &str, heard: &'a [Heard]) -> Self {
        let reported = || heard.iter().filter_map(|one| Some((one.name.as_str(), one.reported.as_ref().ok()?)));
        let speaks = |(_, reported): &(&str, &Reported)| reported.agreed.is_some();
        let first =
            reported().find(|(name, _)| *name == own).or_else(|| reported().find(speaks)).or_else(|| reported().next());
        let Some((_, first)) = first else { return Self { ours: Vec::new(), theirs: Vec::new() } };
        let (theirs, ours) = reported().partition(|(_, other)| are_apart(first, other));
        Self { ours, theirs }
    }

    /// Whether this master answers and is not with most of those that do: then the cluster is rather over there.
    pub(super) fn is_own_astray(&self, own: &str) -> bool {
        let is_own = |(name, _): &(&str, &Reported)| *name == own;
        !self.theirs.is_empty() && self.ours.len() <= self.theirs.len() && self.ours.iter().any(is_own)
    }

    /// Whether a master is on the other side.
    pub(super) fn is_theirs(&self, name: &str) -> bool {
        self.theirs.iter().any(|(other, _)| *other == name)
    }

    /// What there is to report. A master that is with most goes on as before.
    pub(super) fn finding(&self, own: &str) -> Option<Finding> {
        if self.theirs.is_empty() {
            return None;
        }
        let evidence =
            format!("masters are in different clusters of etcd: {}; {}", side(&self.ours), side(&self.theirs));
        let reported = if self.is_own_astray(own) { Finding::cause } else { Finding::warning };
        Some(reported(ETCD_APART, Part::Etcd, evidence))
    }
}

fn are_apart(one: &Reported, other: &Reported) -> bool {
    if one.status.cluster_id() != other.status.cluster_id() {
        return true;
    }
    let knows = |one: &Reported, other: &Reported| {
        let id = other.status.member_id();
        one.agreed.as_ref().is_none_or(|members| members.iter().any(|member| member.id == id))
    };
    // While members come and go, lists differ for a moment; the leader is the same one.
    let both_speak = one.agreed.is_some() && other.agreed.is_some();
    both_speak && one.status.leader != other.status.leader && !(knows(one, other) && knows(other, one))
}

/// `master-01, master-02 in 3f1a (members: master-01, master-02, master-03)`.
fn side(masters: &[(&str, &Reported)]) -> String {
    let names: Vec<&str> = masters.iter().map(|(name, _)| *name).collect();
    let ids: BTreeSet<String> =
        masters.iter().map(|(_, reported)| format!("{:x}", reported.status.cluster_id())).collect();
    let members: BTreeSet<&str> =
        masters.iter().flat_map(|(_, reported)| &reported.known).map(|member| member.name.as_str()).collect();
    let join = |texts: Vec<&str>| texts.join(", ");
    format!(
        "{} in {} (members: {})",
        join(names),
        join(ids.iter().map(String::as_str).collect()),
        join(members.into_iter().collect())
    )
}
