//! What the lab's commands print.

use std::{collections::BTreeSet, fmt::Write};

use lab::{Capabilities, Cut, Lab, LabName, MachineState, MachineStatus};
use serde_json::json;

use crate::{
    Style,
    context::{Context, Ended, block_on},
    output::painted,
};

pub(super) fn list(context: &Context) -> Result<(), Ended> {
    let names = lab::list()?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "labs": names }))?);
    }
    if names.is_empty() {
        return Ok(context.out.text("no labs; `blackstart lab up` makes one\n")?);
    }
    Ok(context.out.text(&names.iter().map(|name| format!("{name}\n")).collect::<String>())?)
}

pub(super) fn status(context: &Context, lab: &Lab) -> Result<(), Ended> {
    let machines = block_on(lab::status(lab, &Capabilities::detect()?))??;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "lab": lab.name, "subnet": lab.subnet, "machines": machines }))?);
    }
    Ok(context.out.text(&table(&machines, context.out.color()))?)
}

pub(super) fn cuts(context: &Context, cuts: &BTreeSet<Cut>) -> Result<(), Ended> {
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "cuts": cuts }))?);
    }
    if cuts.is_empty() {
        return Ok(context.out.text("nothing is cut\n")?);
    }
    Ok(context.out.text(&cuts.iter().map(|cut| format!("{}\n", describe(cut))).collect::<String>())?)
}

/// `--name NAME` where it must be typed.
pub(super) fn option(name: &LabName) -> String {
    if name.as_str() == "lab" { String::new() } else { format!(" --name {name}") }
}

fn table(machines: &[MachineStatus], color: bool) -> String {
    let width = machines.iter().map(|machine| machine.name.len()).max().unwrap_or(0).max("MACHINE".len());
    let mut text =
        format!("{:<width$}  {:<9} {:<15} {:>7} {:>8}  CUT\n", "MACHINE", "STATE", "ADDRESS", "PID", "MEMORY");
    for MachineStatus { name, ip, state, pid, memory_mb, cuts, .. } in machines {
        let style = match state {
            MachineState::Running => Style::Good,
            MachineState::Degraded | MachineState::Missing => Style::Bad,
            _ => Style::Warning,
        };
        let state = painted(color, style, format!("{:<9}", state.word()));
        let pid = pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
        let memory = memory_mb.map_or_else(|| "-".to_owned(), |memory| format!("{memory} MB"));
        let cuts = cuts.iter().map(describe).collect::<Vec<_>>().join(", ");
        let line = format!("{name:<width$}  {state} {:<15} {pid:>7} {memory:>8}  {cuts}", ip.to_string());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn describe(cut: &Cut) -> String {
    match cut {
        Cut::All(one) => format!("{one} | everything"),
        Cut::Between(one, other) => format!("{one} | {other}"),
    }
}
