//! Two masters join at the same moment, and one or both of them are ended on the way.
//!
//! Ended by SIGKILL or by cutting the power, after each step from the split-brain guard on and at a few instants within those that have
//! to do with etcd. There is no help from there on: in the end there are three voters and four Ready nodes, and another run finds
//! nothing to change.

use std::{fmt, thread};

use crate::{
    MASTERS, NODES, await_whole, bootstrap_with,
    cases::play_all,
    lose_disks, members, struck_at,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[("masters that join at once and are ended on the way recover", recover)];

const JOINERS: [&str; 2] = [MASTERS[1], MASTERS[2]];

/// The first step in which a master has to do with others.
const FIRST: &str = "split-brain-guard";

/// What the first master does not have to wait for.
const TURN: &str = "api-turn";

/// Besides the end of every step: about to be announced, its member about to serve, its vote about to be given.
const WITHIN: [(&str, &str); 3] = [("etcd-join", "before-1"), ("etcd", "waiting"), ("etcd-vote", "before-1")];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Kill,
    PowerLoss,
}

#[derive(Debug, Clone)]
struct Case {
    step: String,
    when: &'static str,
    ending: Ending,
    victims: &'static [&'static str],
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, when, ending, victims } = self;
        let ending = match ending {
            Ending::Kill => "SIGKILL",
            Ending::PowerLoss => "power loss",
        };
        write!(f, "{step} {when}, {ending} of {}", victims.join(" and "))
    }
}

fn recover(cluster: &Cluster) {
    let all = all_cases(cluster);
    // A SIGKILL with one kind of commits and a power loss with the other.
    let of_the_seed = |seed: usize| {
        let (kills, power_losses) = all.split_at(all.len() / 2);
        let cases = if seed.is_multiple_of(2) { kills } else { power_losses };
        cases[seed / 2 % cases.len()].clone()
    };
    play_all("joining", &all, of_the_seed, |case| play(cluster, case), || evidence(cluster));
}

/// The steps are those that the first master went through. One or both of the joining masters are ended, in turn.
fn all_cases(cluster: &Cluster) -> Vec<Case> {
    let steps = cluster.last_up(MASTERS[0]).unwrap().steps.into_iter().map(|step| step.id);
    let joining = steps.skip_while(|step| step != FIRST).filter(|step| step != "join-info");
    let mut instants: Vec<(String, &str)> = joining.map(|step| (step, "ended")).collect();
    assert!(instants.len() > 15, "{instants:?}");
    instants.push((TURN.to_owned(), "ended"));
    instants.extend(WITHIN.map(|(step, when)| (step.to_owned(), when)));
    let one_or_both: [&[&str]; 2] = [&JOINERS[..1], &JOINERS];
    let with = |ending, shift| {
        let cases = instants.clone().into_iter().enumerate();
        cases.map(move |(at, (step, when))| Case { step, when, ending, victims: one_or_both[(at + shift) % 2] })
    };
    with(Ending::Kill, 0).chain(with(Ending::PowerLoss, 1)).collect()
}

/// Plays a case, and says where it struck; `None` if its instant did not come this time.
fn play(cluster: &Cluster, case: &Case) -> Option<String> {
    take_out_joiners(cluster);
    let Case { step, when, ending, victims } = case;
    let word = if *ending == Ending::Kill { "kill" } else { "halt" };
    for victim in *victims {
        bootstrap_with(cluster, victim, &format!("BLACKSTART_FAULT={step}:{when}:{word}"));
    }
    thread::scope(|scope| {
        for joiner in JOINERS {
            scope.spawn(move || cluster.install(&cluster.sealed_dir(joiner), joiner));
        }
    });
    let struck = end(cluster, victims, *ending);
    await_whole(cluster, &NODES);
    for joiner in JOINERS {
        let output = cluster.node_up(joiner, "").ok();
        assert!(output.contains("nothing was changed"), "{joiner}: {output}");
    }
    struck
}

/// Waits for the instant of every victim. Where it is the power that ends, the process has only stopped, so that nothing
/// happens in between. Of two victims the second may not get there before the first is back: one at a time joins etcd.
fn end(cluster: &Cluster, victims: &[&str], ending: Ending) -> Option<String> {
    let mut left = victims.to_vec();
    let mut struck = None;
    eventually("every victim has met its end, or is done", || {
        left.retain(|victim| {
            let at = struck_at(cluster, victim);
            if at.is_empty() {
                return !cluster.is_up(victim);
            }
            struck = Some(at);
            if ending == Ending::PowerLoss {
                cluster.lab.run("kill", &[victim]).ok();
                // It waits until the machine is up, which it is when it is a node; whether it is, is asked later.
                cluster.lab.up(3, 1);
            }
            false
        });
        left.is_empty()
    });
    struck
}

/// Both joiners leave as a replaced machine does, and are machines that have never been anything.
fn take_out_joiners(cluster: &Cluster) {
    let members = members(cluster, MASTERS[0]);
    let inside: Vec<&str> =
        JOINERS.into_iter().filter(|name| members.iter().any(|(member, _)| member == name)).collect();
    if inside.is_empty() {
        return;
    }
    for joiner in &inside {
        cluster.sh(MASTERS[0], &format!("blackstart node remove {joiner} --yes"));
    }
    lose_disks(cluster, &JOINERS);
}

fn evidence(cluster: &Cluster) -> String {
    let line = "cat /var/lib/cluster-state/progress.json; echo; systemctl --failed --no-legend --plain; \
                journalctl -o short-precise --no-pager -u cluster-bootstrap -u etcd -n 60";
    JOINERS.map(|joiner| format!("{joiner}:\n{}", cluster.try_sh(joiner, line).out)).concat()
}
