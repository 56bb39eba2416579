//! What the chores need on a machine, and how it gets there on Debian and its kin.

use crate::run::{output, run, say};

/// A program and the Debian package that has it.
pub(crate) struct Need {
    pub(crate) program: &'static str,
    pub(crate) package: &'static str,
}

/// For the tests.
pub(crate) const TESTS: &[Need] = &[
    Need { program: "cc", package: "gcc libc6-dev" },
    Need { program: "go", package: "golang-go" }, // components come from Go modules where releases cannot be reached; pki is compared with Go
    Need { program: "openssl", package: "openssl" }, // verifies our certificates
    Need { program: "curl", package: "curl" },    // asks clusters from outside
    Need { program: "busybox", package: "busybox-static" }, // what test pods run
    Need { program: "mount", package: "mount" },  // full and read-only disks
];

/// For the static release.
pub(crate) const DIST: &[Need] = &[Need { program: "musl-gcc", package: "musl-tools" }];

/// Installs the packages of those programs that are not there.
pub(crate) fn ensure(needs: &[Need]) -> Result<(), String> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !is_there(need.program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.package.split(' ')).collect();
    if !is_root() || !is_there("apt-get") {
        return Err(format!("please install first: {}", packages.join(" ")));
    }
    say(&format!("installing {}", packages.join(" ")));
    run("apt-get", &["update", "-q"])?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(packages);
    run("apt-get", &arguments)
}

/// Adds parts of the Rust toolchain that are not there. Without rustup they must have come with the toolchain.
pub(crate) fn ensure_toolchain(kind: &str, names: &[&str]) -> Result<(), String> {
    if !is_there("rustup") {
        return Ok(());
    }
    let mut arguments = vec![kind, "add"];
    arguments.extend(names);
    run("rustup", &arguments)
}

/// Whether this user may install packages and boot machines.
pub(crate) fn is_root() -> bool {
    output("id", &["-u"]).is_some_and(|id| id.trim() == "0")
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}
