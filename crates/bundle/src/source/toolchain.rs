//! Finds the pinned Go toolchain, or has it downloaded as a module.
//!
//! Every `go` since 1.21 fetches another toolchain by itself when asked to. An older one, such as Debian 12 has, can at
//! least download it, because a toolchain is published as a module like any other.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{Job, Refusal, needs};
use crate::{BundleError, command::Run, error::failed, table};

/// The pinned `go`, ready to run.
#[derive(Debug, Clone)]
pub(super) struct Toolchain {
    go: PathBuf,
}

impl Toolchain {
    /// Finds it; `needs` has seen to it that some `go` is there.
    pub(super) fn find(job: &Job) -> Result<Self, Refusal> {
        let missing =
            || BundleError::Tools { what: "the `go` command".to_owned(), packages: vec!["golang-go"], why: None };
        let go = needs::which("go").ok_or_else(|| Refusal::Unavailable(missing()))?;
        let found = Self { go };
        if found.is_pinned(job) {
            return Ok(found);
        }
        let downloaded = Self { go: found.download(job).map_err(Refusal::Unavailable)? };
        if downloaded.is_pinned(job) {
            return Ok(downloaded);
        }
        let what = format!("Go {}", table::GO);
        Err(Refusal::Unavailable(BundleError::Tools { what, packages: vec!["golang-go"], why: None }))
    }

    /// The `go` command with these arguments, unswayed by what a user has set for his own work.
    pub(super) fn run(&self, args: &[&str]) -> Run {
        Run::new(&self.go)
            .args(args)
            .env("GOTOOLCHAIN", format!("go{}", table::GO))
            .env("GOFLAGS", "")
            .env("GOWORK", "off")
    }

    fn is_pinned(&self, job: &Job) -> bool {
        let version = self.run(&["env", "GOVERSION"]).dir(job.work()).output(job.work(), job.stop);
        version.is_ok_and(|output| output.stdout.trim_ascii() == format!("go{}", table::GO).as_bytes())
    }

    fn download(&self, job: &Job) -> Result<PathBuf, BundleError> {
        let module = format!("golang.org/toolchain@v0.0.1-go{}.linux-{}", table::GO, job.arch.name());
        // Without a `go.mod`, old versions want to be inside a module to download anything.
        let go_mod = job.work().join("go.mod");
        fs::write(&go_mod, "module blackstart.local/toolchain\n").map_err(failed("write", &go_mod))?;
        let root = self.module(&module, job).map(|module| module.dir);
        fs::remove_file(&go_mod).map_err(failed("remove", &go_mod))?;
        let root = root?;
        // Modules carry no permissions.
        make_executable(&root.join("bin"))?;
        make_executable(&root.join(format!("pkg/tool/linux_{}", job.arch.name())))?;
        Ok(root.join("bin/go"))
    }

    /// Downloads a module, `path@version`.
    pub(super) fn module(&self, module: &str, job: &Job) -> Result<Module, BundleError> {
        let run = self.run(&["mod", "download", "-json", module]).dir(job.work());
        let (output, status) = run.finish(job.work(), job.stop)?;
        let answer: Module = serde_json::from_slice(&output.stdout).unwrap_or_default();
        if status.success() && answer.error.is_empty() {
            return Ok(answer);
        }
        let message = if answer.error.is_empty() { output.stderr } else { answer.error };
        Err(BundleError::Unreachable { location: format!("the Go module {module}"), why: message })
    }
}

/// What `go mod download -json` prints.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Module {
    /// Its directory in the module cache.
    pub(super) dir: PathBuf,
    /// Its `go.mod` in the module cache.
    pub(super) go_mod: PathBuf,
    error: String,
}

fn make_executable(dir: &Path) -> Result<(), BundleError> {
    for entry in fs::read_dir(dir).map_err(failed("list", dir))? {
        let path = entry.map_err(failed("list", dir))?.path();
        if path.is_file() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(failed("write", &path))?;
        }
    }
    Ok(())
}
