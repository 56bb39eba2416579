//! Runs checks: all at once, none longer than its limit, none that was not asked for.

use std::time::Duration;

use explain::{Code, Explain, did_you_mean};
use futures::future::join_all;
use tokio::time::timeout;

use super::{Check, Context, Finding, Outcome, Stage, When, check::Inconclusive, registry};
use crate::codes;

/// A check that takes longer tells nothing worth waiting for.
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

/// Runs the checks that are meant for this node, except those named in `skip`. The outcomes come in the order of the
/// checks; one that is for other nodes is left out.
pub async fn run(checks: &[Check], skip: &[String], context: &Context<'_>) -> Result<Vec<Outcome>, UnknownCheck> {
    if let Some(name) = skip.iter().find(|name| !names().any(|known| known == *name)) {
        return Err(UnknownCheck { name: name.clone() });
    }
    let meant = checks.iter().filter(|check| check.roles.include(context.role()));
    let outcomes = meant.map(async |check| Outcome { check: check.name, finding: find(check, skip, context).await });
    Ok(join_all(outcomes).await)
}

async fn find(check: &Check, skip: &[String], context: &Context<'_>) -> Finding {
    if skip.iter().any(|name| name == check.name) {
        return Finding::Skipped { why: "as asked".to_owned() };
    }
    if check.when == When::FirstTime && context.stage == Stage::Begun {
        return Finding::Skipped { why: "passed before the node was set up".to_owned() };
    }
    let finding = async {
        if !context.host.is_live {
            return Err(Inconclusive("the machine is not running".to_owned()));
        }
        (check.run)(context).await
    };
    match timeout(LIMIT, finding).await {
        Ok(checked) => checked.into(),
        Err(_) => Finding::Unknown { why: format!("no answer within {} s", LIMIT.as_secs()) },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use host::Host;
    use spec::ValidatedCluster;

    use super::*;
    use crate::preflight::{NoPeers, Roles, check::Checking, list, show};
    use nodekit::Layout;

    const CLUSTER: &str = "cluster: { name: home }\n\
        nodes: [{ name: m, ip: 192.168.1.10, roles: [master] }, { name: w, ip: 192.168.1.11, roles: [worker] }]";

    async fn shown(checks: &[Check], skip: &[&str], node: &str, stage: Stage, host: &Host) -> String {
        let cluster: ValidatedCluster = spec::check_text(CLUSTER).cluster.unwrap();
        let layout = Layout::default();
        let context = Context {
            host,
            cluster: &cluster,
            node: cluster.node(node).unwrap(),
            layout: &layout,
            stage,
            machine_ids: &NoPeers,
        };
        let skip: Vec<String> = skip.iter().map(|name| (*name).to_owned()).collect();
        match run(checks, &skip, &context).await {
            Ok(outcomes) => show(&outcomes),
            Err(error) => format!("{}: {error}\nhint: {}\n", error.code(), error.advice()),
        }
    }

    fn check(
        name: &'static str,
        roles: Roles,
        when: When,
        check: for<'a> fn(&'a Context<'a>) -> Checking<'a>,
    ) -> Check {
        Check { name, about: "", roles, when, run: check }
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
            check("root", Roles::All, When::Always, |_| Box::pin(async { Ok(Finding::Fine) })),
            check("clock", Roles::All, When::Always, |_| Box::pin(std::future::pending())),
            check("swap", Roles::All, When::Always, |_| Box::pin(async { Err(Inconclusive("no /proc".into())) })),
            check("disk-latency", Roles::Masters, When::FirstTime, |_| {
                Box::pin(async { Ok(Finding::problem(codes::DISK_SLOW, "slow")) })
            }),
            check("ports", Roles::All, When::Always, |_| Box::pin(async { Ok(Finding::warning("seen", "do")) })),
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
