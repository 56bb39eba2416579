//! What building from source needs on this machine, and how it gets there on Debian and its kin.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use super::Job;
use crate::{BundleError, State, Stop, command::Run, component::Library};

/// Something that must be installed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    /// What it is, for people.
    what: &'static str,
    /// How to see that it is there.
    sign: Sign,
    /// The Debian package that has it.
    package: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Sign {
    Program(&'static str),
    Library(&'static str),
    /// Compiles a program that does nothing, statically.
    StaticC,
}

pub(crate) const GO: &[Need] = &[Need { what: "the `go` command", sign: Sign::Program("go"), package: "golang-go" }];

pub(crate) const C: &[Need] = &[
    Need { what: "the C compiler `gcc`", sign: Sign::Program("gcc"), package: "gcc" },
    Need { what: "the C library for static programs", sign: Sign::StaticC, package: "libc6-dev" },
];

/// Go code that calls C code in these libraries.
pub(crate) fn cgo(libraries: &[Library]) -> Vec<Need> {
    let pkg_config = Need { what: "`pkg-config`", sign: Sign::Program("pkg-config"), package: "pkg-config" };
    let library = |it: &Library| Need { what: it.name, sign: Sign::Library(it.name), package: it.package };
    C.iter().copied().chain([pkg_config]).chain(libraries.iter().map(library)).collect()
}

/// Sees to it that needs are met.
pub(crate) struct Needs {
    /// Install what is missing, if this is root on a machine with apt.
    install: bool,
    /// One installation at a time.
    busy: Mutex<()>,
}

impl Needs {
    pub(crate) fn new(install: bool) -> Self {
        Self { install, busy: Mutex::new(()) }
    }

    /// Looks for what is needed, and installs what is missing where that is allowed and possible.
    pub(crate) fn ensure(&self, needs: &[Need], job: &Job) -> Result<(), BundleError> {
        let _one_at_a_time = self.busy.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let lacking = missing(needs, job);
        let Some(first) = lacking.first() else { return Ok(()) };
        let packages: Vec<_> = lacking.iter().map(|need| need.package).collect();
        let may_install = self.install && nix::unistd::geteuid().is_root() && which("apt-get").is_some();
        // A check that was stopped finds nothing either.
        job.stop.check()?;
        let what = first.what.to_owned();
        if !may_install {
            return Err(BundleError::Tools { what, packages, why: None });
        }
        job.emit(State::Installing(packages.clone()));
        let installed = install(&packages, job.work(), job.stop);
        job.stop.check()?;
        match installed {
            Ok(()) if missing(needs, job).is_empty() => Ok(()),
            Ok(()) => Err(BundleError::Tools { what, packages, why: None }),
            Err(why) => Err(BundleError::Tools { what, packages, why: Some(Box::new(why)) }),
        }
    }
}

fn missing(needs: &[Need], job: &Job) -> Vec<Need> {
    needs.iter().filter(|need| !need.sign.is_there(job.work(), job.stop)).copied().collect()
}

impl Sign {
    fn is_there(self, scratch: &Path, stop: &Stop) -> bool {
        match self {
            Self::Program(name) => which(name).is_some(),
            Self::Library(name) => Run::new("pkg-config").args(["--exists", name]).output(scratch, stop).is_ok(),
            Self::StaticC => {
                let (source, program) = (scratch.join("nothing.c"), scratch.join("nothing"));
                std::fs::write(&source, "int main(void) { return 0; }\n").is_ok()
                    && Run::new("gcc").args(["-static", "-o"]).args([&program, &source]).output(scratch, stop).is_ok()
            }
        }
    }
}

fn install(packages: &[&str], scratch: &Path, stop: &Stop) -> Result<(), BundleError> {
    let apt = || Run::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive");
    let packages = || packages.iter().copied();
    let add = || apt().args(["install", "-y", "-q", "--no-install-recommends"]).args(packages());
    if add().output(scratch, stop).is_ok() {
        return Ok(());
    }
    // The list of packages may be old or not there at all, as on a fresh image.
    apt().args(["update", "-q"]).output(scratch, stop)?;
    add().output(scratch, stop).map(|_| ())
}

/// The path of a program, as a shell would find it; also where Go's own installer puts it.
pub(super) fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).chain(["/usr/local/go/bin".into()]);
    dirs.map(|dir| dir.join(name)).find(|path| path.is_file())
}
