//! The view for people: one line per node, and one per step that is going on or has failed.

use ::explain::Diagnostic;
use jiff::{SignedDuration, Timestamp};
use nodekit::run_record::{OpenStep, Outcome, Purpose, RecordedError, StepState};

use super::view::{BootstrapView, MasterState, MasterView, NodeState, NodeView, View};
use crate::{
    Style,
    commands::{boxes, line::Line},
};

/// How far steps are moved in.
const INDENT: &str = "  ";

/// What is shown of a node gets a line of its own where the terminal leaves less room for it than this.
const ROOM: usize = 40;

/// The whole picture, for a terminal of this width if it is one.
pub(super) fn lines(view: &View, width: Option<usize>) -> Vec<Line> {
    let widths = Widths::of(view);
    let is_narrow = width.is_some_and(|width| width < widths.columns()[4] + ROOM);
    let mut lines = vec![headline(view)];
    lines.extend(view.bootstrap.iter().flat_map(|bootstrap| of_bootstrap(bootstrap, view.time)));
    lines.extend(view.masters.iter().filter_map(|master| of_master(master, view.time)));
    lines.push(widths.heading());
    for node in view.rows() {
        let (line, output) = (widths.node(node, view.time), report_of(node, view.time));
        if is_narrow && !output.is_empty() {
            lines.extend([line, Line::default().text(INDENT).text(output)]);
        } else {
            lines.push(line.tab(widths.columns()[4]).text(output));
        }
        lines.extend(below(node, &widths, view.time));
    }
    lines
}

fn headline(view: &View) -> Line {
    let ready = view.nodes.iter().filter(|node| node.state == NodeState::Ready).count();
    let counted = format!("{ready} of {} nodes ready", view.nodes.len());
    let style = if ready == view.nodes.len() { Style::Good } else { Style::Warning };
    Line::default()
        .styled(Style::Strong, format!("cluster {}", view.cluster))
        .text("  ")
        .styled(style, counted)
        .text(format!("  {}", clock(view.time)))
}

/// Its milestones until the last one is reached; afterwards one line.
fn of_bootstrap(bootstrap: &BootstrapView, now: Timestamp) -> Vec<Line> {
    match nodekit::boxes::completed(&bootstrap.milestones, now) {
        Some(text) => vec![Line::default().styled(Style::Good, text)],
        None => boxes::lines(&bootstrap.milestones),
    }
}

/// Masters that answer everything are not worth a line.
fn of_master(master: &MasterView, now: Timestamp) -> Option<Line> {
    let name = &master.name;
    let line = match master.state {
        MasterState::Answers => return None,
        MasterState::Asking => Line::default().styled(Style::Dim, format!("{name} is being asked")),
        MasterState::NotAsked => Line::default()
            .styled(Style::Dim, format!("{name} is not asked yet: this machine has no certificate")),
        MasterState::ApiReady => Line::default()
            .text(format!("{name} answers and its API is ready; this node sees only itself: `blackstart watch` on a master shows all")),
        MasterState::ApiNotReady => Line::default()
            .text(format!("{name} answers and its API is not ready; this node sees only itself: `blackstart watch` on a master shows all")),
        MasterState::Silent => {
            let long = master.since.map(|since| format!(" for {}", ago(since, now))).unwrap_or_default();
            let as_of = master.answered.map(|answered| format!("; its last report is of {}", clock(answered)));
            Line::default().styled(Style::Warning, format!("{name} does not answer{long}")).text(format!(
                ": {}{}",
                master.why.as_ref().map(ToString::to_string).unwrap_or_default(),
                as_of.unwrap_or_default()
            ))
        }
    };
    Some(line)
}

/// How wide the columns are.
struct Widths {
    name: usize,
    role: usize,
    step: usize,
}

impl Widths {
    fn of(view: &View) -> Self {
        let longest = |lengths: &mut dyn Iterator<Item = usize>, least: usize| lengths.fold(least, usize::max);
        let name = longest(&mut view.rows().map(|node| node.name.len()), "NODE".len());
        let role = longest(&mut view.rows().map(|node| node.role.to_string().len()), "master".len());
        let steps = view.rows().flat_map(NodeView::steps);
        Self { name, role, step: longest(&mut steps.map(|step| step.id.len()), 0) }
    }

    /// Where each column begins: role, state, steps, time, details.
    fn columns(&self) -> [usize; 5] {
        let role = self.name + 2;
        let state = role + self.role + 2;
        [role, state, state + 15, state + 23, state + 35]
    }

    fn heading(&self) -> Line {
        let [role, state, steps, time, _] = self.columns();
        let cells = [("ROLE", role), ("STATE", state), ("STEPS", steps), ("FOR", time)];
        let first = Line::default().styled(Style::Dim, "NODE");
        cells.into_iter().fold(first, |line, (text, column)| line.tab(column).styled(Style::Dim, text))
    }

    fn node(&self, node: &NodeView, now: Timestamp) -> Line {
        let [role, state, steps, time, _] = self.columns();
        let (sign, style) = mark(node.state);
        // What it took to find out which node this is says nothing of how far the node is.
        let far = node.run.as_ref().filter(|run| run.purpose != Purpose::Detect || run.outcome != Outcome::Done);
        let far = far.map_or_else(|| "-".to_owned(), |run| format!("{}/{}", run.done, run.total));
        let long = node.since.map_or_else(|| "-".to_owned(), |since| ago(since, now));
        Line::default()
            .styled(Style::Strong, &node.name)
            .tab(role)
            .text(node.role.to_string())
            .tab(state)
            .styled(style, format!("{sign} {}", node.state.word()))
            .tab(steps)
            .text(far)
            .tab(time)
            .text(long)
    }
}

fn mark(state: NodeState) -> (&'static str, Style) {
    match state {
        NodeState::Ready => ("✓", Style::Good),
        NodeState::Working => ("→", Style::Strong),
        NodeState::Waiting | NodeState::Starting => ("…", Style::Strong),
        NodeState::Failed | NodeState::NotReady => ("✗", Style::Bad),
        NodeState::Silent | NodeState::Interrupted | NodeState::Stopped => ("!", Style::Warning),
        NodeState::Unknown | NodeState::Off | NodeState::Reset | NodeState::Retired => ("-", Style::Dim),
    }
}

fn report_of(node: &NodeView, now: Timestamp) -> String {
    let heard = node.heard.map(|heard| format!("heard {} ago", ago(heard, now)));
    let own = match node.state {
        NodeState::Ready | NodeState::NotReady => {
            let version = node.version.as_ref().map(|version| format!("version {version}"));
            Some([version, heard].into_iter().flatten().collect::<Vec<_>>().join(", "))
        }
        NodeState::Silent => node.heard.map(|heard| format!("nothing heard since {}", clock(heard))),
        NodeState::Off => Some("the machine is off".to_owned()),
        NodeState::Unknown => node.note.is_none().then(|| "no master can be asked about it".to_owned()),
        NodeState::Starting => Some("the bootstrap has not begun".to_owned()),
        NodeState::Interrupted => Some("its run ended without a report; it is retried by itself".to_owned()),
        NodeState::Stopped => Some("its run was stopped; `blackstart node up` goes on".to_owned()),
        NodeState::Failed => Some("it is tried again by itself".to_owned()),
        NodeState::Working | NodeState::Waiting | NodeState::Reset | NodeState::Retired => heard,
    };
    let parts = [own.filter(|text| !text.is_empty()), node.note.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The lines below a node.
fn below(node: &NodeView, widths: &Widths, now: Timestamp) -> Vec<Line> {
    let mut lines: Vec<Line> = node.steps().iter().flat_map(|step| of_step(step, widths.step, now)).collect();
    for (unit, state) in &node.failing_units {
        lines.push(Line::default().text(INDENT).styled(Style::Bad, format!("{unit} {state}")));
    }
    let last_error = node.run.as_ref().and_then(|run| run.last_error.as_ref());
    if let Some(error) = last_error.filter(|error| is_unreported(node, error)) {
        let word = if node.state == NodeState::Failed { "failed" } else { "last error" };
        lines.extend(of_error(INDENT, word, error));
    }
    lines
}

/// An error that is of interest and not in a line of its own step.
fn is_unreported(node: &NodeView, error: &RecordedError) -> bool {
    let is_over = matches!(node.state, NodeState::Ready | NodeState::Reset | NodeState::Off);
    !is_over && node.steps().iter().all(|step| step.error.as_ref() != Some(error))
}

fn of_step(step: &OpenStep, width: usize, now: Timestamp) -> Vec<Line> {
    let (again, attempt) = match step.attempt {
        0 | 1 => (String::new(), String::new()),
        number => (format!("attempt {number}, "), format!("attempt {number} ")),
    };
    let long = step.since.map(|since| ago(since, now)).unwrap_or_default();
    let begin = Line::default().text(INDENT).text(format!("{:<width$}", step.id)).text("  ");
    let indent = " ".repeat(INDENT.len() + width + 2);
    let error = step.error.as_ref();
    match (step.state, error) {
        (StepState::Waiting, _) => {
            let first =
                begin.text(again).styled(Style::Strong, format!("waiting {long}")).text(format!(" for {}", step.what));
            let before = error.map(|error| of_error(&indent, "last error", error));
            [first].into_iter().chain(before.unwrap_or_default()).collect()
        }
        (StepState::Retrying, Some(RecordedError { diagnostic, .. })) => {
            let begin = begin.styled(Style::Warning, format!("{attempt}failed {long} ago, trying again"));
            vec![begin.text(format!(": {diagnostic}")), hint(&indent, diagnostic)]
        }
        (state, Some(RecordedError { diagnostic, .. })) if state.is_bad() => {
            let begin = begin.styled(Style::Bad, format!("{attempt}FAILED {long} ago"));
            vec![begin.text(format!(": {diagnostic}")), hint(&indent, diagnostic)]
        }
        _ => {
            let first = begin.text(again).text(format!("{long}: {}", step.what));
            let before = error.map(|error| of_error(&indent, "last error", error));
            [first].into_iter().chain(before.unwrap_or_default()).collect()
        }
    }
}

fn of_error(indent: &str, word: &str, error: &RecordedError) -> Vec<Line> {
    let first = Line::default().text(indent).styled(Style::Warning, word).text(format!(": {error}"));
    vec![first, hint(indent, &error.diagnostic)]
}

fn hint(indent: &str, Diagnostic { hint, .. }: &Diagnostic<String>) -> Line {
    Line::default().text(indent).styled(Style::Dim, format!("hint: {hint}"))
}

/// How long ago, as precise as a person cares. Clocks of two machines may differ; nothing is shown as of the future.
fn ago(then: Timestamp, now: Timestamp) -> String {
    match now.duration_since(then).max(SignedDuration::ZERO).as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds @ 3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        seconds => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M:%SZ").to_string()
}
