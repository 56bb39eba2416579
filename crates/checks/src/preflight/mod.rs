//! What must be true of a machine before anything is changed on it. One file per check.
//!
//! A problem stops the bootstrap; advice, and what could not be checked, stops nothing. To add a check: a file here with a
//! `CHECK`, its line in [`registry`], a code in `codes.rs` if it can find a problem. Command, step, `--skip` and the list
//! follow from the registry.

mod cgroup;
mod clock;
mod components;
mod disk_latency;
mod disk_space;
mod kernel;
mod machine_id;
mod names;
mod other_cluster;
mod ports;
mod programs;
mod root;
mod show;
mod swap;

use std::{ops::Deref, time::Duration};

use explain::{Code, Explain, did_you_mean};

pub use self::show::{Line, lines, list, show};
use crate::{End, Finding, Outcome, Part, Subject, When, codes};

/// A check of a preflight.
pub type Check = crate::Check<Context>;

/// All checks, in the order in which people read them.
pub fn registry() -> &'static [Check] {
    &[
        root::CHECK,
        programs::CHECK,
        clock::CHECK,
        machine_id::CHECK,
        names::CHECK,
        components::CHECK,
        kernel::CHECK,
        cgroup::CHECK,
        swap::CHECK,
        ports::CHECK,
        disk_space::CHECK,
        disk_latency::CHECK,
        other_cluster::CHECK,
    ]
}

/// Everything these checks may look at.
pub struct Context {
    /// The machine and the node it is to be.
    pub subject: Subject,
    /// How far the machine is.
    pub stage: Stage,
}

impl Deref for Context {
    type Target = Subject;

    fn deref(&self) -> &Subject {
        &self.subject
    }
}

/// How far a machine is on its way into the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It has never passed the checks.
    Untouched,
    /// It passed them and what follows has begun: what is found may be our own work.
    Begun,
}

/// A check that takes longer reports nothing worth waiting for.
const LIMIT: Duration = Duration::from_secs(10);

/// A name after `--skip` that no check has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no check `{name}`; the checks are {known}", known = names().collect::<Vec<_>>().join(", "))]
pub struct UnknownCheck {
    /// The name as it was given.
    pub name: String,
}

fn names() -> impl Iterator<Item = &'static str> {
    registry().iter().map(|check| check.name)
}

impl Explain for UnknownCheck {
    fn code(&self) -> Code {
        codes::UNKNOWN_CHECK
    }

    fn hint(&self) -> Option<String> {
        did_you_mean(&self.name, names()).map(|name| format!("did you mean `{name}`?"))
    }
}

/// Runs the checks that are meant for this node, except those named in `skip`.
pub async fn run(checks: &[Check], skip: &[String], context: &Context) -> Result<Vec<Outcome>, UnknownCheck> {
    if let Some(name) = skip.iter().find(|name| !names().any(|known| known == *name)) {
        return Err(UnknownCheck { name: name.clone() });
    }
    let instead = |check: &Check| {
        if skip.iter().any(|name| name == check.name) {
            Some(End::Skipped("as asked".to_owned()))
        } else if check.when == When::FirstTime && context.stage == Stage::Begun {
            Some(End::Skipped("passed before the node was set up".to_owned()))
        } else if !context.host.is_live {
            Some(End::Inconclusive("the machine is not running".to_owned()))
        } else {
            None
        }
    };
    Ok(crate::run(checks, context, LIMIT, instead).await)
}

/// What keeps the machine from becoming a node, with the advice of its code.
fn problem(code: Code, evidence: impl Into<String>) -> Vec<Finding> {
    vec![Finding::cause(code, Part::Machine, evidence)]
}

/// What is good to know.
fn advice(evidence: impl Into<String>, fix: impl Into<String>) -> Vec<Finding> {
    vec![Finding::advice(Part::Machine, evidence, fix)]
}

/// What a person would read of these ends.
#[cfg(test)]
fn reported(ends: impl IntoIterator<Item = impl Into<End>>) -> String {
    show(&ends.into_iter().map(|end| Outcome { check: "case", end: end.into() }).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use host::Host;
    use spec::ValidatedCluster;

    use super::*;
    use crate::{Checking, Inconclusive, NoPeers, Roles};

    const CLUSTER: &str = "cluster: { name: home }\n\
        nodes: [{ name: m, ip: 192.168.1.10, roles: [master] }, { name: w, ip: 192.168.1.11, roles: [worker] }]";

    async fn shown(checks: &[Check], skip: &[&str], node: &str, stage: Stage, host: &Host) -> String {
        let cluster: ValidatedCluster = spec::check_text(CLUSTER).cluster.unwrap();
        let subject = Subject {
            host: host.clone(),
            node: cluster.node(node).unwrap().clone(),
            cluster,
            layout: nodekit::Layout::default(),
            machine_ids: Arc::new(NoPeers),
        };
        let context = Context { subject, stage };
        let skip: Vec<String> = skip.iter().map(|name| (*name).to_owned()).collect();
        match run(checks, &skip, &context).await {
            Ok(outcomes) => show(&outcomes),
            Err(error) => format!("{}: {error}\nhint: {}\n", error.code(), error.advice()),
        }
    }

    fn check(name: &'static str, run: for<'a> fn(&'a Context) -> Checking<'a>) -> Check {
        Check::new(name, "", &[], run)
    }

    #[test]
    fn the_registry_is_a_list_that_people_read() {
        let names: BTreeSet<&str> = names().collect();
        assert_eq!(names.len(), registry().len(), "a name means one check");
        insta::assert_snapshot!(list(registry()));
    }

    #[tokio::test(start_paused = true)]
    async fn each_check_ends_in_its_own_way() {
        let machine = tempfile::tempdir().unwrap();
        let checks = [
            check("root", |_| Box::pin(async { Ok(Vec::new()) })),
            check("clock", |_| Box::pin(std::future::pending())),
            check("swap", |_| Box::pin(async { Err(Inconclusive("no /proc".into())) })),
            check("disk-latency", |_| Box::pin(async { Ok(problem(codes::DISK_SLOW, "slow")) }))
                .only(Roles::Masters)
                .first_time(),
            check("ports", |_| Box::pin(async { Ok(advice("seen", "do")) })),
        ];
        let running = Host { is_live: true, ..Host::rooted(machine.path()) };
        let mut text = String::new();
        for (case, skip, node, stage) in [
            ("a new master", &[][..], "m", Stage::Untouched),
            ("a master that works", &[], "m", Stage::Begun),
            ("a worker, without two of them", &["clock", "swap"], "w", Stage::Untouched),
            ("a name that does not exist", &["clok"], "w", Stage::Untouched),
        ] {
            text += &format!("{case}:\n{}", shown(&checks, skip, node, stage, &running).await);
        }
        insta::assert_snapshot!(text);
    }

    #[tokio::test]
    async fn of_an_image_nothing_is_known() {
        let image = tempfile::tempdir().unwrap();
        let text = shown(registry(), &[], "m", Stage::Untouched, &Host::rooted(image.path())).await;
        assert_eq!(text.lines().filter(|line| line.starts_with("unknown")).count(), registry().len(), "{text}");
    }
}
