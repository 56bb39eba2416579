//! Where components come from. Three sources, tried in this order unless some are switched off:
//!
//! 1. [`given`]: a directory or archive of the user;
//! 2. [`release`]: the publisher's download, with the publisher's checksum;
//! 3. [`modules`]: built here from Go modules, where only language registries can be reached.
//!
//! A source that *cannot provide* a component says why, and the next one is asked. A source that provides something
//! *wrong* (a sum that differs, another version, code that does not compile) ends the build: going on would hide it.
//! To add a source: a file here, a line in [`crate::SourceKind`] and one in `build.rs`.

pub(crate) mod given;
pub(crate) mod modules;
pub(crate) mod needs;
mod probe;
mod published;
pub(crate) mod release;
mod scratch;
mod toolchain;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

pub(crate) use probe::ensure_version;

use crate::{
    BundleError, Component, Progress, Recipe, SourceKind, State, Stop, Update,
    cache::Claim,
    component::{Arch, Build},
};

/// Which sources may be used.
#[derive(Debug, Clone)]
pub struct Sources {
    /// A bundle, a packed bundle, or a directory or archive of programs.
    pub given: Option<PathBuf>,
    /// The publishers' downloads.
    pub release: Option<Mirror>,
    /// Building from Go modules.
    pub go_modules: bool,
}

/// Where the publishers' downloads are fetched from.
#[derive(Debug, Clone, Default)]
pub struct Mirror {
    /// An address under which the downloads lie by host and path, such as `https://mirror.example/dl.k8s.io/release/…`;
    /// `None` for the publishers themselves.
    pub address: Option<String>,
}

impl Default for Sources {
    /// All that need no input of the user.
    fn default() -> Self {
        Self { given: None, release: Some(Mirror::default()), go_modules: true }
    }
}

/// Why a source has no files.
pub(crate) enum Refusal {
    /// It does not have the component, or cannot be used here and now; another source may.
    Unavailable(BundleError),
    /// Something is wrong, and asking another source would hide it.
    Broken(BundleError),
}

impl From<BundleError> for Refusal {
    fn from(error: BundleError) -> Self {
        Self::Broken(error)
    }
}

/// The programs of a component, by name; each a file in the work directory.
pub(crate) type Files = Vec<(String, PathBuf)>;

/// One component, on its way through a source.
pub(crate) struct Job<'a> {
    pub(crate) component: &'static Component,
    pub(crate) arch: Arch,
    pub(crate) claim: &'a Claim<'a>,
    pub(crate) stop: &'a Stop,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) started: Instant,
}

impl Job<'_> {
    /// Sends the listener what happens.
    pub(crate) fn emit(&self, state: State) {
        let elapsed = self.started.elapsed();
        self.progress.update(&Update { component: self.component.name, state, elapsed });
    }

    /// A directory for whatever is needed on the way.
    pub(crate) fn work(&self) -> &Path {
        self.claim.work()
    }

    /// Why it goes on to another source.
    pub(crate) fn passed_over(&self, source: SourceKind, why: &BundleError) {
        self.emit(State::PassedOver(source, explain::chain(why)));
    }
}

/// The recipes of a component for the sources that have one, in the order in which they are tried.
pub(crate) fn recipes(sources: &Sources, component: &Component, arch: Arch) -> Vec<Recipe> {
    let release = sources.release.as_ref().and_then(|_| Recipe::release(component, arch));
    let modules = sources.go_modules.then(|| Recipe::go_modules(component, arch));
    release.into_iter().chain(modules).collect()
}

/// True where a component has to be compiled whatever its source.
pub(crate) fn is_c(component: &Component) -> bool {
    matches!(component.build, Build::C(_))
}
