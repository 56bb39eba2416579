//! `cargo xtask test`: everything that must be true before a change lands; and its parts alone.

use std::{path::PathBuf, process::Command};

use crate::{
    lanes, machine,
    run::{self, Background, part, run_with, say},
    seed,
};

/// The suites that boot machines, each named for what it proves, in the order of what they stand on.
pub(crate) const SUITES: &[&str] = &[
    "lab",
    "cluster",
    "security",
    "ha",
    "pivot",
    "backup",
    "diagnose",
    "reset",
    "faults",
    "recovery",
    "ceph",
    "prep",
    "reprovision",
];

/// How much of the suites that have too many cases for one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A few, which the seed chooses.
    Sample,
    /// Every one.
    Full,
}

/// Which cases are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    extent: Extent,
    seed: u64,
}

impl Choice {
    /// From the options of a command line, and what else is on it. Without `--seed` the commit chooses.
    pub(crate) fn read<'a>(options: &[&'a str]) -> Result<(Self, Vec<&'a str>), String> {
        let (mut extent, mut wanted, mut names) = (Extent::Sample, None, Vec::new());
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match *option {
                "--full" => extent = Extent::Full,
                "--seed" => {
                    let number = options.next().and_then(|number| number.parse().ok());
                    wanted = Some(number.ok_or("--seed needs a number, for example `--seed 20773`")?);
                }
                unknown if unknown.starts_with('-') => return Err(format!("there is no option `{unknown}`")),
                name => names.push(name),
            }
        }
        let seed = wanted.map_or_else(seed::chosen, Ok)?;
        Ok((Self { extent, seed }, names))
    }

    /// What the tests read; and prints how to have the same again.
    fn variables(self) -> Vec<(&'static str, String)> {
        say(&format!("{}={}", seed::VARIABLE, self.seed));
        let mut variables = vec![(seed::VARIABLE, self.seed.to_string()), ("PROPTEST_RNG_SEED", self.seed.to_string())];
        if self.extent == Extent::Full {
            variables
                .extend(["BLACKSTART_TEST_FULL", "BLACKSTART_RECOVERY"].into_iter().zip(["1".into(), "full".into()]));
        }
        variables
    }
}

pub(crate) fn run(choice: Choice) -> Result<(), String> {
    part("what the tests need", || machine::ensure(machine::TESTS))?;
    if machine::is_root() {
        format()?;
        program(SUITES[0])?;
        // Compilers of the components wait for downloads and disks, and so do lints and tests: each has what the other leaves.
        let material = Background::start(MATERIAL, &own("blackstart")?, &material())?;
        lint().and_then(|()| unit(choice))?;
        material.finish()?;
        return suites(SUITES, choice);
    }
    lint()?;
    unit(choice)?;
    let suites = SUITES.join(", ");
    say(&format!("the suites {suites} boot machines and need root: run `sudo cargo xtask test` for them"));
    Ok(())
}

/// `cargo xtask lint`: what can be seen by reading alone, before every commit.
pub(crate) fn lint() -> Result<(), String> {
    format()?;
    part("lints", || {
        // What needs machines is left out of plain `cargo test` and `cargo bench`, and so of `--all-targets` too.
        let suites = SUITES.iter().flat_map(|suite| ["--test", *suite]);
        let benches = ["--bench", "lab-boot", "--bench", "cluster"];
        let named: Vec<&str> = suites.chain(benches).collect();
        for targets in [&["--all-targets"], &named[..]] {
            let all = ["clippy", "--workspace", "--locked"];
            run::run("cargo", &[&all, targets, &["--", "-D", "warnings"]].concat())?;
        }
        Ok(())
    })?;
    // Of the whole workspace, so that nothing is compiled with other features than the unit tests have it.
    part("licences, bans and sources (deny.toml)", || {
        run::run("cargo", &["test", "--workspace", "--locked", "--quiet", "--test", "dependencies"])
    })?;
    part("docs", || {
        run_with("cargo", &["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings".into())])
    })
}

fn format() -> Result<(), String> {
    machine::ensure_toolchain("component", &["rustfmt", "clippy"])?;
    part("format", || run::run("cargo", &["fmt", "--all", "--check"]))
}

/// `cargo xtask unit`: the tests that need no machines. How many cases they have does not depend on the extent.
pub(crate) fn unit(choice: Choice) -> Result<(), String> {
    part("tests", || {
        let variables = Choice { extent: Extent::Sample, ..choice }.variables();
        run_with("cargo", &["test", "--workspace", "--locked", "--no-fail-fast"], &variables)
    })
}

/// `cargo xtask suite NAME...`, after what the machines are made of.
pub(crate) fn suites(names: &[&str], choice: Choice) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|name| !SUITES.contains(name)) {
        return Err(format!("there is no suite `{unknown}`; there are {}", SUITES.join(", ")));
    }
    if !machine::is_root() {
        return Err("suites boot machines: run them as root".into());
    }
    part("what the tests need", || machine::ensure(machine::TESTS))?;
    program(names[0])?;
    part(MATERIAL, || {
        let blackstart = own("blackstart")?;
        run::run(&blackstart, &material())?;
        run::run(&blackstart, &["lab", "destroy", "--name", "warm", "--yes"])
    })?;
    let variables = choice.variables();
    let suite = |name: &str| {
        let mut cargo = Command::new("cargo");
        // Of the whole workspace: naming the package would choose other features of the dependencies, and compile them again.
        cargo.args(["test", "--workspace", "--test", name, "--locked", "--", "--nocapture"]).envs(variables.clone());
        if choice.extent == Extent::Full {
            cargo.arg("--include-ignored");
        }
        cargo
    };
    lanes::run(names, &PathBuf::from(own("suites")?), suite)
}

/// Has the program made that the suites and the lab use.
fn program(suite: &str) -> Result<(), String> {
    part("the program", || run::run("cargo", &["test", "--workspace", "--locked", "--no-run", "--test", suite]))
}

/// What all machines of the suites are made of.
const MATERIAL: &str = "base image, components and Ceph for the lab: long the first time, then kept";

/// Makes it, or finds that it is there.
fn material() -> [&'static str; 10] {
    ["lab", "up", "--name", "warm", "--masters", "1", "--workers", "0", "--machines-only", "--ceph"]
}

/// A program that the tests have made: `cargo run` would compile another, with other features.
fn own(name: &str) -> Result<String, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find where this program is: {error}"))?;
    Ok(own.with_file_name(name).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_choose_cases() {
        let commit = seed::chosen().unwrap();
        for (options, extent, seed, names) in [
            (&[][..], Extent::Sample, commit, &[][..]),
            (&["--full"], Extent::Full, commit, &[]),
            (&["--seed", "7"], Extent::Sample, 7, &[]),
            (&["ha", "--seed", "8", "prep", "--full"], Extent::Full, 8, &["ha", "prep"]),
        ] {
            assert_eq!(Choice::read(options), Ok((Choice { extent, seed }, names.to_vec())), "{options:?}");
        }
        for options in [&["--seed"][..], &["--seed", "today"], &["--ful"]] {
            assert!(Choice::read(options).is_err(), "{options:?}");
        }
    }

    #[test]
    fn what_is_no_suite_is_named() {
        let choice = Choice { extent: Extent::Sample, seed: 1 };
        let refused = suites(&["ha", "hq"], choice).unwrap_err();
        assert!(refused.contains("`hq`") && refused.contains("recovery"), "{refused}");
    }
}
