//! There is room for another deployment and for images. How large they are, nobody says before they are there.

use std::path::Path;

use checks::{Check, Checking, Finding, Inconclusive, Part};
use host::Cmd;

use super::problem;
use crate::{codes::NO_SPACE, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("space", "enough space is free for another deployment of the system", &[NO_SPACE], check);

/// In KiB, as `df` counts.
const GIB: u64 = 1 << 20;
const LEAST: u64 = 4 * GIB;
/// Where deployments are, and where images are. On RHCOS `/` is an image of its own, always full.
const PLACES: [&str; 2] = ["/sysroot", "/var"];

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move {
        let mut found = Vec::new();
        for place in PLACES {
            let place = if subject.host.disk.exists(Path::new(place))? { place } else { "/" };
            let df = Cmd::new("df").args(["-Pk", place]).env("LC_ALL", "C");
            let printed = subject.host.commands.run(&df).await?.stdout;
            let (device, free) =
                read(&printed).ok_or_else(|| Inconclusive(format!("`df` answers `{}`", printed.trim())))?;
            found.push((device, place, free));
        }
        Ok(evaluate(&found))
    })
}

/// First and fourth column of the one line below the heading.
fn read(printed: &str) -> Option<(String, u64)> {
    let mut columns = printed.lines().nth(1)?.split_whitespace();
    Some((columns.next()?.to_owned(), columns.nth(2)?.parse().ok()?))
}

/// Two places of one file system are said once.
fn evaluate(places: &[(String, &str, u64)]) -> Vec<Finding> {
    let mut said: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for (device, place, free) in places {
        if *free < LEAST && !said.contains(&device.as_str()) {
            said.push(device);
            let evidence = format!("{} MiB are free in {place}, and {} are needed", free >> 10, LEAST >> 10);
            found.push(problem(NO_SPACE, Part::Machine, evidence));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{
        super::{super::testing::Machine, reported},
        *,
    };

    fn df(device: &str, free: u64) -> String {
        format!("Filesystem 1024-blocks Used Available Capacity Mounted on\n{device} 100 1 {free} 1% /x\n")
    }

    #[tokio::test]
    async fn each_file_system_is_looked_at_once() {
        let mut text = String::new();
        for (case, sysroot, var) in [
            ("room", df("/dev/sda4", LEAST), df("/dev/sda4", LEAST)),
            ("one file system, full", df("/dev/sda4", LEAST - 1), df("/dev/sda4", LEAST - 1)),
            ("/var of its own, full", df("/dev/sda4", LEAST), df("/dev/sdb1", 100)),
            ("no answer", String::new(), String::new()),
        ] {
            let machine = Machine::default();
            machine.write("/sysroot/x", "");
            machine.write("/var/x", "");
            machine.answers(move |command| match command {
                "df -Pk /sysroot" => Some(Ok(sysroot.clone())),
                "df -Pk /var" => Some(Ok(var.clone())),
                _ => None,
            });
            text += &format!("{case}:\n{}", reported(&CHECK, &machine).await);
        }
        insta::assert_snapshot!(text);
    }
}
