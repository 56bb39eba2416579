//! Builds components from Go modules, with the `go` command; it talks to whichever module proxy the user has set up.
//!
//! `go` keeps what it downloads and compiles in its own caches, so a component that is interrupted goes on quickly.
//! One component is built at a time: `go build` alone keeps all processors busy.

use std::{fs, path::Path, sync::OnceLock};

use super::{
    Files, Job, Refusal,
    needs::{self, Needs},
    scratch::{GoMod, go_mod},
    toolchain::{Module, Toolchain},
};
use crate::{
    BundleError, SourceKind, State,
    command::Run,
    component::{Build, C, Go},
    error::failed,
    recipe::{c_flags, go_environment, go_flags},
};

/// The source.
#[derive(Default)]
pub(crate) struct Modules {
    toolchain: OnceLock<Toolchain>,
}

impl Modules {
    /// The programs of a component.
    pub(crate) fn build(&self, job: &Job, needs: &Needs) -> Result<Files, Refusal> {
        needs.ensure(needs::GO, job).map_err(Refusal::Unavailable)?;
        let toolchain = if let Some(toolchain) = self.toolchain.get() {
            toolchain
        } else {
            let found = Toolchain::find(job)?;
            self.toolchain.get_or_init(|| found)
        };
        match &job.component.build {
            Build::Go(go) => build_go(toolchain, go, job, needs),
            Build::C(c) => build_c(toolchain, c, job, needs),
        }
    }
}

fn build_go(toolchain: &Toolchain, go: &Go, job: &Job, needs: &Needs) -> Result<Files, Refusal> {
    let component = job.component;
    if go.cgo {
        needs.ensure(&needs::cgo(go.libraries), job).map_err(Refusal::Unavailable)?;
    }
    job.emit(State::Fetching(SourceKind::GoModules));
    let mut published = Vec::new();
    let mut known_sums = String::new();
    for module in go.modules {
        let module =
            toolchain.module(&format!("{module}@v{}", component.version), job).map_err(Refusal::Unavailable)?;
        published.push(read_go_mod(toolchain, &module, job)?);
        // The sums its makers built with; what is missing in them is asked of the checksum database.
        let sums = module.dir.join("go.sum");
        known_sums += &fs::read_to_string(&sums).map_err(failed("read", &sums))?;
    }
    let (scratch, temp) = (job.work().join("module"), job.work().join("temp"));
    for dir in [&scratch, &temp] {
        fs::create_dir(dir).map_err(failed("create directory", dir))?;
    }
    write(&scratch.join("go.mod"), &go_mod(component, go, &published))?;
    write(&scratch.join("go.sum"), &known_sums)?;

    job.emit(State::Compiling);
    let flags = go_flags(component, go, job.arch);
    let mut files = Files::new();
    for program in component.programs {
        let path = job.work().join(program.name);
        let mut run =
            toolchain.run(&["build"]).args(&flags).args(["-o".as_ref(), path.as_os_str()]).args([program.package]);
        for (name, value) in go_environment(go, job.arch) {
            run = run.env(name, value);
        }
        run.env("GOTMPDIR", &temp).dir(&scratch).output(job.work(), job.stop)?;
        files.push((program.name.to_owned(), path));
    }
    Ok(files)
}

fn read_go_mod(toolchain: &Toolchain, module: &Module, job: &Job) -> Result<GoMod, BundleError> {
    let path = module.go_mod.to_string_lossy();
    let output = toolchain.run(&["mod", "edit", "-json", &path]).output(job.work(), job.stop)?;
    serde_json::from_slice(&output.stdout).map_err(|error| failed("read", &module.go_mod)(error.into()))
}

fn build_c(toolchain: &Toolchain, c: &C, job: &Job, needs: &Needs) -> Result<Files, Refusal> {
    job.emit(State::Fetching(SourceKind::GoModules));
    let module = toolchain.module(&format!("{}@v{}", c.module, c.version), job).map_err(Refusal::Unavailable)?;
    // From a copy: the compiler may write the file's path into its output.
    let (published, source) = (module.dir.join(c.file), job.work().join("source.c"));
    fs::copy(&published, &source).map_err(failed("read", &published))?;
    let mut files = Files::new();
    for program in job.component.programs {
        let path = job.work().join(program.name);
        compile_c(job, needs, &source, &path)?;
        files.push((program.name.to_owned(), path));
    }
    Ok(files)
}

/// Makes a static program of one C file.
pub(super) fn compile_c(job: &Job, needs: &Needs, source: &Path, to: &Path) -> Result<(), Refusal> {
    needs.ensure(needs::C, job).map_err(Refusal::Unavailable)?;
    job.emit(State::Compiling);
    let gcc = Run::new("gcc").args(c_flags(job.component)).args(["-o".as_ref(), to.as_os_str(), source.as_os_str()]);
    gcc.dir(job.work()).output(job.work(), job.stop)?;
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), BundleError> {
    fs::write(path, text).map_err(failed("write", path))
}
