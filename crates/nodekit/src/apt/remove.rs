//! Packages go again: those that were asked for, and what came with them and no other package needs by now.
//!
//! apt removes with a package everything that needs it. What a user or another program installed meanwhile must not go that way, so apt
//! is asked first what would go; a package that others need stays, and is reported. Nothing is purged: that would
//! remove what the machine is known by, for example its initiator name.

use std::collections::BTreeSet;

use engine::StepError;
use host::Host;

use super::{Packages, Problem, Source, Work, apt_get, explained, repair, with_retries};

/// What came only because something needs it, and nothing does. That another package recommends it is no need: those who
/// do were there before, without it.
const AUTOREMOVE: [&str; 3] = [
    "autoremove",
    "--option=APT::AutoRemove::RecommendsImportant=false",
    "--option=APT::AutoRemove::SuggestsImportant=false",
];

/// Removes the packages `asked` and those among `ours` that no package needs without them. Returns what stayed, and why.
pub async fn remove(host: &Host, asked: &[String], ours: &BTreeSet<String>) -> Result<Vec<String>, StepError> {
    let Some(packages) = Packages::read(&*host.disk)? else { return Ok(Vec::new()) };
    let mut present: Vec<&str> = asked.iter().map(String::as_str).collect();
    present.retain(|name| packages.version(name).is_some() || packages.unfinished.iter().any(|half| half == name));
    if present.is_empty() && ours.iter().all(|name| packages.version(name).is_none()) {
        return Ok(Vec::new());
    }
    if !packages.unfinished.is_empty() {
        repair(host).await?;
    }
    let mut stay = take_away(host, &present, ours).await?;
    let unneeded = would_go(host, &AUTOREMOVE).await?;
    let unneeded: Vec<&str> = unneeded.iter().filter(|name| ours.contains(*name)).map(String::as_str).collect();
    stay.extend(take_away(host, &unneeded, ours).await?);
    Ok(stay)
}

/// Removes what takes nothing with it that is not ours.
async fn take_away(host: &Host, names: &[&str], ours: &BTreeSet<String>) -> Result<Vec<String>, StepError> {
    let others = async |names: &[&str]| -> Result<Vec<String>, StepError> {
        Ok(would_go(host, &[&["remove"], names].concat()).await?.difference(ours).cloned().collect())
    };
    let mut goes = names.to_vec();
    let mut stay = Vec::new();
    // Nearly always all may go, and one question is enough.
    if !names.is_empty() && !others(names).await?.is_empty() {
        goes.clear();
        for name in names {
            let others = others(&[name]).await?;
            if others.is_empty() {
                goes.push(name);
            } else {
                stay.push(format!("the package {name} stays: {} would go with it", others.join(", ")));
            }
        }
    }
    if !goes.is_empty() {
        let listed = goes.join(", ");
        host.doing(format!("removing {listed}"));
        let command = apt_get(Source::Mirrors, ["remove", "--yes"]).args(goes);
        with_retries(host, &command).await.map_err(|problem| explained(problem, Work::Remove, &listed))?;
    }
    Ok(stay)
}

/// The packages that would go.
async fn would_go(host: &Host, arguments: &[&str]) -> Result<BTreeSet<String>, StepError> {
    let command = apt_get(Source::Mirrors, ["--simulate"]).args(arguments.iter().copied());
    let reported = with_retries(host, &command).await;
    let error = |problem: Problem| explained(problem, Work::Remove, "packages");
    Ok(removals(&reported.map_err(error)?.stdout))
}

/// `Remv open-iscsi [2.1.8-1]`; of a package of another architecture, `Remv libc6:i386 [2.36]`.
fn removals(simulated: &str) -> BTreeSet<String> {
    let names = simulated.lines().filter_map(|line| line.strip_prefix("Remv ")?.split([' ', ':']).next());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        sync::{Arc, Mutex},
    };

    use host::{Cmd, Commands, Printed, Running};

    use super::*;

    /// An apt that knows who needs whom.
    struct Apt {
        needs: &'static [(&'static str, &'static [&'static str])],
        unneeded: &'static [&'static str],
        removed: Mutex<Vec<String>>,
    }

    impl Commands for Apt {
        fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
            let shown = command.to_string();
            let (_, rest) = shown.split_once("--force-confold ").unwrap();
            let mut words = rest.split(' ');
            let stdout = match (words.next().unwrap(), words.next().unwrap()) {
                ("--simulate", "remove") => {
                    let name = words.next().unwrap();
                    let with = self.needs.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, by)| by);
                    [&[name], with].concat().iter().map(|name| format!("Remv {name} [1]\n")).collect()
                }
                ("--simulate", _) => self.unneeded.iter().map(|name| format!("Remv {name} [1]\n")).collect(),
                _ => {
                    self.removed.lock().unwrap().push(rest.to_owned());
                    String::new()
                }
            };
            Box::pin(async move { Ok(Printed { stdout, ..Printed::default() }) })
        }
    }

    #[tokio::test]
    async fn only_what_is_ours_goes() {
        const INSTALLED: &str = "Package: open-iscsi\nStatus: install ok installed\nVersion: 1\n\n\
                                 Package: libisns0\nStatus: install ok installed\nVersion: 1\n";
        type Needs = &'static [(&'static str, &'static [&'static str])];
        const THEIRS: Needs = &[("open-iscsi", &["their-tool"])];
        const OURS: Needs = &[("open-iscsi", &["libisns0"])];
        let mut reported = String::new();
        for (case, status, needs, unneeded) in [
            ("all goes", INSTALLED, &[][..], &["libisns0", "old-kernel"][..]),
            ("another package needs it", INSTALLED, THEIRS, &[]),
            ("another package needs what came with it", INSTALLED, &[], &[]),
            ("it came with something else of ours", INSTALLED, OURS, &["libisns0"]),
            ("all gone before", "Package: vim\nStatus: install ok installed\n", &[], &["old-kernel"]),
        ] {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("var/lib/dpkg")).unwrap();
            fs::write(root.path().join("var/lib/dpkg/status"), status).unwrap();
            let apt = Arc::new(Apt { needs, unneeded, removed: Mutex::default() });
            let host = Host { commands: apt.clone(), ..Host::rooted(root.path()) };
            let ours = ["open-iscsi", "libisns0"].map(str::to_owned).into();
            let stay = remove(&host, &["open-iscsi".to_owned()], &ours).await.unwrap();
            reported += &format!("{case}:\n  ran {:?}\n  stays {stay:?}\n", apt.removed.lock().unwrap());
        }
        insta::assert_snapshot!(reported);
    }

    #[test]
    fn what_a_simulation_prints() {
        let text = "Reading package lists...\nRemv open-iscsi [2.1.8-1]\nRemv libc6:i386 [2.36]\nInst x (1)\n";
        assert_eq!(removals(text), ["libc6", "open-iscsi"].map(str::to_owned).into());
    }
}
