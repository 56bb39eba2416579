//! Packages of Fedora, RHEL and their relatives: what is installed ([`installed`]), how more are ([`install`]), and how they
//! go ([`remove`]).
//!
//! dnf waits for another dnf without end and without a word to us; so it is told not to wait, and we do, with a word to
//! whoever watches and an end. A repository that is away must be an error: some distributions leave it out silently.

mod trouble;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use engine::StepError;
use host::{Cmd, Host, Printed};
use trouble::read;

use crate::{
    codes,
    packaging::{self, Work},
};

/// What packages end with.
const SUFFIX: &str = ".rpm";

/// All installed packages with their versions.
pub(crate) async fn installed(host: &Host) -> Result<BTreeMap<String, String>, StepError> {
    let command = rpm(["--query", "--all", "--queryformat=%{NAME} %{VERSION}-%{RELEASE}\\n"]);
    let printed = host.commands.run(&command).await.map_err(|error| StepError::from_explained(&error))?;
    let lines = printed.stdout.lines().filter_map(|line| line.split_once(' '));
    Ok(lines.map(|(name, version)| (name.to_owned(), version.to_owned())).collect())
}

/// Installs packages, without what they only recommend: from the machine's own sources, or all that a directory has.
pub(crate) async fn install(host: &Host, names: &[&str], dir: Option<&Path>) -> Result<(), StepError> {
    let listed = names.join(", ");
    host.doing(format!("installing {listed}"));
    let command = dnf(["install", "--assumeyes", "--setopt=install_weak_deps=False"]);
    let Some(dir) = dir else {
        let command = command.args(names.iter().copied());
        return patiently(host, &command, Work::Install, &listed).await.map(drop);
    };
    let lacks = |what: &str| {
        let message = format!("{} does not have what is needed: {what}", dir.display());
        StepError::new(codes::NOT_IN_DIRECTORY, message).with_hint(
            "put the packages into the directory, with all that they depend on: `dnf download --resolve` fetches them",
        )
    };
    let found = if host.disk.exists(dir)? { host.disk.list(dir)? } else { Vec::new() };
    let files: Vec<&String> = found.iter().filter(|name| name.ends_with(SUFFIX)).collect();
    if files.is_empty() {
        return Err(lacks("no file in it ends with .rpm"));
    }
    // Without a list of what is in there, dnf resolves only between the files that it is given.
    let command = command.arg("--disablerepo=*").args(files.iter().map(|name| dir.join(name)));
    patiently(host, &command, Work::Install, &listed).await?;
    let there = installed(host).await?;
    let missing: Vec<&str> = names.iter().copied().filter(|name| !there.contains_key(*name)).collect();
    if missing.is_empty() { Ok(()) } else { Err(lacks(&missing.join(", "))) }
}

/// Removes the packages `asked`, and what came with them and nobody needs any more. Returns what stayed, and why.
pub(crate) async fn remove(host: &Host, asked: &[String], ours: &BTreeSet<String>) -> Result<Vec<String>, StepError> {
    let there = installed(host).await?;
    let mut goes = Vec::new();
    let mut stay = Vec::new();
    for name in asked.iter().filter(|name| there.contains_key(*name)) {
        let others: Vec<String> = needed_by(host, name).await?.difference(ours).cloned().collect();
        if others.is_empty() {
            goes.push(name.as_str());
        } else {
            stay.push(format!("the package {name} stays: {} would go with it", others.join(", ")));
        }
    }
    if !goes.is_empty() {
        let listed = goes.join(", ");
        host.doing(format!("removing {listed}"));
        // It removes what came as a dependency only, and leaves what somebody has asked for by name.
        let command = dnf(["remove", "--assumeyes", "--setopt=clean_requirements_on_remove=True"]).args(goes);
        patiently(host, &command, Work::Remove, &listed).await?;
    }
    Ok(stay)
}

/// The installed packages that dnf would remove with this one, because they need it.
async fn needed_by(host: &Host, name: &str) -> Result<BTreeSet<String>, StepError> {
    let question = ["repoquery", "--installed", "--recursive", "--queryformat=%{name}\\n", "--whatrequires", name];
    let printed = patiently(host, &dnf(question), Work::Remove, name).await?;
    let lines = printed.stdout.lines().map(str::trim).filter(|line| !line.is_empty() && *line != name);
    Ok(lines.map(str::to_owned).collect())
}

/// Runs a command, again and again while somebody else works with packages.
async fn patiently(host: &Host, command: &Cmd, work: Work, names: &str) -> Result<Printed, StepError> {
    let read = |said: &str| read(said, |pid| name_of(host, pid));
    let ended = packaging::patiently(host, || packaging::attempt(host, command, "dnf", read)).await;
    ended.map_err(|problem| problem.into_error(work, names))
}

/// What a process is called; one that is gone by now has no name.
fn name_of(host: &Host, pid: &str) -> Option<String> {
    let comm = host.disk.read(&Path::new("/proc").join(pid).join("comm")).ok()?;
    Some(String::from_utf8_lossy(&comm).trim().to_owned())
}

fn dnf<const N: usize>(arguments: [&str; N]) -> Cmd {
    let options = ["--quiet", "--setopt=*.skip_if_unavailable=false", "--setopt=exit_on_lock=True"];
    Cmd::new("dnf").args(options).args(arguments).env("LC_ALL", "C")
}

fn rpm<const N: usize>(arguments: [&str; N]) -> Cmd {
    Cmd::new("rpm").args(arguments).env("LC_ALL", "C")
}

#[cfg(test)]
mod tests;
