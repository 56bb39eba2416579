//! What a shell offers for names: labs, their machines, nodes, steps, codes.
//!
//! A shell asks this very program at every press of the key (`BLACKSTART_COMPLETE=bash`), so what it offers is what is
//! there. Nothing is reported of what cannot be read: a key that was pressed is no place for errors. To offer values for
//! another argument: a line in `VALUES`.

use std::{env, iter, path::PathBuf};

use clap::{Command, CommandFactory};
use clap_complete::{ArgValueCandidates, CompleteEnv, CompletionCandidate, env::Shells};
use lab::{Lab, LabName};
use playbooks::{ceph, cluster};

use super::Cli;

/// By this a shell asks; its value is the shell's name.
const VARIABLE: &str = "BLACKSTART_COMPLETE";

type Values = fn() -> Vec<String>;

/// The commands below which an argument of this name takes such values; an empty one is every command.
const VALUES: &[(&str, &str, Values)] = &[
    ("", "node", nodes),
    ("node", "name", nodes),
    ("node", "only", steps),
    ("node", "skip_step", steps),
    ("", "lab", labs),
    ("lab", "name", labs),
    ("lab", "machine", machines),
    ("lab", "machines", machines),
    ("lab", "others", machines),
    ("explain", "code", codes),
];

/// Answers a shell that asks, and ends; otherwise does nothing.
pub fn answer() {
    CompleteEnv::with_factory(|| offering(Cli::command(), "")).var(VARIABLE).complete();
}

/// The script that makes a shell ask; `None` for a shell that cannot.
pub(crate) fn registration(shell: &str) -> Option<Vec<u8>> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let name = "blackstart";
    shells.completer(shell)?.write_registration(VARIABLE, name, name, name, &mut script).ok()?;
    Some(script)
}

fn offering(command: Command, group: &str) -> Command {
    let command = command.mut_args(|arg| {
        let fits = |(of, name, _): &&(&str, &str, Values)| (of.is_empty() || *of == group) && arg.get_id() == *name;
        match VALUES.iter().find(fits) {
            Some(&(_, _, values)) => {
                arg.add(ArgValueCandidates::new(move || values().into_iter().map(CompletionCandidate::new).collect()))
            }
            None => arg,
        }
    });
    command.mut_subcommands(|below| {
        let group = if group.is_empty() { below.get_name().to_owned() } else { group.to_owned() };
        offering(below, &group)
    })
}

/// The nodes of the configuration that the command line means.
fn nodes() -> Vec<String> {
    let dir = typed("--config-dir").or_else(|| env::var("CONFIG_DIR").ok());
    let dir = PathBuf::from(dir.unwrap_or_else(|| "/etc/cluster-config".to_owned()));
    let Some(cluster) = spec::check_dir(&dir).cluster else { return Vec::new() };
    cluster.machines().map(|node| node.name.clone()).collect()
}

/// Those of all nodes: which of them one has is in its cluster.yaml, and the command refuses the others.
fn steps() -> Vec<String> {
    cluster::ids::ALL.iter().chain(ceph::ids::ALL).map(ToString::to_string).collect()
}

fn labs() -> Vec<String> {
    lab::list().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// Of the lab that the command line means.
fn machines() -> Vec<String> {
    let name = typed("--name").unwrap_or_else(|| "lab".to_owned());
    let lab = name.parse::<LabName>().ok().and_then(|name| Lab::open(&name).ok());
    lab.into_iter().flat_map(|lab| lab.machines).map(|machine| machine.name).collect()
}

fn codes() -> Vec<String> {
    crate::codes::all().iter().map(|code| code.id.to_owned()).collect()
}

/// The value of an option in what was typed so far.
fn typed(option: &str) -> Option<String> {
    let words: Vec<String> = env::args().collect();
    let next = words.iter().skip(1).map(String::as_str).chain(iter::once(""));
    words.iter().zip(next).find_map(|(word, next)| match word.strip_prefix(option) {
        Some("") => Some(next.to_owned()),
        Some(rest) => rest.strip_prefix('=').map(str::to_owned),
        None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(command: &Command, group: &str, of: &str, name: &str) -> usize {
        let here = command.get_arguments().filter(|arg| (of.is_empty() || of == group) && arg.get_id() == name).count();
        let below = command
            .get_subcommands()
            .map(|below| count(below, if group.is_empty() { below.get_name() } else { group }, of, name));
        here + below.sum::<usize>()
    }

    #[test]
    fn every_line_of_the_table_is_an_argument() {
        for (of, name, _) in VALUES {
            assert!(count(&Cli::command(), "", of, name) > 0, "`{of}` has no `{name}`");
        }
    }
}
