//! Packages of Fedora, RHEL and their relatives: what is installed ([`installed`]), how more are ([`install`]), and how they
//! go ([`remove`]).
//!
//! dnf waits for another dnf without end and without a message; so it is run without waiting, and we wait, with a message in the
//! progress and a deadline. A repository that is away must be an error: some distributions leave it out silently. rpm has
//! no state for a package that was interrupted halfway; who knows of one has it begun again ([`forget`]).

mod failure;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use engine::StepError;
use failure::read;
use host::{Cmd, Host, Printed};

use crate::{
    codes,
    packaging::{self, Failure, Problem, Work},
};

/// What packages end with.
const SUFFIX: &str = ".rpm";

/// How dnf says that something that is depended on cannot be had.
const UNMET: &str = "nothing provides";

/// All installed packages with their versions.
pub async fn installed(host: &Host) -> Result<BTreeMap<String, String>, StepError> {
    let command = rpm(["--query", "--all", "--queryformat=%{NAME} %{VERSION}-%{RELEASE}\\n"]);
    let printed = host.commands.run(&command).await.map_err(|error| StepError::from_explained(&error))?;
    let lines = printed.stdout.lines().filter_map(|line| line.split_once(' '));
    Ok(lines.map(|(name, version)| (name.to_owned(), version.to_owned())).collect())
}

/// Installs packages, without what they only recommend: from the machine's own sources, or all that a directory has.
pub async fn install(host: &Host, names: &[&str], dir: Option<&Path>) -> Result<(), StepError> {
    let listed = names.join(", ");
    let command = dnf(["install", "--assumeyes", "--setopt=install_weak_deps=False"]);
    let Some(dir) = dir else {
        host.doing(format!("installing {listed}"));
        let installed = with_retries(host, &command.args(names.iter().copied())).await;
        return installed.map(drop).map_err(|problem| problem.into_error(Work::Install, &listed));
    };
    let lacks = |what: &str| {
        let message = format!("{} does not have what is needed: {what}", dir.display());
        StepError::new(codes::NOT_IN_DIRECTORY, message).with_hint(
            "put the packages into the directory, with all that they depend on: `dnf download --resolve` fetches them",
        )
    };
    let found = if host.disk.exists(dir)? { host.disk.list(dir)? } else { Vec::new() };
    let files: Vec<PathBuf> = found.iter().filter(|name| name.ends_with(SUFFIX)).map(|name| dir.join(name)).collect();
    if files.is_empty() {
        return Err(lacks("no file in it ends with .rpm"));
    }
    let error = |problem: Problem| match problem {
        Problem::Failure(Failure::Failed(reported)) if reported.contains(UNMET) => lacks(&reported),
        problem => problem.into_error(Work::Install, &listed),
    };
    let question = rpm(["--query", "--package", "--queryformat=%{NAME}\\n"]).args(&files);
    let offered = with_retries(host, &question).await.map_err(error)?.stdout;
    let missing: Vec<&str> = names.iter().copied().filter(|name| !offered.lines().any(|line| line == *name)).collect();
    if !missing.is_empty() {
        return Err(lacks(&missing.join(", ")));
    }
    let before = installed(host).await?;
    host.doing(format!("installing {listed}"));
    // Without a list of what is in there, dnf resolves only between the files that it is given.
    with_retries(host, &command.arg("--disablerepo=*").args(&files)).await.map_err(error)?;
    let came = installed(host).await?.into_keys().filter(|name| !before.contains_key(name));
    let with_them: Vec<String> = came.filter(|name| !names.contains(&name.as_str())).collect();
    mark(host, &with_them).await.map_err(error)
}

/// Marks for dnf that these packages were not asked for by name: it takes each file that it was given for something to keep.
async fn mark(host: &Host, names: &[String]) -> Result<(), Problem> {
    if names.is_empty() {
        return Ok(());
    }
    let as_dependency = |word: &str| dnf(["--disablerepo=*", "mark", word]).args(names);
    match with_retries(host, &as_dependency("remove")).await {
        // dnf 5 has another word for it.
        Err(Problem::Failure(Failure::Failed(_))) => with_retries(host, &as_dependency("dependency")).await.map(drop),
        ended => ended.map(drop),
    }
}

/// Has rpm forget packages whose installation was interrupted, so that the next one is a first one again.
///
/// rpm lists a package before its scripts have run, and what they do at a first installation they do only where it does
/// not know the package; installing it once more would not finish what was interrupted. No file is touched.
pub async fn forget(host: &Host, names: &[String], before: &BTreeSet<String>) -> Result<(), StepError> {
    disown(host, names, before).await?;
    let listed = names.join(", ");
    host.doing(format!("starting again with what was interrupted: {listed}"));
    let command = rpm(["--erase", "--justdb", "--nodeps", "--noscripts", "--notriggers"]).args(names);
    with_retries(host, &command).await.map(drop).map_err(|problem| problem.into_error(Work::Install, &listed))
}

/// Marks for dnf what has come only because the packages `names` need it. Of an interrupted installation it does not know, and
/// would keep that when they go.
pub async fn disown(host: &Host, names: &[String], before: &BTreeSet<String>) -> Result<(), StepError> {
    let mut with_them = Vec::new();
    for name in installed(host).await?.into_keys().filter(|name| !before.contains(name) && !names.contains(name)) {
        let needed_by = needed_by(host, &name).await?;
        if names.iter().any(|asked| needed_by.contains(asked)) {
            with_them.push(name);
        }
    }
    mark(host, &with_them).await.map_err(|problem| problem.into_error(Work::Remove, &with_them.join(", ")))
}

/// Removes the packages `asked`, and what came with them and no package needs any more. Returns what stayed, and why.
pub async fn remove(host: &Host, asked: &[String], ours: &BTreeSet<String>) -> Result<Vec<String>, StepError> {
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
        // It removes what came as a dependency only, and leaves what was asked for by name.
        let command = dnf(["remove", "--assumeyes", "--setopt=clean_requirements_on_remove=True"]).args(goes);
        with_retries(host, &command).await.map_err(|problem| problem.into_error(Work::Remove, &listed))?;
    }
    Ok(stay)
}

/// The installed packages that dnf would remove with this one, because they need it.
async fn needed_by(host: &Host, name: &str) -> Result<BTreeSet<String>, StepError> {
    let question = ["repoquery", "--installed", "--recursive", "--queryformat=%{name}\\n", "--whatrequires", name];
    let printed = with_retries(host, &dnf(question)).await.map_err(|problem| problem.into_error(Work::Remove, name))?;
    let lines = printed.stdout.lines().map(str::trim).filter(|line| !line.is_empty() && *line != name);
    Ok(lines.map(str::to_owned).collect())
}

/// Runs dnf with these arguments, as everything here does: waiting for others, with an error for a repository that is away.
pub async fn run(host: &Host, arguments: &[&str]) -> Result<Printed, Problem> {
    with_retries(host, &dnf([]).args(arguments.iter().copied())).await
}

/// Runs a command, again and again while another process works with packages. While a process has rpm's lock it is not even
/// tried: dnf would come to it last, not say who that is, and leave a line in its history each time.
async fn with_retries(host: &Host, command: &Cmd) -> Result<Printed, Problem> {
    packaging::with_retries(host, || async move {
        if let Some(holder) = holder(host).await {
            return Err(Problem::Failure(Failure::Busy(holder)));
        }
        packaging::attempt(host, command, "dnf", |output| read(output, |pid| name_of(host, pid))).await
    })
    .await
}

/// The process that has rpm's lock. Where that cannot be seen, dnf says at least that it is held.
pub async fn holder(host: &Host) -> Option<String> {
    let question = ["--noheadings", "--raw", "--notruncate", "--output=PID,COMMAND,PATH"];
    let printed = host.commands.run(&Cmd::new("lslocks").args(question)).await.ok()?;
    failure::holder(&printed.stdout)
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
