//! What a node does next. Pure: from its note and from what is seen around it.
//!
//! ```text
//! checking ─► checked ─► armed ═══► stage 1 ─► rebooting ─► stage 2 ─► returned ─► done
//!    │           │         │  commit   │           │           │          │ no confirmation
//!    ▼           ▼         ▼           └───────────┴───────────┴──────────┤
//! refused     disarmed  disarmed                                      going back ─► rebooting ─► rolled back
//! ```
//! Up to the commit nothing is changed and any new boot ends the run: it cannot be known what happened meanwhile. From the commit
//! on the node goes on by itself, and needs the cluster only to hear that it may stay what it has become. A node that is not to
//! go back by itself (`rollback: never`) is stuck instead, from wherever it would go back; ordered to go back, it still does.

use std::time::Duration;

use upgrades::{Command, Order};

use super::note::{At, Note};

/// A machine that does not go down is asked again, and then forced.
const REBOOT_AGAIN: u32 = 2;

/// What is seen around the note.
#[derive(Debug, Clone)]
pub(crate) struct Around<'a> {
    /// In which boot the machine is.
    pub(crate) boot_id: &'a str,
    /// For how long.
    pub(crate) uptime: Duration,
    /// The Node, as far as it is seen.
    pub(crate) node: Option<Seen<'a>>,
    /// Before the kubelet, where no cluster is seen and nothing is begun that could wait for one.
    pub(crate) is_boot: bool,
}

/// The Node, in one observation: its label and its order belong together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) order: Option<&'a Order>,
    pub(crate) is_labelled: bool,
    /// The run for which the Node shows that this machine is armed.
    pub(crate) armed_for: Option<&'a str>,
}

/// What a node does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing, for now.
    Wait,
    /// Nothing more, for good.
    Leave,
    /// Begin this run: the last one is over.
    Begin(Order),
    Check,
    Arm,
    /// The last moment at which nothing was changed.
    Commit,
    /// The run ends, and nothing was changed.
    Disarm {
        is_new_boot: bool,
    },
    Stage1,
    Stage2,
    Reboot {
        is_forced: bool,
    },
    /// The time in which it must be confirmed starts again: this is another boot.
    Return,
    Confirm,
    /// Go back, because of this.
    GoBack(Why),
    /// It is not to go back by itself: it stays as it is, for a person to inspect.
    StayStuck,
    /// On the way back.
    WayBack,
    /// It is back at what it was; let that be seen.
    RolledBack,
}

/// Why a node goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It was ordered to.
    Ordered,
    /// It was not confirmed.
    NotConfirmed,
}

/// What a node does next.
pub(crate) fn next(note: Option<&Note>, around: &Around) -> Action {
    let order = around.node.and_then(|node| node.order);
    // Nothing is asked of the node, and nothing will be before it is labelled.
    let is_left_alone = around.node.is_some_and(|node| node.order.is_none() && !node.is_labelled);
    let Some(note) = note else { return if is_left_alone { Action::Leave } else { begin(order) } };
    let own = order.filter(|order| order.run == note.order.run);
    let command = own.map(|order| order.command);
    let is_new_boot = |boot: &str| boot != around.boot_id;
    match &note.at {
        At::Refused | At::Disarmed | At::Done | At::RolledBack | At::Stuck => match order {
            Some(new) if own.is_none() => begin(Some(new)),
            _ if is_left_alone => Action::Leave,
            _ => Action::Wait,
        },
        // Given up: the cluster has begun another run, or wants nothing of the node any more.
        _ if note.at.is_before_commit() && (is_left_alone || is_superseded(note, order)) => {
            Action::Disarm { is_new_boot: false }
        }
        // Nothing here can be done without a cluster.
        At::Checking | At::Returned { .. } if around.is_boot => Action::Wait,
        At::Checking => match command {
            Some(Command::Stop | Command::RollBack) => Action::Disarm { is_new_boot: false },
            _ => Action::Check,
        },
        At::Checked => match command {
            // A label that is gone before that was taken back by a person.
            Some(Command::Arm) if around.node.is_some_and(|node| node.is_labelled) => Action::Arm,
            Some(Command::Stop | Command::RollBack) => Action::Disarm { is_new_boot: false },
            _ => Action::Wait,
        },
        At::Armed { boot } if is_new_boot(boot) => Action::Disarm { is_new_boot: true },
        At::Armed { .. } => match (command, around.node) {
            (Some(Command::Stop | Command::RollBack), _) => Action::Disarm { is_new_boot: false },
            // Only under this very order: a label that is gone without it was removed by a user. And only once the cluster
            // can see that it is armed: a node that is not armed as far as it knows, it gives back.
            (Some(Command::Arm), Some(seen)) if !seen.is_labelled && seen.armed_for == Some(&*note.order.run) => {
                Action::Commit
            }
            _ => Action::Wait,
        },
        At::Stage1 => Action::Stage1,
        At::Rebooting { boot, .. } if is_new_boot(boot) => Action::Stage2,
        At::RebootingBack { boot, .. } if is_new_boot(boot) => Action::RolledBack,
        // A boot that is under way is not the one to reboot from.
        At::Rebooting { .. } | At::RebootingBack { .. } if around.is_boot => Action::Wait,
        At::Rebooting { tries, .. } | At::RebootingBack { tries, .. } => {
            Action::Reboot { is_forced: *tries >= REBOOT_AGAIN }
        }
        At::Stage2 => Action::Stage2,
        At::Returned { boot, .. } if is_new_boot(boot) => Action::Return,
        At::Returned { since, .. } => match command {
            Some(Command::Confirm) => Action::Confirm,
            Some(Command::RollBack) => Action::GoBack(Why::Ordered),
            _ if around.uptime.saturating_sub(*since).as_secs() > note.order.confirm_seconds => {
                if note.order.goes_back { Action::GoBack(Why::NotConfirmed) } else { Action::StayStuck }
            }
            _ => Action::Wait,
        },
        At::GoingBack => Action::WayBack,
    }
}

/// A run begins with an order to check, or to be armed where what was checked was lost with the disk.
fn begin(order: Option<&Order>) -> Action {
    match order {
        Some(order) if matches!(order.command, Command::Check | Command::Arm) => Action::Begin(order.clone()),
        _ => Action::Wait,
    }
}

/// The cluster has begun another run: this one was given up.
fn is_superseded(note: &Note, order: Option<&Order>) -> bool {
    order.is_some_and(|order| order.run != note.order.run)
}

impl At {
    const fn is_before_commit(&self) -> bool {
        matches!(self, Self::Checking | Self::Checked | Self::Armed { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "run-1";

    fn order(run: &str, command: Command) -> Order {
        Order {
            version: 1,
            run: run.into(),
            command,
            driver: upgrades::Driver::Rhel,
            secret: "ipb-w1".into(),
            apply_seconds: 3600,
            confirm_seconds: 900,
            goes_back: true,
            by_agent: false,
        }
    }

    fn note(at: At) -> Note {
        Note { at, ..Note::new("w1", order(RUN, Command::Check)) }
    }

    fn around<'a>(node: Option<Seen<'a>>, boot_id: &'a str) -> Around<'a> {
        Around { boot_id, uptime: Duration::from_secs(10), node, is_boot: false }
    }

    fn boot() -> String {
        "one".to_owned()
    }

    fn all() -> Vec<At> {
        vec![
            At::Checking,
            At::Refused,
            At::Checked,
            At::Armed { boot: boot() },
            At::Disarmed,
            At::Stage1,
            At::Rebooting { boot: boot(), tries: 0 },
            At::Stage2,
            At::Returned { boot: boot(), since: Duration::ZERO },
            At::Done,
            At::GoingBack,
            At::RebootingBack { boot: boot(), tries: 0 },
            At::RolledBack,
            At::Stuck,
        ]
    }

    /// Every place of a run against everything that can be seen.
    #[test]
    fn what_follows_from_what() {
        let mut lines = Vec::new();
        for at in all() {
            let note = note(at);
            let mut line = |case: &str, around: &Around<'_>| {
                let action = match next(Some(&note), around) {
                    Action::Begin(order) => format!("Begin {}", order.run),
                    action => format!("{action:?}"),
                };
                lines.push(format!("{:13} {case:28} {action}", note.at.state().to_string()));
            };
            line("no API", &around(None, "one"));
            line("no API, new boot", &around(None, "two"));
            line("before kubelet", &Around { is_boot: true, ..around(None, "one") });
            line("before kubelet, new boot", &Around { is_boot: true, ..around(None, "two") });
            line("no order, labelled", &around(Some(Seen { order: None, is_labelled: true, armed_for: None }), "one"));
            line(
                "no order, not labelled",
                &around(Some(Seen { order: None, is_labelled: false, armed_for: None }), "one"),
            );
            for command in [Command::Check, Command::Arm, Command::Confirm, Command::RollBack, Command::Stop] {
                for is_labelled in [true, false] {
                    let order = order(RUN, command);
                    let label = if is_labelled { "labelled" } else { "not labelled" };
                    let seen = Seen { order: Some(&order), is_labelled, armed_for: Some(RUN) };
                    line(&format!("{command:?}, {label}"), &around(Some(seen), "one"));
                }
            }
            let other = order("run-2", Command::Check);
            line("another run", &around(Some(Seen { order: Some(&other), is_labelled: true, armed_for: None }), "one"));
        }
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn only_the_removal_of_the_label_of_a_node_that_is_seen_to_be_armed_under_its_own_order_commits() {
        let mut commits = 0;
        for command in [Command::Check, Command::Arm, Command::Confirm, Command::RollBack, Command::Stop] {
            for (run, is_labelled, boot_id, armed_for) in [
                (RUN, true, "one", Some(RUN)),
                (RUN, false, "one", Some(RUN)),
                (RUN, false, "one", None),
                (RUN, false, "one", Some("run-2")),
                (RUN, false, "two", Some(RUN)),
                ("run-2", false, "one", Some(RUN)),
            ] {
                let order = order(run, command);
                let node = Some(Seen { order: Some(&order), is_labelled, armed_for });
                let around = Around { boot_id, uptime: Duration::ZERO, node, is_boot: false };
                let is_commit = next(Some(&note(At::Armed { boot: boot() })), &around) == Action::Commit;
                let is_shown = armed_for == Some(RUN);
                let is_expected = (command, run, is_labelled, boot_id) == (Command::Arm, RUN, false, "one");
                assert_eq!(is_commit, is_expected && is_shown);
                commits += u32::from(is_commit);
            }
        }
        assert_eq!(commits, 1);
    }

    #[test]
    fn a_node_that_is_not_confirmed_goes_back() {
        let around =
            |seconds| Around { boot_id: "one", uptime: Duration::from_secs(seconds), node: None, is_boot: false };
        let returned = note(At::Returned { boot: boot(), since: Duration::from_secs(100) });
        assert_eq!(next(Some(&returned), &around(1000)), Action::Wait);
        assert_eq!(next(Some(&returned), &around(1001)), Action::GoBack(Why::NotConfirmed));
        let mut stays = returned;
        stays.order.goes_back = false;
        assert_eq!(next(Some(&stays), &around(1000)), Action::Wait);
        assert_eq!(next(Some(&stays), &around(1001)), Action::StayStuck);
        let ordered = order(RUN, Command::RollBack);
        let ordered =
            Around { node: Some(Seen { order: Some(&ordered), is_labelled: false, armed_for: None }), ..around(1001) };
        assert_eq!(next(Some(&stays), &ordered), Action::GoBack(Why::Ordered));
    }

    #[test]
    fn a_run_begins_only_with_an_order_to_check_or_to_be_armed() {
        for (command, begins) in [
            (Command::Check, true),
            (Command::Arm, true),
            (Command::Confirm, false),
            (Command::RollBack, false),
            (Command::Stop, false),
        ] {
            let order = order(RUN, command);
            let node = Some(Seen { order: Some(&order), is_labelled: true, armed_for: None });
            let around = Around { boot_id: "one", uptime: Duration::ZERO, node, is_boot: false };
            assert_eq!(matches!(next(None, &around), Action::Begin(_)), begins, "{command:?}");
        }
    }
}
