//! The node's repositories can be used: their metadata is fetched again, and what could be updated is resolved.
//!
//! `skip_if_unavailable` must be off for all of them: some distributions have it on, and dnf then ends with 0 while a mirror is away.

use std::collections::BTreeSet;

use checks::{Check, Checking, Finding, Inconclusive, Part};
use explain::Code;
use host::CommandError;

use super::command;
use crate::{codes, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> = Check::new(
    "mirrors",
    "the package repositories can be reached and used",
    &[codes::MIRRORS, codes::PACKAGES_HELD],
    check,
);

const STRICT: [&str; 3] = ["--quiet", "--setopt=*.skip_if_unavailable=false", "--setopt=exit_on_lock=True"];

/// How `check-update` ends where there is something to update.
const UPDATES: &str = "exit status: 100";

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async {
        let _turn = super::turn_at_dnf().await;
        let run = async |arguments: &[&str]| {
            subject.host.commands.run(&command("dnf", STRICT).args(arguments.iter().copied())).await
        };
        let enabled = run(&["repolist", "--enabled"]).await;
        if matches!(&enabled, Ok(printed) if !has_repositories(&printed.stdout)) {
            return Ok(problem(codes::MIRRORS, "no package repository is enabled".to_owned()));
        }
        for arguments in [&["makecache", "--refresh"][..], &["check-update"]] {
            match run(arguments).await {
                Ok(_) => {}
                Err(CommandError::Failed { status, .. }) if status == UPDATES && arguments[0] == "check-update" => {}
                Err(CommandError::Failed { output, .. }) if output.contains("locked by") => {
                    return Ok(problem(codes::PACKAGES_HELD, explain::plain(&output).into_owned()));
                }
                Err(CommandError::Failed { output, .. }) => return Ok(problem(codes::MIRRORS, complaint(&output))),
                Err(error @ CommandError::NotStarted { .. }) => return Err(Inconclusive::from(error)),
            }
        }
        Ok(Vec::new())
    })
}

fn problem(code: Code, message: String) -> Vec<Finding> {
    vec![Finding::cause(code, Part::Network, message)]
}

/// From `dnf repolist`: a heading, then one repository a line.
fn has_repositories(list: &str) -> bool {
    list.lines().any(|line| !line.trim().is_empty() && !line.starts_with("repo id"))
}

/// What dnf complained about, with the repositories first.
fn complaint(output: &str) -> String {
    let away = repositories(output);
    let reported = explain::plain(output).into_owned();
    if away.is_empty() {
        return format!("dnf cannot use the repositories: {reported}");
    }
    let names = away.into_iter().collect::<Vec<_>>().join(", ");
    format!("dnf cannot use {names}: {reported}")
}

/// The repositories that an output names: `for repository 'baseos'`, `for repo "baseos"`.
fn repositories(output: &str) -> BTreeSet<&str> {
    let after = |words: &'static str| output.split(words).skip(1);
    ["repository '", "repo '", "repository \"", "repo \""]
        .into_iter()
        .flat_map(after)
        .filter_map(|rest| Some(&rest[..rest.find(['\'', '"'])?]))
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Machine, run},
        *,
    };

    #[tokio::test]
    async fn a_mirror_that_is_away_is_named() {
        let away = "exit status: 1|Errors during downloading metadata for repository 'appstream': / - Status code: 404 for \
                    https://mirror/repomd.xml / Error: Failed to download metadata for repo 'appstream': Cannot download \
                    repomd.xml";
        let locked = "exit status: 1|Error: metadata already locked by 3541";
        let mut reported = String::new();
        for (list, makecache, update) in [
            ("repo id repo name\nbaseos BaseOS\n", Ok(""), Ok("")),
            ("repo id repo name\nbaseos BaseOS\n", Ok(""), Err("exit status: 100|kernel.x86_64 5.14 baseos")),
            ("repo id repo name\n", Ok(""), Ok("")),
            ("baseos BaseOS\n", Err(away), Ok("")),
            ("baseos BaseOS\n", Err("exit status: 100|odd"), Ok("")),
            ("baseos BaseOS\n", Err(locked), Ok("")),
            ("baseos BaseOS\n", Ok(""), Err("exit status: 1|Error: Failed to load metadata for repo \"baseos\"")),
        ] {
            let machine = Machine::default().answering(move |command| {
                let answer = match command {
                    list_of if list_of.ends_with("repolist --enabled") => Ok(list),
                    fresh if fresh.ends_with("makecache --refresh") => makecache,
                    _ => update,
                };
                answer.map(str::to_owned).map_err(str::to_owned)
            });
            reported += &machine.checked(&CHECK, &run("a")).await;
        }
        insta::assert_snapshot!(reported);
    }
}
