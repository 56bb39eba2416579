//! `blackstart gather`: everything that helps to understand a node or a lab, in one archive without secrets.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

use ::gather::{Archive, GatherError, Gathered, Index, Progress};
use ::lab::{Capabilities, Lab, LabError, LabName};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use serde_json::json;

use crate::{
    Exit, Failure, Output,
    context::{Context, Ended, block_on},
    output::{note, print},
};

/// Standard output instead of a file.
const STDOUT: &str = "-";

pub(super) fn run(context: &Context, to: Option<&Path>, lab: Option<&str>) -> Result<(), Ended> {
    if let Some(path) = to.filter(|path| path.is_file()) {
        return Err(GatherError::Taken(path.to_path_buf()).into()); // before anything is asked
    }
    let gathered = lab.map_or_else(|| of_machine(context), |name| of_lab(context, name))?;
    let name = directory(&gathered.index.name, gathered.index.time);
    let packed = gathered.archive().pack(&name, gathered.index.time)?;
    if to == Some(Path::new(STDOUT)) {
        print(&packed)?;
        note(&summary(&gathered, "standard output", packed.len()));
        return Ok(());
    }
    let path = destination(to, &name);
    Archive::write(&path, &packed)?;
    let Index { items, .. } = &gathered.index;
    if context.out.is_json() {
        let left_out: Vec<_> = gathered.index.errors().map(|(name, why)| json!({ "name": name, "why": why })).collect();
        let result = json!({ "archive": path, "bytes": packed.len(), "items": items.len(), "left_out": left_out });
        return Ok(context.out.json(&result)?);
    }
    note(&missing(&gathered));
    Ok(context.out.text(&format!("{}\n", path.display()))?)
}

fn of_machine(context: &Context) -> Result<Gathered, Ended> {
    let root = context.real_path(Path::new("/"));
    let bar = Bar::new(context.out, "gathering");
    Ok(block_on(::gather::machine(&context.host, &context.layout, &root, &|progress| bar.show(progress)))??)
}

fn of_lab(context: &Context, name: &str) -> Result<Gathered, Ended> {
    ::lab::check_root()?;
    let name: LabName = name.parse().map_err(|error: LabError| Failure { exit: Exit::Usage, ..error.into() })?;
    let (lab, capabilities) = (Lab::open(&name)?, Capabilities::detect()?);
    let bar = Bar::new(context.out, "gathering from all machines");
    Ok(block_on(::gather::lab(&lab, &capabilities, &context.host, &|progress| bar.show(progress)))??)
}

/// What everything in the archive lies in, and the archive's own name.
fn directory(name: &str, time: Timestamp) -> String {
    format!("blackstart-gather-{name}-{}", time.strftime("%Y%m%dT%H%M%SZ"))
}

/// A directory gets a file of the usual name.
fn destination(to: Option<&Path>, name: &str) -> PathBuf {
    let file = format!("{name}.tar.gz");
    let path = match to {
        None => PathBuf::from(file),
        Some(dir) if dir.is_dir() => dir.join(file),
        Some(path) => path.to_path_buf(),
    };
    // Without a current directory the write says what is wrong.
    std::path::absolute(&path).unwrap_or(path)
}

fn summary(gathered: &Gathered, path: &str, bytes: usize) -> String {
    format!("{}{bytes} bytes written to {path}\n", missing(gathered))
}

/// What is not there, and why; in people's words.
fn missing(gathered: &Gathered) -> String {
    let errors: Vec<(&str, &str)> = gathered.index.errors().collect();
    let redacted: usize = gathered.index.items.iter().map(|item| item.redacted).sum();
    let mut text = format!("{} gathered", explain::counted(gathered.index.items.len() - errors.len(), "item"));
    if redacted > 0 {
        text.push_str(&format!(", {} taken out", explain::counted(redacted, "secret")));
    }
    if errors.is_empty() {
        return text + "; nothing is missing\n";
    }
    text.push_str("; missing or not whole:\n");
    text + &errors.iter().map(|(name, why)| format!("  {name}: {why}\n")).collect::<String>()
}

/// How far it is, on a terminal; elsewhere a line that says what is being done.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new(out: Output, what: &str) -> Self {
        if out.is_json() {
            return Self(None);
        }
        if !io::stderr().is_terminal() {
            note(&format!("{what} …\n"));
            return Self(None);
        }
        let bar = ProgressBar::new(0).with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{pos}/{len}] {prefix} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        Self(Some(bar))
    }

    fn show(&self, progress: &Progress<'_>) {
        if let Some(bar) = &self.0 {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
            bar.set_prefix(progress.last.to_owned());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_an_archive_goes() {
        let here = std::env::current_dir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let name = directory("worker-01", Timestamp::UNIX_EPOCH);
        assert_eq!(name, "blackstart-gather-worker-01-19700101T000000Z");
        for (to, expected) in [
            (None, here.join(format!("{name}.tar.gz"))),
            (Some(dir.path()), dir.path().join(format!("{name}.tar.gz"))),
            (Some(Path::new("x.tgz")), here.join("x.tgz")),
            (Some(Path::new("/srv/x.tgz")), "/srv/x.tgz".into()),
        ] {
            assert_eq!(destination(to, &name), expected, "{to:?}");
        }
    }
}
