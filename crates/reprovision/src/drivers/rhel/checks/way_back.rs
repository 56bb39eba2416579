//! What an update would replace can be had again: dnf undoes a transaction with packages of a repository, it keeps none itself.
//!
//! A warning: whether the payload updates a package is its business.

use std::collections::BTreeSet;

use checks::{Check, Checking, Finding, Inconclusive, Part};

use super::command;
use crate::{codes, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("way-back", "packages that can be updated can be put back", &[codes::NO_OLD_PACKAGES], check);

/// How many packages a message names.
const NAMED: usize = 6;
/// Kernels come beside each other: the way back from a new one only removes that.
const BESIDE: &str = "kernel";

const NAME: &str = "--queryformat=%{name}.%{arch}\\n";
const VERSION: &str = "--queryformat=%{name}-%{version}-%{release}.%{arch}\\n";

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async {
        let _turn = super::turn_at_dnf().await;
        let updated = ask(subject, NAME, "--upgrades", &BTreeSet::new()).await?;
        let updated: BTreeSet<String> = updated.into_iter().filter(|name| !name.starts_with(BESIDE)).collect();
        if updated.is_empty() {
            return Ok(Vec::new());
        }
        let installed = ask(subject, VERSION, "--installed", &updated).await?;
        let available = ask(subject, VERSION, "--available", &updated).await?;
        Ok(evaluate(&installed, &available))
    })
}

async fn ask(
    subject: &Subject,
    format: &str,
    which: &str,
    names: &BTreeSet<String>,
) -> Result<BTreeSet<String>, Inconclusive> {
    let question = command("dnf", ["--quiet", "--setopt=exit_on_lock=True", "repoquery", format, which]);
    let printed = subject.host.commands.run(&question.args(names)).await?;
    let lines = printed.stdout.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

fn evaluate(installed: &BTreeSet<String>, available: &BTreeSet<String>) -> Vec<Finding> {
    let gone: Vec<&str> = installed.difference(available).map(String::as_str).collect();
    if gone.is_empty() {
        return Vec::new();
    }
    let more = if gone.len() > NAMED { format!(" and {} more", gone.len() - NAMED) } else { String::new() };
    let named = gone.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let message = format!("no repository has {named}{more}: once updated, they cannot be put back");
    vec![Finding::warning(codes::NO_OLD_PACKAGES, Part::Machine, message)]
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Machine, run},
        *,
    };

    #[tokio::test]
    async fn what_no_repository_has_is_named() {
        let mut reported = String::new();
        for (updated, available) in [
            ("", ""),
            ("kernel-core.x86_64\n", ""),
            ("bash.x86_64\nvim.x86_64\n", "bash-5-1.x86_64\n\nbash-5-2.x86_64\nvim-9-1.x86_64\n"),
            ("bash.x86_64\nvim.x86_64\n", "bash-5-2.x86_64\nvim-9-1.x86_64\n"),
        ] {
            let machine = Machine::default().answering(move |command| {
                let answer = match command {
                    updates if updates.contains("--upgrades") => updated,
                    known if known.contains("--available bash.x86_64 vim.x86_64") => available,
                    _ => "bash-5-1.x86_64\nvim-9-1.x86_64\n",
                };
                Ok(answer.to_owned())
            });
            reported += &machine.checked(&CHECK, &run("a")).await;
        }
        let many: BTreeSet<String> = (1..=9).map(|number| format!("p{number}-1-1.noarch")).collect();
        reported += &evaluate(&many, &BTreeSet::new())[0].evidence;
        insta::assert_snapshot!(reported);
    }
}
