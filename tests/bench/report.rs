//! What all rounds together say.

use std::{collections::BTreeMap, fmt};

use crate::{Times, blackstart::Round, figures::Figures, pivot, steps::Span};

const MASTER_GOAL: f64 = 0.5;
const WORKER_GOAL: f64 = 1.0;
const MEMORY_GOAL: f64 = 20.0;
const FIVE_GOAL: f64 = 0.25;
const MANY_GOAL: f64 = 2.0;
const COMPLETE_GOAL: f64 = 45.0;
const PLAIN_GOAL: f64 = 2.5;
const HAND_OVER_GOAL: f64 = 10.0;
const WITHOUT_API_GOAL: f64 = 1.0;
const WITHOUT_CONTROLLERS_GOAL: f64 = 3.0;

#[derive(Default)]
pub(crate) struct Report {
    ours: Tool,
    theirs: Tool,
    floor: Figures,
    agent_memory: Figures,
    master_steps: Steps,
    worker_steps: Steps,
}

#[derive(Default)]
struct Tool {
    api: Figures,
    master: Figures,
    worker: Figures,
}

/// When each step began and ended.
#[derive(Default)]
struct Steps(BTreeMap<String, (Figures, Figures)>);

impl Report {
    pub(crate) fn add(&mut self, ours: Round, theirs: &Times) {
        self.ours.add(&ours.times);
        self.theirs.add(theirs);
        self.floor.add(ours.floor.as_secs_f64());
        self.agent_memory.add(ours.agent_memory);
        self.master_steps.add(ours.master_steps);
        self.worker_steps.add(ours.worker_steps);
    }
}

impl Tool {
    fn add(&mut self, times: &Times) {
        self.api.add(times.api.as_secs_f64());
        self.master.add(times.master.as_secs_f64());
        self.worker.add(times.worker.as_secs_f64());
    }
}

impl Steps {
    fn add(&mut self, spans: Vec<Span>) {
        for Span { step, began, ended } in spans {
            let (begins, ends) = self.0.entry(step).or_default();
            begins.add(began);
            ends.add(ended);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ours, theirs, floor, agent_memory, .. } = self;
        writeln!(f, "{:<44} {:>8} {:>8} {:>8}", "seconds from the start of the command", "min", "median", "max")?;
        for (what, figures) in [
            ("first master, API ready: blackstart", &ours.api),
            ("first master, API ready: kubeadm", &theirs.api),
            ("first master, API ready: the floor", floor),
            ("first master, Node Ready: blackstart", &ours.master),
            ("first master, Node Ready: kubeadm", &theirs.master),
            ("worker, Node Ready: blackstart", &ours.worker),
            ("worker, Node Ready: kubeadm", &theirs.worker),
        ] {
            writeln!(f, "{what:<44} {figures}")?;
        }
        writeln!(f, "{:<44} {agent_memory}", "agent on a worker, MB resident")?;
        writeln!(f, "\nsteps of the first master (medians)\n{}", self.master_steps)?;
        writeln!(f, "steps of a worker (medians)\n{}", self.worker_steps)?;
        let distance = ours.api.median() - floor.median();
        writeln!(f, "API ready is {distance:.2} s from the floor of {:.2} s", floor.median())?;
        let ratio = |ours: &Figures, theirs: &Figures| ours.median() / theirs.median();
        goal(f, "first master, API ready, of kubeadm", ratio(&ours.api, &theirs.api), MASTER_GOAL)?;
        goal(f, "first master, Node Ready, of kubeadm", ratio(&ours.master, &theirs.master), MASTER_GOAL)?;
        goal(f, "worker, Node Ready, of kubeadm", ratio(&ours.worker, &theirs.worker), WORKER_GOAL)?;
        goal(f, "agent on a worker, MB resident", agent_memory.median(), MEMORY_GOAL)
    }
}

/// A bootstrap node beside a plain bootstrap.
#[derive(Default)]
pub(crate) struct PivotReport {
    complete: Figures,
    hand_over: Figures,
    plain: Figures,
    without_api: Figures,
    without_controllers: Figures,
    writes: usize,
    lost: usize,
    /// By milestone, in their order.
    laps: Vec<(String, Figures)>,
}

impl PivotReport {
    pub(crate) fn add(&mut self, round: pivot::Round, plain: f64) {
        self.complete.add(round.complete.as_secs_f64());
        self.hand_over.add(round.hand_over.as_secs_f64());
        self.plain.add(plain);
        self.without_api.add(round.without_api);
        self.without_controllers.add(round.without_controllers);
        self.writes += round.writes;
        self.lost += round.lost;
        for (title, time) in round.laps {
            let at = self.laps.iter().position(|(known, _)| *known == title).unwrap_or_else(|| {
                self.laps.push((title, Figures::default()));
                self.laps.len() - 1
            });
            self.laps[at].1.add(time);
        }
    }
}

impl fmt::Display for PivotReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { complete, hand_over, plain, without_api, without_controllers, writes, lost, laps } = self;
        writeln!(f, "{:<44} {:>8} {:>8} {:>8}", "seconds from the start of the command", "min", "median", "max")?;
        for (title, figures) in laps {
            writeln!(f, "{title:<44} {figures}")?;
        }
        writeln!(f, "{:<44} {hand_over}", "the hand-over alone")?;
        writeln!(f, "{:<44} {plain}", "three masters and a worker, all Ready")?;
        writeln!(f, "{:<44} {without_api}", "longest time without an acknowledged write")?;
        writeln!(f, "{:<44} {without_controllers}", "without controllers, at most")?;
        writeln!(f, "{writes} writes were acknowledged, {lost} of them are lost")?;
        goal(f, "bootstrap complete, seconds", complete.median(), COMPLETE_GOAL)?;
        goal(f, "bootstrap complete, of a plain bootstrap", complete.median() / plain.median(), PLAIN_GOAL)?;
        goal(f, "the hand-over alone, seconds", hand_over.median(), HAND_OVER_GOAL)?;
        goal(f, "without an acknowledged write, seconds", without_api.median(), WITHOUT_API_GOAL)?;
        goal(f, "without controllers, seconds", without_controllers.median(), WITHOUT_CONTROLLERS_GOAL)
    }
}

/// Five machines by both tools.
pub(crate) fn five(ours: &Figures, theirs: &Figures) -> String {
    let rows = [("five machines, all Ready: blackstart", ours), ("five machines, all Ready: kubeadm", theirs)];
    table(&rows, ("five machines, of kubeadm", ours.median() / theirs.median(), FIVE_GOAL))
}

/// Time per worker, of one and of many at once.
pub(crate) fn many(one: &Figures, many: &Figures) -> String {
    let rows = [("one worker, Node Ready", one), ("per worker of many at once, all Ready", many)];
    table(&rows, ("per worker of many, of one alone", many.median() / one.median(), MANY_GOAL))
}

fn table(rows: &[(&str, &Figures)], (what, measured, limit): (&str, f64, f64)) -> String {
    let mut text =
        format!("{:<44} {:>8} {:>8} {:>8}\n", "seconds from the start of the command", "min", "median", "max");
    for (row, figures) in rows {
        text.push_str(&format!("{row:<44} {figures}\n"));
    }
    text + &verdict(what, measured, limit)
}

fn verdict(what: &str, measured: f64, goal: f64) -> String {
    let met = if measured <= goal { "met" } else { "not met" };
    format!("{what}: {measured:.2}, goal at most {goal}: {met}\n")
}

fn goal(f: &mut fmt::Formatter<'_>, what: &str, measured: f64, goal: f64) -> fmt::Result {
    f.write_str(&verdict(what, measured, goal))
}

impl fmt::Display for Steps {
    /// In the order in which they begin.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let median = |(begins, ends): &(Figures, Figures)| (begins.median(), ends.median());
        let mut rows: Vec<(&str, (f64, f64))> = self.0.iter().map(|(step, all)| (step.as_str(), median(all))).collect();
        rows.sort_by(|(_, one), (_, other)| one.0.total_cmp(&other.0));
        writeln!(f, "  {:<26} {:>8} {:>8} {:>8}", "step", "begins", "ends", "takes")?;
        for (step, (begins, ends)) in rows {
            writeln!(f, "  {step:<26} {begins:>8.2} {ends:>8.2} {:>8.2}", ends - begins)?;
        }
        Ok(())
    }
}
