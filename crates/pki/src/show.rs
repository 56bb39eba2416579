//! The inventory as a text table. Colour repeats what a word says and never stands alone.

use anstyle::{AnsiColor, Style};

use crate::{
    Urgency,
    inventory::{Entry, State},
};

const COLUMNS: usize = 7;
const HEADER: [&str; COLUMNS] = ["NAME", "STATE", "EXPIRES", "LEFT", "URGENCY", "CA", "SUBJECT"];
const GAP: &str = "  ";

/// One aligned line per entry; below it the certificate's names and addresses, and its issuer where that is a stranger.
pub fn show(entries: &[Entry], colour: bool) -> String {
    let rows: Vec<[String; COLUMNS]> = entries.iter().map(cells).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).chain([HEADER[column].len()]).max();
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or_default());

    let mut lines = vec![line(&HEADER.map(str::to_owned), &widths, [Style::new(); COLUMNS])];
    for (entry, row) in entries.iter().zip(&rows) {
        let styles = if colour { styles(entry) } else { [Style::new(); COLUMNS] };
        lines.push(line(row, &widths, styles));
        lines.extend(below(entry));
    }
    lines.join("\n") + "\n"
}

fn cells(entry: &Entry) -> [String; COLUMNS] {
    let name = entry.name.to_owned();
    let state = state_word(entry.state).to_owned();
    let ca = entry.ca.unwrap_or("-").to_owned();
    let none = || "-".to_owned();
    match &entry.certificate {
        None => [name, state, none(), none(), none(), ca, none()],
        Some(facts) => [
            name,
            state,
            facts.not_after.strftime("%Y-%m-%d %H:%M UTC").to_string(),
            format!("{}d", facts.days_left),
            urgency_word(facts.urgency).to_owned(),
            ca,
            facts.subject.clone(),
        ],
    }
}

fn below(entry: &Entry) -> Vec<String> {
    let Some(facts) = &entry.certificate else { return Vec::new() };
    let issuer = (entry.state == State::Foreign).then(|| format!("{GAP}issuer: {}", facts.issuer));
    let names = (!facts.names.is_empty()).then(|| format!("{GAP}names: {}", facts.names.join(", ")));
    issuer.into_iter().chain(names).collect()
}

fn line(row: &[String; COLUMNS], widths: &[usize; COLUMNS], styles: [Style; COLUMNS]) -> String {
    let padded = row.iter().zip(widths).zip(styles).map(|((cell, width), style)| {
        let padding = " ".repeat(width - cell.len());
        format!("{style}{cell}{style:#}{padding}")
    });
    padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}

fn styles(entry: &Entry) -> [Style; COLUMNS] {
    let plain = Style::new();
    let state = match entry.state {
        State::Ok | State::External | State::Elsewhere => plain,
        State::Missing | State::Unreadable | State::NoKey | State::KeyMismatch | State::Foreign => {
            AnsiColor::Red.on_default()
        }
    };
    let urgency = match entry.certificate.as_ref().map(|facts| facts.urgency) {
        None => plain,
        Some(Urgency::Ok) => AnsiColor::Green.on_default(),
        Some(Urgency::Soon) => AnsiColor::Yellow.on_default(),
        Some(Urgency::Urgent) => AnsiColor::Red.on_default(),
        Some(Urgency::Expired) => AnsiColor::Red.on_default().bold(),
    };
    [plain, state, plain, urgency, urgency, plain, plain]
}

fn state_word(state: State) -> &'static str {
    match state {
        State::Ok => "ok",
        State::Missing => "missing",
        State::Unreadable => "unreadable",
        State::External => "external",
        State::Elsewhere => "elsewhere",
        State::NoKey => "no key",
        State::KeyMismatch => "key mismatch",
        State::Foreign => "foreign",
    }
}

fn urgency_word(urgency: Urgency) -> &'static str {
    match urgency {
        Urgency::Ok => "ok",
        Urgency::Soon => "soon",
        Urgency::Urgent => "urgent",
        Urgency::Expired => "expired",
    }
}
