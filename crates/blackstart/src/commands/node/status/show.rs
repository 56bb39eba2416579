//! A status for people: what matters first, then the parts. Signs and words say what the colours say.

use std::fmt::Write;

use ::explain::Diagnostic;
use jiff::Timestamp;
use nodekit::run_record::{OpenStep, Outcome, RecordedError, RunSummary};

use super::{
    evaluate::{State, Status},
    facts::{Certificate, Condition, Health, Unit},
};
use crate::{Style, commands::node::timeline::labels, output::painted, progress::between};

/// The whole answer.
pub(super) fn show(status: &Status, color: bool) -> String {
    let mut text = headline(status, color);
    text += &about(status);
    text += &problems(status, color);
    text += &error(status, color);
    text += &units(status, color);
    text += &conditions(status, color);
    text + &inconclusive(status, color)
}

fn headline(status: &Status, color: bool) -> String {
    let node = status.node.as_deref().unwrap_or("this machine");
    let role = status.role.as_ref().map(|role| format!(" ({role})")).unwrap_or_default();
    let (words, style) = match status.state {
        State::NeverStarted => ("nothing was ever started here", Style::Warning),
        State::Working => ("is being worked on", Style::Strong),
        State::Failed => ("FAILED to become a node", Style::Bad),
        State::Interrupted => ("was INTERRUPTED on its way", Style::Bad),
        State::Stopped => ("was stopped on its way", Style::Warning),
        State::Joined => ("has joined; whether it is Ready CANNOT BE SEEN", Style::Warning),
        State::NotReady => ("has joined and is NOT Ready", Style::Bad),
        State::Degraded => ("is Ready, but something is WRONG", Style::Warning),
        State::Ready => ("is Ready", Style::Good),
        State::Retired => ("is retired: the masters have taken over", Style::Good),
    };
    let separator = if status.state == State::NeverStarted { ":" } else { "" };
    format!("{}{role}{separator} {}\n", painted(color, Style::Strong, node), painted(color, style, words))
}

fn about(status: &Status) -> String {
    let now = status.now;
    let mut lines = Vec::new();
    lines.extend(status.cluster.as_ref().map(|cluster| ("cluster", cluster.clone())));
    lines.extend(status.joined_at.map(|at| ("joined", format!("{} ({})", clock(at), ago(at, now)))));
    lines.extend(status.run.as_ref().map(|run| ("last run", last_run(run, status.this_boot, now))));
    for OpenStep { id, what, since, .. } in status.run.iter().flat_map(RunSummary::waiting) {
        let since = since.map(|since| format!(", for {}", between(since, now))).unwrap_or_default();
        lines.push(("waits for", format!("{what} (step `{id}`{since})")));
    }
    lines.extend(certificates(status));
    lines.extend(advice(status.state).map(|advice| ("next", advice.to_owned())));
    if !status.api.nodes.is_empty() {
        let ready = status.api.nodes.values().filter(|ready| **ready).count();
        let list: Vec<String> = status
            .api
            .nodes
            .iter()
            .map(|(name, ready)| if *ready { name.clone() } else { format!("{name} (NOT Ready)") })
            .collect();
        let absent = &status.api.not_joined;
        let missing = if absent.is_empty() { String::new() } else { format!("; not joined: {}", absent.join(", ")) };
        let all = list.len() + absent.len();
        lines.push(("nodes", format!("{ready} of {all} Ready: {}{missing}", list.join(", "))));
    }
    lines.into_iter().map(|(name, value)| format!("  {name:<12} {value}\n")).collect()
}

fn last_run(run: &RunSummary, this_boot: bool, now: Timestamp) -> String {
    let took = run.ended.map(|ended| between(run.started, ended)).map(|took| format!(" in {took}")).unwrap_or_default();
    let boot = if this_boot { "" } else { ", in an earlier boot" };
    format!(
        "`{}` {}: {} of {} steps{took}, began {}{boot}",
        labels::command(run.purpose),
        labels::outcome(run.outcome),
        run.done,
        run.total,
        ago(run.started, now)
    )
}

/// What to do where nothing else says it.
fn advice(state: State) -> Option<&'static str> {
    match state {
        State::NeverStarted => Some("`blackstart node up` makes this machine a node of its cluster"),
        State::Interrupted | State::Stopped => Some("`blackstart node up` goes on from there"),
        State::NotReady | State::Joined | State::Degraded => Some("`blackstart diagnose` finds the cause"),
        State::Working | State::Failed | State::Ready => None,
        State::Retired => Some("use the machine for something else, and take it out of cluster.yaml"),
    }
}

fn certificates(status: &Status) -> Option<(&'static str, String)> {
    let Certificate { name, not_after, days_left, .. } = status.certificates.next.as_ref()?;
    let (count, at) = (status.certificates.count, clock(*not_after));
    Some((
        "certificates",
        if *days_left < 0 {
            format!("{count}; {name} has expired at {at}")
        } else {
            format!("{count}; the next to expire is {name} in {days_left} days ({at})")
        },
    ))
}

fn problems(status: &Status, color: bool) -> String {
    if status.problems.is_empty() {
        return String::new();
    }
    let word = painted(color, Style::Bad, "wrong");
    let list: String = status.problems.iter().map(|problem| format!("  ✗ {problem}\n")).collect();
    format!("\n{word}:\n{list}")
}

fn error(status: &Status, color: bool) -> String {
    let Some(run) = &status.run else { return String::new() };
    let Some(RecordedError { step, diagnostic, time }) = &run.last_error else { return String::new() };
    let Diagnostic { code, message, hint } = diagnostic;
    let step = step.as_ref().map(|step| format!("step `{step}`: ")).unwrap_or_default();
    let (overcome, style) =
        if run.outcome == Outcome::Done { (", overcome since", Style::Dim) } else { ("", Style::Bad) };
    let word = painted(color, style, format!("last error[{code}]"));
    format!("\n{word} ({}{overcome}): {step}{message}\n  hint: {hint}\n", ago(*time, status.now))
}

fn units(status: &Status, color: bool) -> String {
    if status.units.is_empty() {
        return String::new();
    }
    let width = status.units.iter().map(|unit| unit.name.len()).max().unwrap_or_default();
    let longest = status.units.iter().map(|unit| unit.state.len()).max().unwrap_or_default();
    let mut text =
        format!("\n  {:<width$}  {:<13}  {:<longest$}  {:<15}  RESTARTS\n", "UNIT", "HEALTH", "SYSTEMD", "SINCE");
    for Unit { name, health, state, since, restarts, last_log_line } in &status.units {
        let (sign, style) = sign(*health);
        let since = since.map_or_else(|| "-".to_owned(), |since| ago(since, status.now));
        let health = painted(color, style, format!("{health:<13}"));
        let sign = painted(color, style, sign);
        let _ = writeln!(text, "{sign} {name:<width$}  {health}  {state:<longest$}  {since:<15}  {restarts}");
        if let Some(last_log_line) = last_log_line {
            let _ = writeln!(text, "    last log line: {last_log_line}");
        }
    }
    text
}

fn sign(health: Health) -> (&'static str, Style) {
    match health {
        Health::Ok => ("✓", Style::Good),
        Health::Starting => ("…", Style::Strong),
        Health::Failing => ("✗", Style::Bad),
        Health::Stopped => ("-", Style::Warning),
        Health::Missing => ("-", Style::Dim),
    }
}

fn conditions(status: &Status, color: bool) -> String {
    let width = status.api.conditions.iter().map(|condition| condition.kind.len()).max();
    let Some(width) = width else { return String::new() };
    let mut text = format!("\n  {:<width$}  STATUS   SINCE            WHAT THE KUBELET SAYS\n", "CONDITION");
    for condition @ Condition { kind, status: value, message, since, .. } in &status.api.conditions {
        let (sign, style) = if is_good(condition) { ("✓", Style::Good) } else { ("✗", Style::Bad) };
        let since = since.map(|since| ago(since, status.now)).unwrap_or_default();
        let (sign, value) = (painted(color, style, sign), painted(color, style, format!("{value:<7}")));
        let _ = writeln!(text, "{sign} {kind:<width$}  {value}  {since:<15}  {message}");
    }
    text
}

/// `Ready` is good when it is true, all others when they are not.
fn is_good(condition: &Condition) -> bool {
    condition.status == if condition.kind == "Ready" { "True" } else { "False" }
}

/// What the picture lacks. What is a problem is listed above.
fn inconclusive(status: &Status, color: bool) -> String {
    let mut lines = status.inconclusive.clone();
    let api = status.api.why.as_ref().map(|why| format!("API: {why}"));
    lines.extend(api.filter(|_| !status.problems.iter().any(|problem| problem.starts_with("API "))));
    if lines.is_empty() {
        return String::new();
    }
    let word = painted(color, Style::Dim, "inconclusive");
    let list: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("\n{word}:\n{list}")
}

fn clock(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn ago(time: Timestamp, now: Timestamp) -> String {
    format!("{} ago", between(time, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::node::status::samples;

    #[test]
    fn every_state_for_people() {
        let text: String = samples::all()
            .into_iter()
            .map(|(case, facts, ..)| format!("# {case}\n{}\n", show(&Status::of(facts), false)))
            .collect();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn colours_add_nothing_to_the_words() {
        let styles = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
        for (case, facts, ..) in samples::all() {
            let status = Status::of(facts);
            assert_ne!(show(&status, true), show(&status, false), "{case}");
            assert_eq!(styles.replace_all(&show(&status, true), ""), show(&status, false), "{case}");
        }
    }
}
